/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's one idea of the TSC's frequency: cycles against CLOCK_MONOTONIC_RAW, which NTP does not steer.
 *
 * DPDK's own figure is not used: where CPUID has none, EAL rounds what it measured to 10 MHz (DPDK 22.11,
 * lib/eal/linux/eal_timer.c and common/eal_common_timer.c), 1,900 ppm on a TSC of 2,445 MHz.
 *
 * Each reading lies between two of the TSC, of several the tightest is kept: it is right to half its width, however
 * late or slow the thread is. The frequency is that between the first reading and the newest, so that its bound shrinks
 * as the engine lives. Control thread. Pure.
 */
#ifndef WR_BASE_TSC_CLOCK_H
#define WR_BASE_TSC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A bound that a start waits for [ppm], and for how long at most. */
#define TSC_CLOCK_GOAL_PPM 1.0
#define TSC_CLOCK_WAIT_NS 1000000000LL

/* What the clocks showed at one moment. */
struct clock_reading {
	uint64_t tsc;          /* half-way between the two readings of it; never 0 */
	uint64_t width;        /* between those [cycles] */
	int64_t raw_ns;        /* CLOCK_MONOTONIC_RAW */
	int64_t time_ns;       /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	int64_t time_width_ns; /* between two readings of the latter, with the former in the middle */
};

struct tsc_clock {
	double hz;        /* best estimate; 0: unknown */
	double bound_ppm; /* of hz, by the readings; infinite until there are two */
	uint64_t dpdk_hz; /* what DPDK believes */
	struct clock_reading first;
	struct clock_reading last;
};

/* The tightest of several; some microseconds. */
struct clock_reading clock_read(void);

/* The frequency between two readings [Hz], and by how much it may be wrong [ppm]; 0 and infinite where it cannot be said. */
double clock_hz_between(const struct clock_reading *from, const struct clock_reading *to,
			double *bound_ppm);

/* The first reading; as early as can be. */
void tsc_clock_start(struct tsc_clock *clock, const struct clock_reading *now);

/*
 * One more. A reading that is no more precise than what is known changes nothing. One that the frequency does not lead
 * to (a virtual machine was moved, the clock stepped) begins anew: hz stays until there is a better one.
 */
void tsc_clock_note(struct tsc_clock *clock, const struct clock_reading *now);

/* Read until the bound is TSC_CLOCK_GOAL_PPM or TSC_CLOCK_WAIT_NS are over; returns at once where it is. */
void tsc_clock_settle(struct tsc_clock *clock);

/* [Hz], rounded; above 0. */
uint64_t tsc_clock_hz(const struct tsc_clock *clock);

#endif
