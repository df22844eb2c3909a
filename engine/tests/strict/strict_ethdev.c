/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of ethdev that a strict device answers itself. The linker turns a call of F in the engine into one of
 * __wrap_F here, and __real_F is DPDK's (ld, --wrap): meson.build lists them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "tests/strict/strict.h"

#define DRIVER "net_strict"
#define WRAP(type, function, ...) \
	type __real_##function(__VA_ARGS__); \
	type __wrap_##function(__VA_ARGS__); \
	type __wrap_##function(__VA_ARGS__)

struct strict_device strict_devices[STRICT_DEVICES];
unsigned int strict_device_count;
int strict_held_field;

static struct strict_device *
find_port(uint16_t port_id)
{
	for (unsigned int d = 0; d < strict_device_count; d++) {
		if (strict_devices[d].probed && strict_devices[d].port_id == port_id)
			return &strict_devices[d];
	}
	return NULL;
}

static struct strict_device *
find_name(const char *name)
{
	for (unsigned int d = 0; d < strict_device_count; d++) {
		if (strcmp(strict_devices[d].name, name) == 0)
			return &strict_devices[d];
	}
	return NULL;
}

/* Both ends of a wire, once the second is there; one with a wire of its own is looped. */
static void
connect_wire(struct strict_device *device)
{
	device->peer = device->wire[0] == '\0' ? device : NULL;
	for (unsigned int d = 0; d < strict_device_count && device->wire[0] != '\0'; d++) {
		struct strict_device *other = &strict_devices[d];

		if (other == device || strcmp(other->wire, device->wire) != 0)
			continue;
		device->peer = other;
		other->peer = device;
	}
}

int __real_rte_eth_dev_get_port_by_name(const char *name, uint16_t *port_id);

WRAP(int, rte_eal_hotplug_add, const char *bus, const char *name, const char *args)
{
	static const struct rte_mbuf_dynfield held = {
		.name = "strict_held", .size = sizeof(uint32_t), .align = sizeof(uint32_t)};
	struct strict_device *device;
	char behind[64];
	int code;

	if (strncmp(name, DRIVER, strlen(DRIVER)) != 0)
		return __real_rte_eal_hotplug_add(bus, name, args);
	if (strict_device_count == STRICT_DEVICES)
		return -ENOSPC;
	device = &strict_devices[strict_device_count];
	snprintf(device->name, sizeof(device->name), "%s", name);
	code = strict_parse(device, args);
	strict_held_field = rte_mbuf_dynfield_register(&held);
	snprintf(behind, sizeof(behind), "net_null_%s", name);
	if (code == 0 && strict_held_field < 0)
		code = -rte_errno;
	if (code == 0)
		code = __real_rte_eal_hotplug_add(bus, behind, "copy=0,no-rx=1");
	if (code == 0)
		code = __real_rte_eth_dev_get_port_by_name(behind, &device->port_id);
	if (code != 0)
		return code;
	device->probed = true;
	strict_device_count++;
	connect_wire(device);
	return 0;
}

WRAP(int, rte_eth_dev_get_port_by_name, const char *name, uint16_t *port_id)
{
	const struct strict_device *device = find_name(name);

	if (device == NULL)
		return __real_rte_eth_dev_get_port_by_name(name, port_id);
	*port_id = device->port_id;
	return 0;
}

WRAP(int, rte_eth_dev_get_name_by_port, uint16_t port_id, char *name)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_dev_get_name_by_port(port_id, name);
	strcpy(name, device->name);
	return 0;
}

WRAP(int, rte_eth_dev_info_get, uint16_t port_id, struct rte_eth_dev_info *info)
{
	const struct strict_device *device = find_port(port_id);
	int code = __real_rte_eth_dev_info_get(port_id, info);
	const struct strict_profile *profile;
	struct rte_eth_desc_lim limits = {0};

	if (device == NULL || code != 0)
		return code;
	profile = device->profile;
	limits.nb_min = profile->descriptors_min;
	limits.nb_max = profile->descriptors_max;
	limits.nb_align = profile->align;
	info->driver_name = DRIVER;
	info->max_rx_queues = info->max_tx_queues = STRICT_QUEUES;
	info->rx_desc_lim = info->tx_desc_lim = limits;
	info->reta_size = STRICT_RETA;
	info->hash_key_size = STRICT_KEY;
	info->flow_type_rss_offloads =
		RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_SCATTER |
				RTE_ETH_RX_OFFLOAD_CHECKSUM;
	if (profile->clock != STRICT_NO_CLOCK)
		info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	info->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_TSO |
				RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
				RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
	if (profile->fast_free)
		info->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	info->default_txconf.tx_rs_thresh = profile->batch;
	info->default_txconf.tx_free_thresh = profile->batch;
	return 0;
}

WRAP(int, rte_eth_dev_adjust_nb_rx_tx_desc, uint16_t port_id, uint16_t *rx, uint16_t *tx)
{
	/* 1,024 suits all profiles. */
	return find_port(port_id) != NULL
		       ? 0
		       : __real_rte_eth_dev_adjust_nb_rx_tx_desc(port_id, rx, tx);
}

WRAP(int, rte_eth_dev_configure, uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
     const struct rte_eth_conf *conf)
{
	static const struct rte_eth_conf plain;
	struct strict_device *device = find_port(port_id);
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	if (device == NULL)
		return __real_rte_eth_dev_configure(port_id, rx_queues, tx_queues, conf);
	device->rx_queues = rx_queues;
	device->tx_queues = tx_queues;
	device->rx_offloads = conf->rxmode.offloads;
	device->tx_offloads = conf->txmode.offloads;
	device->rss_hf = conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS ? rss->rss_hf : 0;
	for (int i = 0; i < STRICT_KEY; i++)
		device->key[i] = rss->rss_key != NULL ? rss->rss_key[i] : (uint8_t)(i * 37 + 109);
	for (uint16_t i = 0; i < STRICT_RETA; i++)
		device->reta[i] = (uint16_t)(rx_queues > 0 ? i % rx_queues : 0);
	return __real_rte_eth_dev_configure(port_id, rx_queues, tx_queues, &plain);
}

WRAP(int, rte_eth_rx_queue_setup, uint16_t port_id, uint16_t queue, uint16_t descriptors,
     unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct strict_device *device = find_port(port_id);
	struct rte_eth_rxconf plain = {0};
	struct strict_rx *rx;

	if (device == NULL)
		return __real_rte_eth_rx_queue_setup(port_id, queue, descriptors, socket, conf,
						     pool);
	rx = &device->rx[queue];
	free(rx->posted);
	free(rx->done);
	*rx = (struct strict_rx){.device = device, .pool = pool, .descriptors = descriptors};
	rx->posted = calloc(descriptors, sizeof(rx->posted[0]));
	rx->done = calloc(descriptors, sizeof(rx->done[0]));
	if (rx->posted == NULL || rx->done == NULL)
		return -ENOMEM;
	device->rx_data[queue] = rx;
	return __real_rte_eth_rx_queue_setup(port_id, queue, descriptors, socket, &plain, pool);
}

WRAP(int, rte_eth_tx_queue_setup, uint16_t port_id, uint16_t queue, uint16_t descriptors,
     unsigned int socket, const struct rte_eth_txconf *conf)
{
	struct strict_device *device = find_port(port_id);
	struct rte_eth_txconf plain = {0};
	struct strict_tx *tx;

	if (device == NULL)
		return __real_rte_eth_tx_queue_setup(port_id, queue, descriptors, socket, conf);
	tx = &device->tx[queue];
	free(tx->slots);
	*tx = (struct strict_tx){.device = device, .asked = descriptors, .capacity = descriptors};
	if (device->profile->rounds_up)
		tx->capacity = rte_align64pow2(descriptors);
	tx->mask = rte_align64pow2(tx->capacity) - 1;
	tx->slots = calloc(tx->mask + 1, sizeof(tx->slots[0]));
	rte_spinlock_init(&tx->lock);
	device->tx_data[queue] = tx;
	return tx->slots == NULL
		       ? -ENOMEM
		       : __real_rte_eth_tx_queue_setup(port_id, queue, descriptors, socket, &plain);
}

WRAP(int, rte_eth_tx_queue_info_get, uint16_t port_id, uint16_t queue,
     struct rte_eth_txq_info *info)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_tx_queue_info_get(port_id, queue, info);
	memset(info, 0, sizeof(*info));
	info->nb_desc = device->profile->reports_rounded ? (uint16_t)device->tx[queue].capacity
							 : device->tx[queue].asked;
	return 0;
}

static uint16_t
prepare(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	(void)queue;
	(void)mbufs;
	return count;
}

WRAP(int, rte_eth_dev_start, uint16_t port_id)
{
	struct strict_device *device = find_port(port_id);
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[port_id];
	int code = __real_rte_eth_dev_start(port_id);

	if (device == NULL || code != 0)
		return code;
	rte_spinlock_init(&device->arrivals);
	if ((device->rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
	    rte_mbuf_dyn_rx_timestamp_register(&device->time_field, &device->time_flag) != 0)
		return -rte_errno;
	for (uint16_t q = 0; q < device->rx_queues; q++) {
		if (strict_rx_fill(&device->rx[q]) != 0)
			return -ENOMEM;
	}
	ops->rx_pkt_burst = strict_rx_burst;
	ops->tx_pkt_burst = strict_tx_burst;
	ops->tx_pkt_prepare = prepare;
	ops->rxq.data = device->rx_data;
	ops->txq.data = device->tx_data;
	device->started = true;
	return 0;
}

WRAP(int, rte_eth_dev_stop, uint16_t port_id)
{
	struct strict_device *device = find_port(port_id);

	if (device != NULL && device->started) {
		device->started = false;
		for (uint16_t q = 0; q < device->tx_queues; q++)
			strict_tx_release(&device->tx[q]);
		for (uint16_t q = 0; q < device->rx_queues; q++)
			strict_rx_release(&device->rx[q]);
	}
	return __real_rte_eth_dev_stop(port_id);
}

WRAP(int, rte_eth_link_get_nowait, uint16_t port_id, struct rte_eth_link *link)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_link_get_nowait(port_id, link);
	memset(link, 0, sizeof(*link));
	link->link_speed = RTE_ETH_SPEED_NUM_100G;
	link->link_duplex = RTE_ETH_LINK_FULL_DUPLEX;
	link->link_status = device->started && rte_rdtsc() >= device->link_up_tsc;
	return 0;
}

WRAP(int, rte_eth_stats_get, uint16_t port_id, struct rte_eth_stats *stats)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_stats_get(port_id, stats);
	*stats = device->stats;
	return 0;
}

WRAP(int, rte_eth_read_clock, uint16_t port_id, uint64_t *clock)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL || device->profile->clock == STRICT_NO_CLOCK)
		return __real_rte_eth_read_clock(port_id, clock);
	*clock = strict_clock_read(device);
	return 0;
}

WRAP(int, rte_eth_dev_rss_reta_update, uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups,
     uint16_t size)
{
	struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_dev_rss_reta_update(port_id, groups, size);
	for (uint16_t i = 0; i < RTE_MIN(size, STRICT_RETA); i++) {
		const struct rte_eth_rss_reta_entry64 *group = &groups[i / RTE_ETH_RETA_GROUP_SIZE];

		if ((group->mask >> i % RTE_ETH_RETA_GROUP_SIZE & 1) != 0)
			device->reta[i] = group->reta[i % RTE_ETH_RETA_GROUP_SIZE];
	}
	return 0;
}

WRAP(int, rte_eth_dev_rss_reta_query, uint16_t port_id, struct rte_eth_rss_reta_entry64 *groups,
     uint16_t size)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_dev_rss_reta_query(port_id, groups, size);
	for (uint16_t i = 0; i < RTE_MIN(size, STRICT_RETA); i++)
		groups[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] =
			device->reta[i];
	return 0;
}

WRAP(int, rte_eth_dev_rss_hash_conf_get, uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	const struct strict_device *device = find_port(port_id);

	if (device == NULL)
		return __real_rte_eth_dev_rss_hash_conf_get(port_id, conf);
	conf->rss_hf = device->rss_hf;
	if (conf->rss_key != NULL)
		memcpy(conf->rss_key, device->key, RTE_MIN(conf->rss_key_len, STRICT_KEY));
	return 0;
}

/* A pool that goes while a device has frames of it; an Rx pool that goes without all of its mbufs. */
WRAP(void, rte_mempool_free, struct rte_mempool *pool)
{
	for (unsigned int d = 0; d < strict_device_count && pool != NULL; d++) {
		struct strict_device *device = &strict_devices[d];
		bool received = false;

		for (uint16_t q = 0; q < STRICT_QUEUES; q++) {
			strict_tx_pool_freed(&device->tx[q], pool);
			received |= device->rx[q].pool == pool;
		}
		if (received && rte_mempool_avail_count(pool) < pool->size)
			strict_breach(device, STRICT_not_home,
				      pool->size - rte_mempool_avail_count(pool));
	}
	__real_rte_mempool_free(pool);
}

WRAP(int, rte_eal_cleanup, void)
{
	strict_report_all();
	return __real_rte_eal_cleanup();
}
