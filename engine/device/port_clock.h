/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of a device that writes the time of arrival into each mbuf (RTE_ETH_RX_OFFLOAD_TIMESTAMP), and its relation
 * to the TSC. Control thread only, but for `relation`, which workers read. Not yet run on hardware: no device at hand
 * has it.
 *
 * The device's clock is read between two looks at the TSC, several times, and the tightest pair is kept. The line goes
 * through the newest pair; its slope is that over the longest baseline kept, 128 pairs (12.8 s at one each 100 ms). With
 * looks w cycles apart a time is wrong by w/2 at most, and between two pairs by as much again for each baseline passed.
 */
#ifndef WR_DEVICE_PORT_CLOCK_H
#define WR_DEVICE_PORT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "base/clock_relation.h"

#define PORT_CLOCK_PAIRS 128u

/* What the two clocks showed at once: the TSC half-way between the looks. */
struct clock_pair {
	uint64_t device;
	uint64_t tsc;
	uint64_t width; /* cycles between the looks */
};

struct port_clock {
	uint16_t port_id;
	bool offered;             /* the offload was asked for */
	uint32_t count;           /* pairs held, the oldest ones forgotten */
	uint32_t newest;          /* of pairs[] */
	uint32_t passed_over;     /* loose pairs in a row */
	uint64_t narrowest;       /* width of the tightest pair since the clock was set last */
	struct clock_line line;   /* as renewed last; slope 0: unknown */
	struct frame_times times; /* for workers; relation NULL: the TSC is all there is */
	struct clock_relation relation;
	struct clock_pair pairs[PORT_CLOCK_PAIRS];
};

/* Before the device is configured: true when it offers times and a clock to read; ask for the offload then. */
bool port_clock_find(struct port_clock *clock, uint16_t port_id,
		     const struct rte_eth_dev_info *info);

/* After the start, where offered: 20 ms to see the clock run. One that does not is not used. hz is the TSC's. */
void port_clock_start(struct port_clock *clock, uint16_t port_id, uint64_t hz);

/* Renew the relation; each 100 ms, and right before traffic. Does nothing where no clock is used. */
void port_clock_sample(struct port_clock *clock);

/* Make a pair part of the relation, or leave it out. Pure; what port_clock_sample() does with its tightest one. */
void port_clock_note(struct port_clock *clock, const struct clock_pair *pair);

static inline bool
port_clock_is_used(const struct port_clock *clock)
{
	return clock->times.relation != NULL;
}

#endif
