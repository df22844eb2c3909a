/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the TSC to the real-time clock: two anchors, one before and one after the capture, and a straight line between.
 * Cold; any thread.
 */
#ifndef WR_CAPTURE_CAPTURE_CLOCK_H
#define WR_CAPTURE_CAPTURE_CLOCK_H

#include <stdint.h>

/* The two clocks at the same moment, to within a microsecond where the thread is not interrupted. */
struct capture_anchor {
	uint64_t tsc;
	uint64_t real_ns; /* CLOCK_REALTIME */
};

struct capture_clock {
	struct capture_anchor first;
	double ns_per_cycle;
};

struct capture_anchor capture_anchor_now(void);

/*
 * hz is the TSC's as calibrated: taken instead of the slope where the anchors differ from it by more than a thousandth,
 * for they lie too near to each other then, or somebody has set the clock in between.
 */
struct capture_clock capture_clock_between(struct capture_anchor first, struct capture_anchor last,
					   uint64_t hz);

/* [ns] since 1970; ascends with tsc, which may lie before the first anchor. */
uint64_t capture_clock_real_ns(const struct capture_clock *clock, uint64_t tsc);

#endif
