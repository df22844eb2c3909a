/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of a worker: 128 octets that it writes itself, and 128 of what the control thread knows of it. */
#ifndef WR_COUNTERS_WORKER_COUNTERS_H
#define WR_COUNTERS_WORKER_COUNTERS_H

#include "counters/counters.h"

struct worker_counters {
	alignas(COUNTERS_ALIGN) uint64_t start_tsc;
	uint64_t now_tsc; /* heartbeat, every loop */
	uint64_t stalls; /* gaps of over 100 us between two looks at the clock while idle or busy */
	uint64_t stall_cycles;     /* sum of those gaps */
	uint64_t stall_max_cycles; /* the longest gap, stall or not */
	uint64_t state;            /* enum task_state */
	uint64_t sleeps;           /* times that the lcore was let go */
	uint64_t sleep_cycles;     /* for how long in all */
	uint64_t began_ns;         /* CLOCK_MONOTONIC_RAW when the worker began to poll */
	uint64_t noted_lost_ns;   /* without its CPU (cpu_time.h), up to the last mark or the end */
	uint64_t cpu_lost_max_ns; /* the longest such gap */
	uint64_t reserved[5];
	/* Written by the control thread, cpu_time_sample(). */
	alignas(COUNTERS_ALIGN) uint64_t sampled_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t cpu_lost_ns;                        /* without its CPU, up to then */
	uint64_t sampled_reserved[14];
};

#endif
