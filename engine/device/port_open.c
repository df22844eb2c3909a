/* SPDX-License-Identifier: BSD-3-Clause */
/* Check what is asked of a device, configure and start it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "base/units.h"
#include "device/memory_node.h"
#include "device/port.h"
#include "device/port_probe.h"
#include "device/port_rss.h"
#include "device/port_steer.h"
#include "device/tx_loop.h"
#include "device/where.h"

#define RX_POOL_CACHE 256u
#define RX_ROOM_MIN 2048u
#define RX_ROOM_STEP 1024u

static int
check_queues(const struct port *port, const struct rte_eth_dev_info *info, const char *path,
	     struct error *err)
{
	const struct port_config *config = &port->config;
	struct where where;

	if (config->rx_queues > info->max_rx_queues)
		return error_set(
			err, -EINVAL, key(&where, path, "rx_queues"),
			"%u Rx queues asked, %s (%s) has %u; use fewer Rx lcores in its map",
			config->rx_queues, config->location, info->driver_name,
			info->max_rx_queues);
	if (config->tx_queues > info->max_tx_queues)
		return error_set(
			err, -EINVAL, key(&where, path, "tx_queues"),
			"%u Tx queues asked, %s (%s) has %u; use fewer Tx lcores in its map",
			config->tx_queues, config->location, info->driver_name,
			info->max_tx_queues);
	return 0;
}

static int
check_descriptors(uint32_t asked, const struct rte_eth_desc_lim *limits, const char *name,
		  const struct port *port, const char *path, struct error *err)
{
	uint32_t align = limits->nb_align > 0 ? limits->nb_align : 1;
	uint32_t most = limits->nb_max > 0 ? limits->nb_max : UINT16_MAX;
	struct where where;

	if (port->location.kind == LOCATION_AF_XDP && !rte_is_power_of_2(RTE_MAX(asked, 1u)))
		return error_set(err, -EINVAL, key(&where, path, name),
				 "%u descriptors asked, %s takes powers of two", asked,
				 port->config.location);
	if (asked == 0 || (asked >= limits->nb_min && asked <= most && asked % align == 0))
		return 0;
	return error_set(err, -EINVAL, key(&where, path, name),
			 "%u descriptors asked, %s (%s) takes %u to %u%s", asked,
			 port->config.location, port->driver, limits->nb_min, most,
			 align > 1 ? " in multiples of its alignment" : "");
}

/* The default is fitted to the device; what the user asked for is taken as it is. */
static int
settle_descriptors(struct port *port, const struct rte_eth_dev_info *info, const char *path,
		   struct error *err)
{
	const struct port_config *config = &port->config;
	bool pci = port->location.kind == LOCATION_PCI;
	uint16_t rx = pci ? PORT_RX_DESCRIPTORS_PCI : PORT_DESCRIPTORS_DEFAULT;
	uint16_t tx = PORT_DESCRIPTORS_DEFAULT;
	int code = check_descriptors(config->rx_descriptors, &info->rx_desc_lim, "rx_descriptors",
				     port, path, err);

	if (code == 0)
		code = check_descriptors(config->tx_descriptors, &info->tx_desc_lim,
					 "tx_descriptors", port, path, err);
	if (code != 0)
		return code;
	rte_eth_dev_adjust_nb_rx_tx_desc(port->port_id, &rx, &tx);
	port->rx_descriptors = config->rx_descriptors > 0 ? (uint16_t)config->rx_descriptors : rx;
	port->tx_descriptors = config->tx_descriptors > 0 ? (uint16_t)config->tx_descriptors : tx;
	return config->tx_loop_frames > 0 ? tx_loop_settle(port, info, path, err) : 0;
}

/* An interface of the kernel belongs to somebody else; its settings stay as they are. */
static bool
is_kernels_own(const struct location *location)
{
	return location->kind == LOCATION_AF_PACKET || location->kind == LOCATION_AF_XDP;
}

/* In memory or into a file any size passes; the MTU these drivers report is ethdev's default. */
static bool
has_no_mtu(const struct location *location)
{
	return location->kind == LOCATION_RING || location->kind == LOCATION_NULL ||
	       location->kind == LOCATION_PCAP;
}

/*
 * Raise the device's MTU when a frame would not fit. Drivers disagree on refusing: some take any
 * value, some do not support the call; what counts is the MTU they report afterwards.
 */
static int
settle_mtu(const struct port *port, const char *path, struct error *err)
{
	uint32_t wanted = mtu_of_frame_size(port->config.frame_size_max);
	bool kernels_own = is_kernels_own(&port->location);
	struct where where;
	uint16_t mtu = 0;

	if (has_no_mtu(&port->location))
		return 0;
	rte_eth_dev_get_mtu(port->port_id, &mtu);
	if (wanted > mtu && !kernels_own) {
		rte_eth_dev_set_mtu(port->port_id, (uint16_t)wanted);
		rte_eth_dev_get_mtu(port->port_id, &mtu);
	}
	if (wanted <= mtu)
		return 0;
	return error_set(err, -EINVAL, key(&where, path, "frame_size_max"),
			 "frames of %u octets asked, %s (%s) takes %u at most (MTU %u)%s%s",
			 port->config.frame_size_max, port->config.location, port->driver,
			 frame_size_of_mtu(mtu), mtu,
			 kernels_own ? "; `ip link set mtu` raises it on " : "",
			 kernels_own ? port->location.interface : "");
}

/*
 * Queues of these come in pairs: AF_XDP's driver refuses a port with one direction, and a vhost or virtio-user port
 * with one carries nothing.
 */
static void
settle_queues(struct port *port)
{
	port->rx_queues = (uint16_t)port->config.rx_queues;
	port->tx_queues = (uint16_t)port->config.tx_queues;
	if (port->location.kind == LOCATION_AF_XDP || port->location.kind == LOCATION_VHOST ||
	    port->location.kind == LOCATION_VIRTIO_USER)
		port->rx_queues = port->tx_queues = RTE_MAX(port->rx_queues, port->tx_queues);
}

/*
 * A frame and two VLAN tags in one mbuf also where the device takes buffers in steps of 1,024 octets and rounds down
 * (82599 datasheet, SRRCTL.BSIZEPACKET; likewise igb and e1000e): else it hands over the rest in a second one.
 */
static uint32_t
rx_room(uint32_t frame_size_max)
{
	return RTE_MAX(RTE_ALIGN_CEIL(frame_size_max + 2 * RTE_VLAN_HLEN, RX_ROOM_STEP),
		       RX_ROOM_MIN);
}

static int
create_rx_pool(struct port *port, const char *path, struct error *err)
{
	const struct port_config *config = &port->config;
	uint32_t count = config->mbufs + port->rx_queues * port->rx_descriptors;
	uint32_t room = RTE_PKTMBUF_HEADROOM + rx_room(config->frame_size_max);
	struct where where;
	char name[32];

	if (port->rx_queues == 0)
		return 0;
	snprintf(name, sizeof(name), "wr_rx_%u", port->port_id);
	port->rx_pool =
		rte_pktmbuf_pool_create(name, count, RTE_MIN(RX_POOL_CACHE, count / 2), 0,
					(uint16_t)room, rte_eth_dev_socket_id(port->port_id));
	if (port->rx_pool != NULL)
		return 0;
	return error_set(
		err, -rte_errno, key(&where, path, "mbufs"),
		"no memory for %u mbufs (%u MiB): ask for fewer (-M) or give more hugepages", count,
		(uint32_t)((uint64_t)count * (room + sizeof(struct rte_mbuf)) >> 20));
}

static int
setup_queues(const struct port *port, const struct rte_eth_dev_info *info, uint64_t tx_offloads)
{
	struct rte_eth_txconf tx = info->default_txconf;
	struct rte_eth_rxconf rx = info->default_rxconf;
	int socket = rte_eth_dev_socket_id(port->port_id), code = 0;

	tx.offloads = tx_offloads;
	for (uint16_t q = 0; q < port->rx_queues && code == 0; q++)
		code = rte_eth_rx_queue_setup(port->port_id, q, port->rx_descriptors,
					      (unsigned int)socket, &rx, port->rx_pool);
	for (uint16_t q = 0; q < port->tx_queues && code == 0; q++)
		code = rte_eth_tx_queue_setup(port->port_id, q, port->tx_descriptors,
					      (unsigned int)socket, &tx);
	return code;
}

/* Some drivers make more descriptors than asked for, and hold as many frames. */
static void
note_tx_ring(struct port *port)
{
	struct rte_eth_txq_info info;

	for (uint16_t q = 0; q < port->tx_queues; q++) {
		if (rte_eth_tx_queue_info_get(port->port_id, q, &info) == 0)
			port->tx_ring = RTE_MAX(port->tx_ring, info.nb_desc);
	}
}

static int
configure(struct port *port, const struct rte_eth_dev_info *info, const char *path,
	  struct error *err)
{
	struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
	int code = port_rss_configure(port, info, &conf, path, err);

	if (code != 0)
		return code;
	/* Some drivers receive by slower functions then. */
	if (port->config.rx_times && port->config.rx_queues > 0 &&
	    port_clock_find(&port->clock, port->port_id, info))
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	port_offloads_choose(&port->config.offloads, port->config.one_pool, info, &conf,
			     &port->offloads);
	/* Where it decides over no driver's function for sending; what is free of looking must not be chained. */
	if (port->location.kind != LOCATION_PCI && !port->offloads.fast_free)
		conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	settle_queues(port);
	port->conf = conf;
	code = rte_eth_dev_configure(port->port_id, port->rx_queues, port->tx_queues, &conf);
	if (code == 0)
		code = settle_mtu(port, path, err);
	if (code == -EINVAL && err->code != 0)
		return code;
	if (code == 0)
		code = create_rx_pool(port, path, err);
	if (code != 0 && err->code != 0)
		return code;
	if (code == 0)
		code = setup_queues(port, info, conf.txmode.offloads);
	if (code == 0)
		code = rte_eth_dev_start(port->port_id);
	if (code != 0)
		return error_set(
			err, code, path,
			"%s (%s) could not be configured: %s; its reason is in the engine's log",
			port->config.location, port->driver, strerror(-code));
	port->started = true;
	note_tx_ring(port);
	return 0;
}

/*
 * net_virtio makes its queues anew only when the features change that are asked of the device. RSS is one that every
 * DPDK knows to ask for; whether the device has it does not matter, for the second call undoes the first.
 */
static int
configure_anew(struct port *port, const struct rte_eth_dev_info *info, struct error *err)
{
	struct rte_eth_conf other = port->conf;
	int code;

	other.rxmode.mq_mode ^= RTE_ETH_MQ_RX_RSS;
	other.rx_adv_conf.rss_conf.rss_hf = 0;
	rte_eth_dev_configure(port->port_id, port->rx_queues, port->tx_queues, &other);
	code = rte_eth_dev_configure(port->port_id, port->rx_queues, port->tx_queues, &port->conf);
	if (code == 0)
		code = settle_mtu(port, "", err);
	if (code == 0)
		code = setup_queues(port, info, port->conf.txmode.offloads);
	return code;
}

int
port_restart(struct port *port, bool anew, struct error *err)
{
	struct rte_eth_dev_info info;
	int code = rte_eth_dev_stop(port->port_id);

	port->started = code != 0;
	if (code == 0)
		code = rte_eth_dev_info_get(port->port_id, &info);
	if (code == 0 && anew)
		code = configure_anew(port, &info, err);
	if (code == 0)
		code = rte_eth_dev_start(port->port_id);
	port->started = port->started || code == 0;
	if (code == 0) /* drivers forget the table */
		code = port_rss_start(port, &info, port->config.name, err);
	if (code == 0)
		port_flow_ctrl_off(&port->flow_ctrl, port->port_id);
	if (code == 0 || err->code != 0)
		return code;
	return error_set(err, code, NULL,
			 "port %s could not be started again: %s; its reason is in the engine's "
			 "log, and the port is of no use until the engine is started anew",
			 port->config.name, strerror(-code));
}

/* IFF_PROMISC of <net/if.h>, as sysfs shows it. */
static bool
interface_is_promiscuous(const char *interface)
{
	unsigned int flags = 0;
	char sysfs[128];
	FILE *file;

	snprintf(sysfs, sizeof(sysfs), "/sys/class/net/%s/flags", interface);
	file = fopen(sysfs, "re");
	if (file != NULL) {
		if (fscanf(file, "%x", &flags) != 1)
			flags = 0;
		fclose(file);
	}
	return (flags & 0x100) != 0;
}

/*
 * A device without the call is one where the question does not arise, and a port that only sends does not ask it. An
 * interface of the kernel gets back what it had when the port is closed, and is never switched off.
 */
static int
set_promiscuous(struct port *port, const char *path, struct error *err)
{
	bool on = port->config.promiscuous, kernels_own = is_kernels_own(&port->location);
	struct where where;
	int code;

	if (port->config.rx_queues == 0 ||
	    (kernels_own && (!on || interface_is_promiscuous(port->location.interface))))
		return 0;
	code = on ? rte_eth_promiscuous_enable(port->port_id)
		  : rte_eth_promiscuous_disable(port->port_id);
	port->restore_promiscuous = kernels_own && code == 0;
	if (code == 0 || code == -ENOTSUP)
		return 0;
	return error_set(err, code, key(&where, path, "promiscuous"),
			 "%s (%s): promiscuous mode %s refused: %s", port->config.location,
			 port->driver, on ? "on" : "off", strerror(-code));
}

static int
check_and_start(struct port *port, const char *path, struct error *err)
{
	struct rte_eth_dev_info info;
	int code = rte_eth_dev_info_get(port->port_id, &info);

	if (code != 0)
		return error_set(err, code, path, "%s: no device information: %s",
				 port->config.location, strerror(-code));
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	port->max_rx_queues = info.max_rx_queues;
	port->max_tx_queues = info.max_tx_queues;
	code = check_queues(port, &info, path, err);
	if (code == 0)
		code = settle_descriptors(port, &info, path, err);
	if (code == 0)
		code = configure(port, &info, path, err);
	if (code == 0)
		code = port_rss_start(port, &info, path, err);
	if (code == 0)
		code = set_promiscuous(port, path, err);
	return code;
}

/* What only a started device has: the sockets where the kernel drops, if it has any that are read, a clock, flow control. */
static int
watch_device(struct port *port, uint64_t hz, const char *path, struct error *err)
{
	bool receives = port->config.rx_queues > 0;
	int code = socket_drops_after(&port->drops, receives ? port->driver : "");

	if (code != 0)
		return error_set(err, code, path, "%s: its sockets cannot be listed: %s",
				 port->config.location, strerror(-code));
	port_clock_start(&port->clock, port->port_id, hz);
	port_flow_ctrl_off(&port->flow_ctrl, port->port_id);
	port_flow_ctrl_find_counters(&port->flow_ctrl, port->port_id);
	return 0;
}

void
port_close(struct port *port)
{
	if (!port->opened)
		return;
	port_steer_end(port);
	if (port->restore_promiscuous)
		rte_eth_promiscuous_disable(port->port_id);
	port_flow_ctrl_restore(&port->flow_ctrl, port->port_id);
	if (port->started)
		rte_eth_dev_stop(port->port_id);
	socket_drops_close(&port->drops);
	rte_eth_dev_close(port->port_id);
	port->opened = port->started = false;
}

void
port_free(struct port *port)
{
	port_unmake(port);
	rte_mempool_free(port->rx_pool);
	port->rx_pool = NULL;
}

int
port_open(struct port *port, const struct port_config *config, unsigned int index, uint64_t hz,
	  const char *path, struct error *err)
{
	uint16_t queues = (uint16_t)RTE_MAX(RTE_MAX(config->rx_queues, config->tx_queues), 1u);
	struct where where;
	int code;

	memset(port, 0, sizeof(*port));
	port->config = *config;
	code = location_parse(&port->location, config->location, index, queues, err);
	if (code != 0)
		return error_set(err, code, key(&where, path, "location"), "%s", err->text);
	code = socket_drops_before(&port->drops);
	if (code != 0)
		return error_set(err, code, path, "%s: /proc/self/fd cannot be read: %s",
				 config->location, strerror(-code));
	code = port_probe(port, path, err);
	port->opened = code == 0;
	if (code == 0) {
		memory_node_prefer(port_socket(port));
		code = check_and_start(port, path, err);
		memory_node_prefer(-1);
	}
	if (code == 0)
		code = watch_device(port, hz, path, err);
	if (code != 0) {
		socket_drops_close(&port->drops);
		port_close(port);
		port_free(port); /* no frame of it has gone anywhere */
	}
	return code;
}
