/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/clock_watch.h"

#include <stdlib.h>
#include <time.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "base/units.h"

#define TRIES 5u

static int64_t
ns_of(clockid_t id)
{
	struct timespec time = {0, 0};

	clock_gettime(id, &time);
	return time.tv_sec * (int64_t)NS_PER_SECOND + time.tv_nsec;
}

struct clock_reading
clock_read(void)
{
	struct clock_reading best = {0, 0, 0};
	uint64_t best_cycles = UINT64_MAX;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t before = rte_rdtsc(), after;
		struct clock_reading reading;

		reading.raw_ns = ns_of(CLOCK_MONOTONIC_RAW);
		reading.time_ns = ns_of(CLOCK_REALTIME) - ns_of(CLOCK_MONOTONIC);
		after = rte_rdtsc();
		reading.tsc = before + (after - before) / 2;
		if (after - before < best_cycles) {
			best = reading;
			best_cycles = after - before;
		}
	}
	return best;
}

void
clock_watch_note(struct clock_watch *watch, const struct clock_reading *now, uint64_t hz)
{
	if (watch->last.tsc != 0) {
		double tsc_ns =
			(double)(int64_t)(now->tsc - watch->last.tsc) * NS_PER_SECOND / (double)hz;
		int64_t error = (int64_t)tsc_ns - (now->raw_ns - watch->last.raw_ns);
		int64_t jump = now->time_ns - watch->last.time_ns;

		watch->error_ns = RTE_MAX(watch->error_ns, (uint64_t)llabs(error));
		watch->jump_ns = RTE_MAX(watch->jump_ns, (uint64_t)llabs(jump));
	}
	watch->last = *now;
}
