/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: opened from its location, checked against what its device can do, configured and started.
 *
 * Control thread only. Ports are opened once per session and closed at its end; a program that is loaded later
 * finds them started.
 */
#ifndef WR_DEVICE_PORT_H
#define WR_DEVICE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mempool.h>

#include "base/error.h"
#include "config/config.h"
#include "counters/counters.h"
#include "device/location.h"
#include "device/port_clock.h"
#include "device/port_flow_ctrl.h"
#include "device/port_offloads.h"
#include "device/socket_drops.h"

#define PORT_DESCRIPTORS_DEFAULT 1024u
/* Rx of a NIC: 27 us of 64-octet frames at 100 Gbit/s, where 1,024 are 7. */
#define PORT_RX_DESCRIPTORS_PCI 4096u

#define PORT_RINGS_MAX 16u /* RTE_PMD_RING_MAX_RX_RINGS of librte_net_ring */

struct rte_ring;
struct tx_loop_driver; /* tx_loop.h */

/* Receive side scaling, as the device says it is set. */
struct port_rss {
	bool on;             /* it spreads what it receives by a hash; else all below is 0 */
	uint32_t fields;     /* of rss_field */
	uint32_t key_octets; /* 0: it does not say */
	uint32_t n_reta;     /* 0: it does not say */
	uint8_t key[CONFIG_RSS_KEY_OCTETS_MAX];
	uint16_t reta[CONFIG_RETA_MAX];
};

struct port {
	struct port_config config;
	struct location location;
	uint16_t port_id;
	bool opened;
	bool started;
	uint16_t rx_queues; /* as set up: at least what the configuration asks for */
	uint16_t tx_queues;
	uint16_t rx_descriptors; /* as the device took them */
	uint16_t tx_descriptors;
	uint16_t tx_ring; /* Tx descriptors as the driver reports them; 0: it does not */
	uint16_t max_rx_queues;
	uint16_t max_tx_queues;
	char driver[32];
	struct rte_mempool *rx_pool;
	char made[80]; /* EAL's name of the virtual device that was made for the port; else "" */
	struct rte_ring
		*rings[PORT_RINGS_MAX]; /* of a ring port, the first ones of them; else NULL */
	struct rte_eth_link link;       /* when last asked */
	bool link_was_up;
	uint64_t carrier_changes;  /* of an interface of the kernel, when last asked */
	bool restore_promiscuous;  /* switched on by us on an interface of the kernel */
	struct rte_eth_stats last; /* device counters when last asked */
	uint64_t begun_uncertain;  /* frames read right after the first of them (port_settle.h) */
	struct socket_drops drops; /* of the kernel, at the sockets of its interfaces' drivers */
	const struct tx_loop_driver *tx_loop; /* of a port with tx_loop_frames; else NULL */
	struct rte_eth_conf conf;             /* as the device was configured */
	struct port_clock clock;              /* the device's own, for the time of arrival */
	struct port_rss rss;                  /* as read back from the device */
	struct port_offloads offloads;        /* as switched on */
	struct port_flow_ctrl flow_ctrl;
	const void *tx_source; /* of all frames sent, with offloads.fast_free: program/tx_pools.h */
	struct rte_flow **rules; /* of port_steer(), those that the driver took */
	uint32_t rule_count;
	/* Frames that ended programs handed to each queue. */
	uint64_t tx_handed[RTE_MAX_QUEUES_PER_PORT];
};

/* `path` names the port in the parameters ("ports[0]"), for errors; hz is the TSC's. On failure nothing stays open. */
int port_open(struct port *port, const struct port_config *config, unsigned int index, uint64_t hz,
	      const char *path, struct error *err);

/*
 * Close the device, which gives back the frames that it holds, to their pools: those of this port, of others, and of
 * programs. So no pool is freed before all ports are closed; port_free() then frees this port's, and everything that has
 * a name in DPDK: a port may be opened again where a ports.open was refused.
 */
void port_close(struct port *port);
void port_free(struct port *port);

/*
 * Stop the device and start it again, so that its driver has its queues to itself and empty; `anew`: configured once
 * more, which is what makes some drivers do so. The link comes up some time later. Only while no worker uses the
 * port.
 */
int port_restart(struct port *port, bool anew, struct error *err);

/*
 * Ask for the links of all ports again, and wait until they are up: at most 10 s for a NIC's, 1 s for another port's
 * peer, all at the same time.
 */
void ports_link_wait(struct port *ports, uint32_t count);

/* Throw away what the receive queues hold, but for a capture file. Only while no worker polls them. */
void port_drain(const struct port *port);

/* Count from now on: what the device has counted so far is not of this program. */
void port_begin_counting(struct port *port);

/*
 * Add to the counters what the device has counted since it was last asked, and write the link's
 * state. Some drivers clear their counters when a peer leaves: what they counted since the last
 * look is lost then, and `resets` tells.
 */
void port_sample(struct port *port, struct port_counters *counters);

/*
 * The workers have stopped: sample until the device's counters and theirs, frames received (UINT64_MAX: by no worker) and
 * sent at this port, are explained (port_settle.h), for 0.3 s at most.
 */
void port_end_counting(struct port *port, struct port_counters *counters, uint64_t received,
		       uint64_t sent);

/* Tx descriptors that should be free before a full device is asked again; 0: ask at once. */
uint32_t port_refill_frames(const struct port *port);

/* Frames that the device may still read after they were handed to it, at most, on one queue: frames_held.h. */
uint32_t port_frames_held_max(const struct port *port);

/* Nobody sends: does the device hold no frame any more? A ring is emptied; what a NIC holds, it holds. */
bool port_reclaim(const struct port *port);

/* May frames be sent that are in several mbufs? */
static inline bool
port_sends_chains(const struct port *port)
{
	return (port->conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
}

/* The firmware as the device names it, "" when it has none or does not say. */
void port_firmware(const struct port *port, char *out, size_t size);

/* NUMA node of the device, -1 when it has none. */
int port_socket(const struct port *port);

/* True when the link comes up some time after the start: a partner negotiates or connects. */
bool port_awaits_peer(const struct port *port);

/* bit/s of the device's real line; 0 when it has none or the link is down. */
uint64_t port_line_bps(const struct port *port);

#endif
