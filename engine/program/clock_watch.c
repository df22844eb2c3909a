/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/clock_watch.h"

#include <math.h>
#include <stdlib.h>

#include <rte_common.h>

#include "base/units.h"

#define MILLION 1e6

static uint64_t
positive(double ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

/* How far TSC and raw clock came apart between two readings [ns], beyond what the readings' widths explain. */
static double
apart_ns(const struct clock_reading *from, const struct clock_reading *to, uint64_t hz)
{
	double ns_per_cycle = (double)NS_PER_SECOND / (double)hz;
	double tsc_ns = (double)(int64_t)(to->tsc - from->tsc) * ns_per_cycle;

	return fabs(tsc_ns - (double)(to->raw_ns - from->raw_ns)) -
	       (double)(from->width + to->width) / 2 * ns_per_cycle;
}

static uint64_t
jump_ns(const struct clock_reading *from, const struct clock_reading *to)
{
	return positive((double)llabs(to->time_ns - from->time_ns) -
			(double)(from->time_width_ns + to->time_width_ns) / 2);
}

static void
note_run(struct clock_watch *watch, const struct clock_reading *now, uint64_t hz)
{
	double bound_ppm, run_hz = clock_hz_between(&watch->first, now, &bound_ppm);

	watch->drift_ns = positive(apart_ns(&watch->first, now, hz));
	watch->watched_ns = (uint64_t)(now->raw_ns - watch->first.raw_ns);
	if (bound_ppm <= CLOCK_RUN_PPM)
		watch->hz = run_hz;
}

void
clock_watch_note(struct clock_watch *watch, const struct clock_reading *now, uint64_t hz)
{
	if (watch->first.tsc == 0) {
		watch->first = *now;
	} else {
		double elapsed_ns = (double)(now->raw_ns - watch->last.raw_ns);
		double step_ns =
			apart_ns(&watch->last, now, hz) - CLOCK_DRIFT_PPM / MILLION * elapsed_ns;

		watch->error_ns = RTE_MAX(watch->error_ns, positive(step_ns));
		watch->jump_ns = RTE_MAX(watch->jump_ns, jump_ns(&watch->last, now));
		note_run(watch, now, hz);
	}
	watch->last = *now;
}
