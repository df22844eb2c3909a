/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are the clocks steady while a program runs? The TSC, counted with the program's frequency, is compared with the
 * kernel's raw clock, and the kernel's time of day with its monotonic clock. Whatever is found lies beyond what the
 * readings' own widths explain: a thread that reads late, or is interrupted while it reads, finds nothing. Control
 * thread. Pure.
 */
#ifndef WR_PROGRAM_CLOCK_WATCH_H
#define WR_PROGRAM_CLOCK_WATCH_H

#include <stdint.h>

#include "base/tsc_clock.h"

/* A frequency that is wrong by less [ppm] is no step; the verdict judges what it amounts to (verdict_clock.py). */
#define CLOCK_DRIFT_PPM 200.0
/* Known no better [ppm], the frequency over the run is not used: the program's own is better. */
#define CLOCK_RUN_PPM 5.0

struct clock_watch {
	struct clock_reading first; /* tsc 0: none yet */
	struct clock_reading last;
	uint64_t
		error_ns; /* TSC against the raw clock from one reading to the next, beyond CLOCK_DRIFT_PPM: a step; max */
	uint64_t jump_ns;    /* time of day likewise: it was set, not steered; max */
	uint64_t drift_ns;   /* TSC against the raw clock since the first reading */
	uint64_t watched_ns; /* since then */
	double hz;           /* over that time; 0: not known to CLOCK_RUN_PPM */
};

/* Compare a reading with the last one and the first; `hz` is what the program counts with. */
void clock_watch_note(struct clock_watch *watch, const struct clock_reading *now, uint64_t hz);

#endif
