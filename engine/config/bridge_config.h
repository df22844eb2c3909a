/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge task and the rings between such; part of config.h. No DPDK and no jansson here. docs/design/0009. */
#ifndef WR_CONFIG_BRIDGE_CONFIG_H
#define WR_CONFIG_BRIDGE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config_limits.h"
#include "protocol/host_address.h"

enum rewrite {
	REWRITE_NONE,
	REWRITE_REVERSE,  /* Ethernet addresses, those of IP, and the ports of UDP and TCP */
	REWRITE_MAC_SWAP, /* Ethernet addresses only */
};

enum bridge_segments {
	SEGMENTS_AS_IS,
	SEGMENTS_SPLIT,
	SEGMENTS_MERGE,
};

enum bridge_way_number {
	BRIDGE_KERNEL,
	BRIDGE_FAST,
};
#define BRIDGE_WAYS 2u

struct ring_config {
	char name[CONFIG_NAME_SIZE];
	uint32_t frames; /* CONFIG_RING_FRAMES_MIN…MAX, a power of two */
};

/* Where frames go, and what is done to them before. Neither a port nor a ring: they are freed. */
struct bridge_way_config {
	char port[CONFIG_NAME_SIZE];               /* "": none; not resolved */
	char ring[CONFIG_NAME_SIZE];               /* "": none */
	uint32_t ring_index;                       /* rings[ring_index].name is ring */
	uint32_t queues[CONFIG_BRIDGE_QUEUES_MAX]; /* Tx, of the port, all different */
	uint32_t n_queues;                         /* 1… where there is a port */
	enum rewrite rewrite;                      /* not REWRITE_MAC_SWAP */
	uint64_t work_cycles; /* spun for each frame, of the TSC; 0…CONFIG_WORK_CYCLES_MAX */
	bool complete;        /* checksums of TCP and UDP are computed */
	enum bridge_segments segments;
};

/* The task's port and queue are those it receives on; the port is "" where it takes from a ring. */
struct bridge_config {
	char from_ring[CONFIG_NAME_SIZE];
	uint32_t from_ring_index;
	bool tells_apart; /* else every frame is the kernel's */
	struct host_address addresses[CONFIG_BRIDGE_ADDRESSES_MAX]; /* all different; no MAC */
	uint32_t n_addresses;
	struct bridge_way_config ways[BRIDGE_WAYS]; /* by enum bridge_way_number */
};

static inline const char *
bridge_way_name(uint32_t way)
{
	return way == BRIDGE_KERNEL ? "kernel" : "fast";
}

static inline const char *
bridge_segments_name(enum bridge_segments segments)
{
	static const char *const names[] = {"as-is", "split", "merge"};

	return names[segments];
}

#endif
