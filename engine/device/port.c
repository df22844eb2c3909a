/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of an open port: its link, its counters. */
#include "device/port.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "device/frames_held.h"
#include "device/port_settle.h"

#define DRAIN_BURST 64
#define DRAIN_LIMIT 100000u /* bursts: a peer that never stops sending must not hold us */
#define SETTLE_WAIT_US 10000u
#define MBPS 1000000ULL
#define LINK_STEP_MS 10u
#define PEER_WAIT_MS 1000u /* a peer that runs already connects within milliseconds */
/* Copper negotiates for up to 3 s (IEEE 802.3 clause 28), 100 Gbit/s trains its lanes for longer (clauses 73, 92). */
#define LINK_WAIT_MS 10000u

/* One word that sysfs has of an interface of the kernel; empty where it has none. */
static void
read_interface(const char *interface, const char *name, char word[static 24])
{
	char sysfs[128];
	FILE *file;

	word[0] = '\0';
	snprintf(sysfs, sizeof(sysfs), "/sys/class/net/%s/%s", interface, name);
	file = fopen(sysfs, "re");
	if (file == NULL)
		return;
	if (fscanf(file, "%23s", word) != 1)
		word[0] = '\0';
	fclose(file);
}

/* What drivers of the kernel's interfaces report does not follow the interface; sysfs does. */
static bool
interface_is_up(const char *interface)
{
	char state[24];

	read_interface(interface, "operstate", state);
	return strcmp(state, "up") == 0 || strcmp(state, "unknown") == 0;
}

static int
get_link(const struct port *port, struct rte_eth_link *link)
{
	enum location_kind kind = port->location.kind;
	int code = rte_eth_link_get_nowait(port->port_id, link);

	if (code == 0 && (kind == LOCATION_AF_PACKET || kind == LOCATION_AF_XDP))
		link->link_status = interface_is_up(port->location.interface) ? RTE_ETH_LINK_UP
									      : RTE_ETH_LINK_DOWN;
	return code;
}

static unsigned int
link_wait_ms(const struct port *port)
{
	if (location_has_line(&port->location))
		return LINK_WAIT_MS;
	return port_awaits_peer(port) ? PEER_WAIT_MS : 0;
}

void
ports_link_wait(struct port *ports, uint32_t count)
{
	for (unsigned int waited = 0;; waited += LINK_STEP_MS) {
		bool wait = false;

		for (uint32_t p = 0; p < count; p++) {
			struct port *port = &ports[p];
			bool up = get_link(port, &port->link) == 0 &&
				  port->link.link_status == RTE_ETH_LINK_UP;

			wait |= !up && waited < link_wait_ms(port);
		}
		if (!wait)
			return;
		usleep(LINK_STEP_MS * 1000);
	}
}

/* Empty the Rx queues, at most this many bursts of each; returns the number of frames. */
static uint32_t
drain(const struct port *port, uint32_t bursts, bool *emptied)
{
	struct rte_mbuf *mbufs[DRAIN_BURST];
	uint32_t frames = 0;

	*emptied = true;
	if (port->location.kind == LOCATION_PCAP)
		return 0;
	for (uint16_t q = 0; q < port->rx_queues; q++) {
		uint16_t n = 0;

		for (uint32_t i = 0; i < bursts; i++) {
			n = rte_eth_rx_burst(port->port_id, q, mbufs, DRAIN_BURST);
			if (n == 0)
				break;
			rte_pktmbuf_free_bulk(mbufs, n);
			frames += n;
		}
		*emptied &= n == 0;
	}
	return frames;
}

void
port_drain(const struct port *port)
{
	bool emptied;

	drain(port, DRAIN_LIMIT, &emptied);
}

/* How often the kernel has seen the link of its interface change; 0 where the port has none. */
static uint64_t
carrier_changes(const struct port *port)
{
	enum location_kind kind = port->location.kind;
	char changes[24];

	if (kind != LOCATION_AF_PACKET && kind != LOCATION_AF_XDP)
		return 0;
	read_interface(port->location.interface, "carrier_changes", changes);
	return strtoull(changes, NULL, 10);
}

static void
sample_link(struct port *port, struct port_counters *counters)
{
	struct rte_eth_link link;
	uint64_t carrier, changes;

	if (get_link(port, &link) != 0)
		return;
	carrier = carrier_changes(port);
	/* The kernel knows of changes between two looks, too. */
	changes = RTE_MAX(carrier - port->carrier_changes,
			  (uint64_t)(link.link_status != port->link.link_status));
	/* That a peer comes for the first time is no change; that it leaves, or comes again, is. */
	if (changes > 0 && port->link_was_up)
		counter_add(&counters->link_changes, changes);
	port->carrier_changes = carrier;
	port->link = link;
	port->link_was_up |= link.link_status == RTE_ETH_LINK_UP;
	counter_set(&counters->link_up, link.link_status == RTE_ETH_LINK_UP);
	counter_set(&counters->link_speed_bps,
		    link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed * MBPS);
}

/* What the functions of settle_device get. */
struct port_counting {
	struct port *port;
	struct port_counters *counters;
};

static uint32_t
settle_drain(void *user, bool *emptied)
{
	const struct port *port = ((struct port_counting *)user)->port;

	return drain(port, 4u * port->rx_descriptors / DRAIN_BURST + 1, emptied);
}

static void
settle_read(void *user, uint64_t *received, uint64_t *sent)
{
	struct port_counting *counting = user;

	port_sample(counting->port, counting->counters);
	*received = counting->counters->ipackets;
	*sent = counting->counters->opackets;
}

static void
settle_wait(void *user)
{
	(void)user;
	usleep(SETTLE_WAIT_US);
}

static struct settle_device
settle_device(struct port_counting *counting)
{
	return (struct settle_device){settle_drain, settle_read, settle_wait, counting,
				      (uint32_t)counting->port->rx_queues *
					      counting->port->rx_descriptors};
}

void
port_begin_counting(struct port *port)
{
	struct port_counting counting = {port, NULL};
	struct settle_device device = settle_device(&counting);

	rte_eth_stats_get(port->port_id, &port->last);
	socket_drops_read(&port->drops);
	port_flow_ctrl_pauses(&port->flow_ctrl, port->port_id);
	port_clock_sample(&port->clock);
	port->link_was_up = port->link.link_status == RTE_ETH_LINK_UP;
	port->carrier_changes = carrier_changes(port);
	port->begun_uncertain = settle_begin(&device);
}

void
port_end_counting(struct port *port, struct port_counters *counters, uint64_t received,
		  uint64_t sent)
{
	struct port_counting counting = {port, counters};
	struct settle_device device = settle_device(&counting);
	struct settled settled;

	settle_end(&device, port->begun_uncertain, received, sent, &settled);
	counter_set(&counters->drained_frames, settled.drained);
	counter_set(&counters->uncertain_frames, settled.uncertain);
}

static bool
went_backwards(const struct rte_eth_stats *now, const struct rte_eth_stats *last)
{
	return now->ipackets < last->ipackets || now->opackets < last->opackets;
}

void
port_sample(struct port *port, struct port_counters *counters)
{
	static const struct rte_eth_stats zero;
	const struct rte_eth_stats *last = &port->last;
	struct rte_eth_stats now;

	if (rte_eth_stats_get(port->port_id, &now) == 0) {
		if (went_backwards(&now, last)) {
			last = &zero;
			counter_add(&counters->resets, 1);
		}
		counter_add(&counters->ipackets, now.ipackets - last->ipackets);
		counter_add(&counters->opackets, now.opackets - last->opackets);
		counter_add(&counters->ibytes, now.ibytes - last->ibytes);
		counter_add(&counters->obytes, now.obytes - last->obytes);
		counter_add(&counters->imissed, now.imissed - last->imissed);
		counter_add(&counters->ierrors, now.ierrors - last->ierrors);
		counter_add(&counters->oerrors, now.oerrors - last->oerrors);
		counter_add(&counters->rx_nombuf, now.rx_nombuf - last->rx_nombuf);
		port->last = now;
	}
	counter_add(&counters->socket_drops, socket_drops_read(&port->drops));
	counter_add(&counters->pause_frames,
		    port_flow_ctrl_pauses(&port->flow_ctrl, port->port_id));
	port_clock_sample(&port->clock);
	sample_link(port, counters);
	counter_set(&counters->sampled_tsc, rte_rdtsc());
}

void
port_firmware(const struct port *port, char *out, size_t size)
{
	out[0] = '\0';
	if (rte_eth_dev_fw_version_get(port->port_id, out, size) != 0)
		out[0] = '\0'; /* none, or longer than size: half a version is none */
	for (char *c = out; *c != '\0'; c++)
		*c = isprint((unsigned char)*c) ? *c : '?'; /* JSON takes UTF-8 only */
}

int
port_socket(const struct port *port)
{
	return rte_eth_dev_socket_id(port->port_id);
}

uint32_t
port_refill_frames(const struct port *port)
{
	return strcmp(port->driver, "net_memif") == 0 ? port->tx_descriptors * 3u / 4 : 0;
}

uint32_t
port_frames_held_max(const struct port *port)
{
	return frames_held_max(port->driver, port->config.location,
			       RTE_MAX(port->tx_ring, port->tx_descriptors));
}

bool
port_reclaim(const struct port *port)
{
	if (port_frames_held_max(port) == 0)
		return true;
	if (port->location.kind != LOCATION_RING || port->rx_queues == 0)
		return false;
	port_drain(port); /* what is in the ring is all that the device has */
	return true;
}

bool
port_awaits_peer(const struct port *port)
{
	switch (port->location.kind) {
	case LOCATION_PCI:
	case LOCATION_MEMIF:
	case LOCATION_VHOST:
	case LOCATION_VIRTIO_USER:
	case LOCATION_AF_PACKET:
	case LOCATION_AF_XDP:
		return true;
	default:
		return false;
	}
}

uint64_t
port_line_bps(const struct port *port)
{
	bool known =
		port->link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN && port->link.link_speed != 0;

	if (!location_has_line(&port->location) || port->link.link_status != RTE_ETH_LINK_UP ||
	    !known)
		return 0;
	return port->link.link_speed * MBPS;
}
