/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending as NICs do: a frame that was handed over stays with the device until descriptors run short, and is freed in
 * batches. Its sum is taken when it comes, and compared when it leaves and when it is freed.
 */
#include <string.h>

#include "tests/strict/strict.h"

/* An mbuf is read as the driver would: where its octets are, how many, which pool it goes back to. */
static uint64_t
mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15;
	return sum ^ sum >> 29;
}

static uint64_t
sum_of_segment(uint64_t sum, const struct rte_mbuf *mbuf)
{
	const uint8_t *octets = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint32_t left = mbuf->data_len;
	uint64_t word = 0;

	sum = mix(sum, (uintptr_t)octets ^ (uint64_t)mbuf->data_len << 48);
	sum = mix(sum, (uintptr_t)mbuf->pool);
	for (; left >= sizeof(word); left -= sizeof(word), octets += sizeof(word)) {
		memcpy(&word, octets, sizeof(word));
		sum = mix(sum, word);
	}
	word = 0;
	memcpy(&word, octets, left);
	return mix(sum, word);
}

static uint64_t
sum_of(const struct rte_mbuf *mbuf)
{
	uint64_t sum = mix(mbuf->ol_flags, (uint64_t)mbuf->nb_segs << 32 | mbuf->pkt_len);

	for (; mbuf != NULL; mbuf = mbuf->next)
		sum = sum_of_segment(sum, mbuf);
	return sum;
}

static void
check_lengths(struct strict_device *device, const struct rte_mbuf *mbuf)
{
	uint32_t octets = 0, segments = 0;
	uint16_t mtu = 0;

	if (mbuf->nb_segs > 1 && (device->tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0)
		strict_breach(device, STRICT_segments, 1);
	for (const struct rte_mbuf *at = mbuf; at != NULL; at = at->next, segments++)
		octets += at->data_len;
	rte_eth_dev_get_mtu(device->port_id, &mtu);
	if (octets != mbuf->pkt_len || segments != mbuf->nb_segs || octets == 0 ||
	    ((mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0 &&
	     octets > (uint32_t)mtu + RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN))
		strict_breach(device, STRICT_lengths, 1);
}

static void
check_offloads(struct strict_device *device, const struct rte_mbuf *mbuf)
{
	uint64_t flags = mbuf->ol_flags, on = device->tx_offloads,
		 l4 = flags & RTE_MBUF_F_TX_L4_MASK;

	if (((flags & RTE_MBUF_F_TX_TCP_SEG) != 0 && (on & RTE_ETH_TX_OFFLOAD_TCP_TSO) == 0) ||
	    ((flags & RTE_MBUF_F_TX_IP_CKSUM) != 0 && (on & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) == 0) ||
	    (l4 == RTE_MBUF_F_TX_TCP_CKSUM && (on & RTE_ETH_TX_OFFLOAD_TCP_CKSUM) == 0) ||
	    (l4 == RTE_MBUF_F_TX_UDP_CKSUM && (on & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) == 0))
		strict_breach(device, STRICT_offloads, 1);
}

/* i40e_tx_free_bufs() and mlx5_tx_free_mbuf() give a batch to the pool of its first one. */
static void
check_fast_free(struct strict_tx *tx, const struct rte_mbuf *mbuf)
{
	const struct strict_slot *first = &tx->slots[tx->freed & tx->mask];

	if (rte_mbuf_refcnt_read(mbuf) != 1)
		strict_breach(tx->device, STRICT_shared, 1);
	if (tx->filled > tx->freed && first->mbuf != NULL && first->pool != mbuf->pool &&
	    !(strict_pool_is_owned(first->pool) && strict_pool_is_owned(mbuf->pool)))
		strict_breach(tx->device, STRICT_foreign_pool, 1);
}

static void
take(struct strict_tx *tx, struct rte_mbuf *mbuf)
{
	struct strict_device *device = tx->device;

	if (!strict_pool_is_owned(mbuf->pool) &&
	    __atomic_fetch_add(strict_held(mbuf), 1, __ATOMIC_RELAXED) != 0)
		strict_breach(device, STRICT_held_already, 1);
	if (mbuf->nb_segs != 1 || mbuf->next != NULL || mbuf->data_len != mbuf->pkt_len ||
	    mbuf->pkt_len > RTE_ETHER_MTU + RTE_ETHER_HDR_LEN || mbuf->pkt_len == 0)
		check_lengths(device, mbuf);
	if (mbuf->ol_flags != 0)
		check_offloads(device, mbuf);
	if ((device->tx_offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0)
		check_fast_free(tx, mbuf);
	tx->slots[tx->filled++ & tx->mask] = (struct strict_slot){mbuf, mbuf->pool, sum_of(mbuf)};
}

static void
compare(struct strict_tx *tx, const struct strict_slot *slot)
{
	if (sum_of(slot->mbuf) != slot->sum)
		strict_breach(tx->device, STRICT_edited_while_held, 1);
}

/* To the pool that the frame names, whatever FAST_FREE does: a breach is counted, and the run goes on. */
static void
free_oldest(struct strict_tx *tx)
{
	struct strict_slot *slot = &tx->slots[tx->freed++ & tx->mask];

	if (slot->mbuf == NULL)
		return;
	compare(tx, slot);
	if (!strict_pool_is_owned(slot->pool))
		__atomic_fetch_sub(strict_held(slot->mbuf), 1, __ATOMIC_RELAXED);
	rte_pktmbuf_free(slot->mbuf);
	slot->mbuf = NULL;
}

/* Whole batches only, of frames that have left, and only when descriptors run short. */
static void
free_some(struct strict_tx *tx, uint16_t wanted)
{
	uint64_t batch = tx->device->profile->batch;

	while (tx->capacity - (tx->filled - tx->freed) < RTE_MAX(batch, wanted)) {
		if (tx->delivered - tx->freed < batch)
			return;
		for (uint64_t i = 0; i < batch; i++)
			free_oldest(tx);
	}
}

struct rte_mbuf *
strict_tx_oldest(const struct strict_tx *tx)
{
	while (tx->delivered < tx->filled) {
		struct rte_mbuf *mbuf = tx->slots[tx->delivered & tx->mask].mbuf;

		if (mbuf != NULL)
			return mbuf;
		((struct strict_tx *)(uintptr_t)tx)->delivered++;
	}
	return NULL;
}

void
strict_tx_next(struct strict_tx *tx)
{
	const struct strict_slot *slot = &tx->slots[tx->delivered++ & tx->mask];

	compare(tx, slot);
	__atomic_fetch_add(&tx->device->stats.opackets, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tx->device->stats.obytes, slot->mbuf->pkt_len, __ATOMIC_RELAXED);
}

/* A wire that nobody listens to carries frames all the same. */
static void
deliver_unheard(struct strict_tx *tx)
{
	struct strict_device *device = tx->device;
	const struct strict_device *peer = device->peer;
	struct rte_mbuf *mbuf;

	if (!device->sink && peer != NULL && peer->started && peer->rx_queues > 0)
		return;
	while ((mbuf = strict_tx_oldest(tx)) != NULL) {
		if (device->sink)
			strict_source_take(&device->source, mbuf);
		strict_tx_next(tx);
	}
}

uint16_t
strict_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct strict_tx *tx = queue;
	uint64_t room;

	rte_spinlock_lock(&tx->lock);
	free_some(tx, count);
	room = tx->capacity - (tx->filled - tx->freed);
	count = (uint16_t)RTE_MIN(room, count);
	for (uint16_t i = 0; i < count; i++)
		take(tx, mbufs[i]);
	tx->held_max = RTE_MAX(tx->held_max, tx->filled - tx->freed);
	deliver_unheard(tx);
	rte_spinlock_unlock(&tx->lock);
	return count;
}

void
strict_tx_release(struct strict_tx *tx)
{
	if (tx->slots == NULL)
		return;
	while (tx->freed < tx->filled)
		free_oldest(tx);
	tx->delivered = tx->filled;
}

void
strict_tx_pool_freed(struct strict_tx *tx, const struct rte_mempool *pool)
{
	rte_spinlock_lock(&tx->lock);
	for (uint64_t i = tx->freed; tx->slots != NULL && i < tx->filled; i++) {
		struct strict_slot *slot = &tx->slots[i & tx->mask];

		if (slot->mbuf == NULL || slot->pool != pool)
			continue;
		slot->mbuf = NULL;
		strict_breach(tx->device, STRICT_freed_pool, 1);
	}
	rte_spinlock_unlock(&tx->lock);
}
