/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/capture_clock.h"

#include <time.h>

#include <rte_cycles.h>

#include "base/units.h"

#define ANCHOR_TRIES 16
#define SLOPE_TOLERANCE 1e-3

static uint64_t
real_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

struct capture_anchor
capture_anchor_now(void)
{
	struct capture_anchor best = {0, 0};
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < ANCHOR_TRIES; i++) {
		uint64_t before = rte_rdtsc_precise(), real_ns = real_time_ns();
		uint64_t width = rte_rdtsc_precise() - before;

		if (width >= narrowest)
			continue;
		narrowest = width;
		best = (struct capture_anchor){before + width / 2, real_ns};
	}
	return best;
}

struct capture_clock
capture_clock_between(struct capture_anchor first, struct capture_anchor last, uint64_t hz)
{
	double nominal = (double)NS_PER_SECOND / (double)hz;
	double cycles = (double)(last.tsc - first.tsc);
	double ns = (double)(int64_t)(last.real_ns - first.real_ns);
	struct capture_clock clock = {first, nominal};

	if (last.tsc > first.tsc && ns > cycles * nominal * (1 - SLOPE_TOLERANCE) &&
	    ns < cycles * nominal * (1 + SLOPE_TOLERANCE))
		clock.ns_per_cycle = ns / cycles;
	return clock;
}

uint64_t
capture_clock_real_ns(const struct capture_clock *clock, uint64_t tsc)
{
	double cycles = (double)(int64_t)(tsc - clock->first.tsc);

	return clock->first.real_ns + (uint64_t)(int64_t)(cycles * clock->ns_per_cycle);
}
