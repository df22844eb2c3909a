/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "base/units.h"

#define READINGS 8u
#define START_US 20000u
#define AGE_MAX_NS NS_PER_SECOND

/*
 * A pair four times as loose as the tightest was interrupted; after ten in a row (a second) the bus has become slower.
 */
#define LOOSE_FACTOR 4u
#define PASSED_OVER_MAX 10u

/* Crystals differ by 100 ppm at most, oven or not; ten times that is a clock that somebody set. */
#define PARTS_OF_A_STEP 1000u

/* rte_eth_read_clock() has been marked experimental since DPDK 19.08, and has not changed. */
static int
read_device(uint16_t port_id, uint64_t *device)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	return rte_eth_read_clock(port_id, device);
#pragma GCC diagnostic pop
}

bool
port_clock_find(struct port_clock *clock, uint16_t port_id, const struct rte_eth_dev_info *info)
{
	uint64_t device;

	/* Some clocks run from the start on only: the driver has the call, that is enough. */
	clock->offered = (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
			 read_device(port_id, &device) != -ENOTSUP;
	return clock->offered;
}

static int
read_pair(const struct port_clock *clock, struct clock_pair *best)
{
	best->width = UINT64_MAX;
	for (unsigned int i = 0; i < READINGS; i++) {
		uint64_t before = rte_rdtsc_precise(), device, width;
		int code = read_device(clock->port_id, &device);

		if (code != 0)
			return code;
		width = rte_rdtsc_precise() - before;
		if (width < best->width)
			*best = (struct clock_pair){device, before + width / 2, width};
	}
	return 0;
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0 ? b - a : a - b;
}

static const struct clock_pair *
oldest(const struct port_clock *clock)
{
	return &clock->pairs[(clock->newest + PORT_CLOCK_PAIRS + 1 - clock->count) %
			     PORT_CLOCK_PAIRS];
}

/* The pair is not where the line, with all its uncertainty, leads: the device's clock was set, or stood still. */
static bool
was_set(const struct port_clock *clock, const struct clock_pair *pair)
{
	const struct clock_pair *last = &clock->pairs[clock->newest], *first = oldest(clock);
	uint64_t elapsed = pair->tsc - last->tsc, baseline = last->tsc - first->tsc;
	uint64_t width = RTE_MAX(last->width, first->width) + pair->width, tolerance;

	if (clock->count < 2)
		return false; /* nothing is known to compare with */
	tolerance = elapsed / PARTS_OF_A_STEP + width +
		    (uint64_t)((unsigned __int128)width * elapsed / RTE_MAX(baseline, 1u));
	return distance(clock_line_tsc(&clock->line, pair->device), pair->tsc) > tolerance;
}

static void
append(struct port_clock *clock, const struct clock_pair *pair)
{
	clock->newest = (clock->newest + 1) % PORT_CLOCK_PAIRS;
	clock->pairs[clock->newest] = *pair;
	clock->count = RTE_MIN(clock->count + 1, PORT_CLOCK_PAIRS);
	clock->narrowest = RTE_MIN(clock->narrowest, pair->width);
	clock->passed_over = 0;
}

/* Forget all pairs: until there are two again no time can be used, and workers count their frames in bad_times. */
static void
forget(struct port_clock *clock)
{
	clock->count = 0;
	clock->line.slope = 0;
	clock->narrowest = UINT64_MAX;
}

static uint64_t
slope_between(const struct clock_pair *from, const struct clock_pair *to)
{
	uint64_t ticks = to->device - from->device;

	return (uint64_t)(((unsigned __int128)(to->tsc - from->tsc) << CLOCK_LINE_SHIFT) / ticks);
}

void
port_clock_note(struct port_clock *clock, const struct clock_pair *pair)
{
	const struct clock_pair *first;

	if (clock->count >= 2 && pair->width / LOOSE_FACTOR > clock->narrowest &&
	    clock->passed_over < PASSED_OVER_MAX) {
		clock->passed_over++;
		return;
	}
	if (clock->count == 0 || was_set(clock, pair))
		forget(clock);
	append(clock, pair);
	first = oldest(clock);
	if ((int64_t)(pair->device - first->device) > 0)
		clock->line.slope = slope_between(first, pair);
	clock->line.device = pair->device;
	clock->line.tsc = pair->tsc;
	clock_relation_renew(&clock->relation, &clock->line);
}

void
port_clock_sample(struct port_clock *clock)
{
	struct clock_pair pair;

	if (port_clock_is_used(clock) && read_pair(clock, &pair) == 0)
		port_clock_note(clock, &pair);
}

void
port_clock_start(struct port_clock *clock, uint16_t port_id, uint64_t hz)
{
	struct frame_times times = {&clock->relation, 0, 0, cycles_of_ns(AGE_MAX_NS, hz)};
	struct clock_pair pair;

	clock->port_id = port_id;
	if (!clock->offered || rte_mbuf_dyn_rx_timestamp_register(&times.field, &times.flag) != 0 ||
	    read_pair(clock, &pair) != 0)
		return;
	port_clock_note(clock, &pair);
	usleep(START_US);
	if (read_pair(clock, &pair) != 0)
		return;
	port_clock_note(clock, &pair);
	if (clock->line.slope != 0)
		clock->times = times;
}
