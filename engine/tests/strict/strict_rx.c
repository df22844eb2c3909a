/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving as NICs do: buffers are posted beforehand, frames arrive whether somebody reads or not and are counted then,
 * and are handed over in multiples of what vector code works on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_thash.h>

#include "tests/strict/strict.h"

#define LINK_DOWN_MS 20u
#define ARRIVALS_MAX 256u /* in one go */
#define POST_BATCH 32u    /* rx_free_thresh of Intel's drivers */

int
strict_rx_fill(struct strict_rx *rx)
{
	while (rx->posted_count + (rx->arrived - rx->read) < rx->descriptors) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(rx->pool);

		if (mbuf == NULL)
			return -ENOMEM;
		if (__atomic_load_n(strict_held(mbuf), __ATOMIC_RELAXED) != 0)
			strict_breach(rx->device, STRICT_held_already, 1);
		rx->posted[rx->posted_count++] = mbuf;
	}
	return 0;
}

void
strict_rx_release(struct strict_rx *rx)
{
	for (uint32_t i = 0; i < rx->posted_count; i++)
		rte_pktmbuf_free(rx->posted[i]);
	rx->device->unread += rx->arrived - rx->read;
	for (; rx->read < rx->arrived; rx->read++)
		rte_pktmbuf_free(rx->done[rx->read % rx->descriptors]);
	rx->posted_count = 0;
}

static uint32_t
hash_of(const struct strict_device *device, const uint8_t *octets, uint32_t length)
{
	const struct rte_ipv4_hdr *ip = (const void *)(octets + RTE_ETHER_HDR_LEN);
	uint32_t words[3], n = 2;

	if (length < RTE_ETHER_HDR_LEN + sizeof(*ip) + 4 || octets[12] != 0x08 || octets[13] != 0)
		return 0;
	words[0] = rte_be_to_cpu_32(ip->src_addr);
	words[1] = rte_be_to_cpu_32(ip->dst_addr);
	if ((ip->next_proto_id == IPPROTO_UDP &&
	     (device->rss_hf & RTE_ETH_RSS_NONFRAG_IPV4_UDP) != 0) ||
	    (ip->next_proto_id == IPPROTO_TCP &&
	     (device->rss_hf & RTE_ETH_RSS_NONFRAG_IPV4_TCP) != 0)) {
		memcpy(&words[2], octets + RTE_ETHER_HDR_LEN + (ip->version_ihl & 15) * 4, 4);
		words[2] = rte_be_to_cpu_32(words[2]);
		n = 3;
	}
	return rte_softrss(words, n, device->key);
}

static struct strict_rx *
queue_for(struct strict_device *device, const uint8_t *octets, uint32_t length, uint32_t *hash)
{
	*hash = 0;
	if (device->rss_hf == 0)
		return &device->rx[0];
	*hash = hash_of(device, octets, length);
	return &device->rx[device->reta[*hash % STRICT_RETA] % device->rx_queues];
}

/* Octets that a posted buffer takes, as ixgbe and i40e round them. */
static uint32_t
room_of(const struct strict_device *device, const struct rte_mbuf *mbuf)
{
	uint32_t room = mbuf->buf_len - RTE_PKTMBUF_HEADROOM;

	return room / device->profile->rx_room * device->profile->rx_room;
}

/* As many buffers as the frame needs, the first of them with what describes the frame; NULL: too few are posted. */
static struct rte_mbuf *
store(struct strict_rx *rx, const uint8_t *octets, uint32_t length)
{
	struct rte_mbuf *head = NULL, **link = &head;
	uint32_t room, left = length;

	if (rx->posted_count == 0)
		return NULL;
	room = room_of(rx->device, rx->posted[rx->posted_count - 1]);
	if ((length + room - 1) / room > rx->posted_count)
		return NULL;
	while (left > 0) {
		struct rte_mbuf *mbuf = rx->posted[--rx->posted_count];

		mbuf->data_len = (uint16_t)RTE_MIN(left, room);
		memcpy(rte_pktmbuf_mtod(mbuf, void *), octets + length - left, mbuf->data_len);
		left -= mbuf->data_len;
		*link = mbuf;
		link = &mbuf->next;
	}
	head->pkt_len = length;
	head->nb_segs = (uint16_t)((length + room - 1) / room);
	return head;
}

/* A queue of 10 ms, which passes this many frames per second. */
static bool
is_over_capacity(struct strict_device *device)
{
	uint64_t now = rte_rdtsc(), hz = rte_get_tsc_hz(), queue = hz / 100;

	if (device->capacity_fps == 0)
		return false;
	device->busy_until = RTE_MAX(device->busy_until, now - queue);
	if (device->busy_until > now)
		return true;
	device->busy_until += hz / device->capacity_fps;
	return false;
}

static bool
arrive(struct strict_device *device, const uint8_t *octets, uint32_t length)
{
	struct rte_mbuf *mbuf;
	struct strict_rx *rx;
	uint32_t hash;

	if (is_over_capacity(device))
		return true;
	rx = queue_for(device, octets, length, &hash);
	mbuf = store(rx, octets, length);
	if (mbuf == NULL) {
		if (rte_mempool_empty(rx->pool))
			device->stats.rx_nombuf++;
		device->stats.imissed += device->lossy;
		return device->lossy;
	}
	mbuf->port = device->port_id;
	if (device->rss_hf != 0) {
		mbuf->hash.rss = hash;
		mbuf->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	}
	if ((device->rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0) {
		*RTE_MBUF_DYNFIELD(mbuf, device->time_field, uint64_t *) =
			strict_clock_stamp(device);
		mbuf->ol_flags |= device->time_flag;
	}
	rx->done[rx->arrived++ % rx->descriptors] = mbuf;
	device->stats.ipackets++;
	device->stats.ibytes += length;
	return true;
}

/* One frame of a Tx queue at the wire's other end. */
static bool
carry(struct strict_device *device, struct strict_tx *tx)
{
	static __thread uint8_t copy[UINT16_MAX];
	const struct rte_mbuf *mbuf = strict_tx_oldest(tx);
	const uint8_t *octets;

	if (mbuf == NULL)
		return false;
	octets = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, copy);
	if (octets == NULL || !arrive(device, octets, mbuf->pkt_len))
		return false;
	strict_tx_next(tx);
	return true;
}

static bool
link_is_down(struct strict_device *device)
{
	if (device->link_down_at != 0 && device->stats.ipackets >= device->link_down_at) {
		device->link_down_at = 0;
		device->link_up_tsc = rte_rdtsc() + rte_get_tsc_hz() / 1000 * LINK_DOWN_MS;
	}
	return device->link_up_tsc != 0 && rte_rdtsc() < device->link_up_tsc;
}

/* The source waits for the workers: what the control thread reads is thrown away. */
static void
pull_source(struct strict_device *device)
{
	if (rte_lcore_id() == rte_get_main_lcore())
		return;
	for (uint32_t i = 0; i < ARRIVALS_MAX && device->source.made < device->source.frames; i++) {
		struct strict_frame frame = strict_source_make(device);

		if (!arrive(device, frame.octets, frame.length))
			return;
		device->source.made++;
	}
}

/* Whatever waits at the other end, a while of it. */
static void
pull(struct strict_device *device)
{
	struct strict_device *peer = device->peer;

	if (link_is_down(device))
		return;
	pull_source(device);
	if (peer == NULL || peer->sink || !peer->started)
		return;
	for (uint16_t q = 0; q < peer->tx_queues; q++) {
		struct strict_tx *tx = &peer->tx[q];

		rte_spinlock_lock(&tx->lock);
		for (uint32_t i = 0; i < ARRIVALS_MAX && carry(device, tx); i++)
			;
		rte_spinlock_unlock(&tx->lock);
	}
}

uint16_t
strict_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct strict_rx *rx = queue;
	struct strict_device *device = rx->device;
	bool vector = (device->rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) == 0;
	uint16_t n;

	if (vector)
		count = (uint16_t)(count / device->profile->rx_burst * device->profile->rx_burst);
	rte_spinlock_lock(&device->arrivals);
	pull(device);
	n = (uint16_t)RTE_MIN(rx->arrived - rx->read, count);
	for (uint16_t i = 0; i < n; i++)
		mbufs[i] = rx->done[rx->read++ % rx->descriptors];
	if (rx->descriptors - rx->posted_count - (rx->arrived - rx->read) >=
	    RTE_MIN(POST_BATCH, rx->descriptors / 2))
		strict_rx_fill(rx);
	rte_spinlock_unlock(&device->arrivals);
	return n;
}
