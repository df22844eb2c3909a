/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are the clocks steady? The TSC, by which everything is timed, is compared with the kernel's clock, and the kernel's
 * time of day with that, from one look to the next. Control thread.
 */
#ifndef WR_PROGRAM_CLOCK_WATCH_H
#define WR_PROGRAM_CLOCK_WATCH_H

#include <stdint.h>

/* What the clocks showed at one moment. */
struct clock_reading {
	uint64_t tsc;
	int64_t raw_ns;  /* CLOCK_MONOTONIC_RAW */
	int64_t time_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
};

struct clock_watch {
	struct clock_reading last; /* tsc 0: none yet */
	uint64_t error_ns;         /* TSC against the kernel's clock between two looks, at most */
	uint64_t jump_ns;          /* time of day likewise: it was set, not steered */
};

/* Compare a reading with the one before; `hz` is the TSC's. */
void clock_watch_note(struct clock_watch *watch, const struct clock_reading *now, uint64_t hz);

/* Read the clocks, within a microsecond of each other unless the lcore is taken away time and again. */
struct clock_reading clock_read(void);

#endif
