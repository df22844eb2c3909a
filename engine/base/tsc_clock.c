/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tsc_clock.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "base/units.h"

#define TRIES 8u
#define WAIT_US 10000u

/* Between two readings the frequency of a steady clock changes by less: temperature, or a hypervisor's own correction. */
#define STEADY_PPM 50.0

/* clock_gettime() rounds down to a nanosecond, at both ends. */
#define ROUNDING_NS 2.0

#define MILLION 1e6

static int64_t
ns_of(clockid_t id)
{
	struct timespec time = {0, 0};

	clock_gettime(id, &time);
	return time.tv_sec * (int64_t)NS_PER_SECOND + time.tv_nsec;
}

static void
read_tsc(struct clock_reading *best)
{
	uint64_t before = rte_rdtsc_precise();
	int64_t raw_ns = ns_of(CLOCK_MONOTONIC_RAW);
	uint64_t width = rte_rdtsc_precise() - before;

	if (best->tsc != 0 && width >= best->width)
		return;
	best->tsc = before + width / 2;
	best->width = width;
	best->raw_ns = raw_ns;
}

static void
read_time(struct clock_reading *best, bool first)
{
	int64_t before = ns_of(CLOCK_MONOTONIC), time_ns = ns_of(CLOCK_REALTIME);
	int64_t width = ns_of(CLOCK_MONOTONIC) - before;

	if (!first && width >= best->time_width_ns)
		return;
	best->time_ns = time_ns - (before + width / 2);
	best->time_width_ns = width;
}

struct clock_reading
clock_read(void)
{
	struct clock_reading best = {0};

	for (uint32_t i = 0; i < TRIES; i++) {
		read_tsc(&best);
		read_time(&best, i == 0);
	}
	return best;
}

double
clock_hz_between(const struct clock_reading *from, const struct clock_reading *to,
		 double *bound_ppm)
{
	double cycles = (double)(int64_t)(to->tsc - from->tsc);
	double ns = (double)(to->raw_ns - from->raw_ns), hz;

	*bound_ppm = INFINITY;
	if (cycles <= 0 || ns <= 0)
		return 0;
	hz = cycles * (double)NS_PER_SECOND / ns;
	*bound_ppm = MILLION *
		     ((double)(from->width + to->width) / 2 + ROUNDING_NS * hz / NS_PER_SECOND) /
		     cycles;
	return hz;
}

void
tsc_clock_start(struct tsc_clock *clock, const struct clock_reading *now)
{
	memset(clock, 0, sizeof(*clock));
	clock->bound_ppm = INFINITY;
	clock->first = *now;
	clock->last = *now;
}

/* The reading is not where the frequency, with all its uncertainty, leads from the last one. */
static bool
has_stepped(const struct tsc_clock *clock, const struct clock_reading *now)
{
	double bound_ppm, hz = clock_hz_between(&clock->last, now, &bound_ppm);

	if (isinf(clock->bound_ppm))
		return false; /* nothing is known to compare with */
	if (hz == 0)
		return true;
	return MILLION * fabs(hz / clock->hz - 1) > bound_ppm + clock->bound_ppm + STEADY_PPM;
}

void
tsc_clock_note(struct tsc_clock *clock, const struct clock_reading *now)
{
	double bound_ppm, hz = clock_hz_between(&clock->first, now, &bound_ppm);

	if (has_stepped(clock, now)) {
		clock->first = *now;
		clock->bound_ppm = INFINITY;
	} else if (hz > 0 && bound_ppm <= RTE_MAX(clock->bound_ppm, TSC_CLOCK_GOAL_PPM)) {
		clock->hz = hz;
		clock->bound_ppm = bound_ppm;
	}
	clock->last = *now;
}

void
tsc_clock_settle(struct tsc_clock *clock)
{
	struct clock_reading now = clock_read();
	int64_t end = now.raw_ns + TSC_CLOCK_WAIT_NS;

	tsc_clock_note(clock, &now);
	while (clock->bound_ppm > TSC_CLOCK_GOAL_PPM && now.raw_ns < end) {
		usleep(WAIT_US);
		now = clock_read();
		tsc_clock_note(clock, &now);
	}
}

uint64_t
tsc_clock_hz(const struct tsc_clock *clock)
{
	return clock->hz > 0 ? (uint64_t)(clock->hz + 0.5) : clock->dpdk_hz;
}
