/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of its time a worker had no CPU, though it wanted one: the kernel ran something else (preemption, a cgroup's
 * quota), had stopped the process, or woke the worker late from a sleep.
 *
 * Lost time is wall time (CLOCK_MONOTONIC_RAW) minus the thread's CPU time, between two MARKS of the worker. Neither
 * clock depends on what the TSC is believed to run at. A sleep lies between two marks of its own: what was asked for
 * is no loss, what it took beyond that is, but for CPU_TIME_WAKE_NS.
 *
 * The worker calls all but cpu_time_sample(), and never per burst: at its start and end, in a stall, around a sleep.
 * The control thread samples every 100 ms, so that losses too short to be a stall are in the figures as well; it reads
 * the worker's mark under a sequence number, and its clock by pthread_getcpuclockid(3), which costs the worker nothing.
 *
 * What a hypervisor takes from the CPU is seen where the kernel accounts for it (CONFIG_PARAVIRT_TIME_ACCOUNTING).
 * Time blocked in a driver's system call is not distinguished from preemption.
 */
#ifndef WR_COUNTERS_CPU_TIME_H
#define WR_COUNTERS_CPU_TIME_H

#include <stdint.h>
#include <time.h>

#include "counters/counters.h"

/*
 * What a sleep takes beyond its end on a CPU that is free: the timer's interrupt, and leaving the idle state. The
 * deepest one of today's servers takes up to 0.31 ms (C6P of intel_idle.c, Granite Rapids).
 */
#define CPU_TIME_WAKE_NS 400000ULL

struct cpu_time {
	struct worker_counters *counters;
	clockid_t clock;      /* the worker's CPU time, for any thread of the process */
	uint32_t sequence;    /* odd while the worker writes what follows */
	uint64_t raw_ns;      /* the mark: wall time, */
	uint64_t cpu_ns;      /* CPU time; of a sleep not used */
	uint64_t asleep_till; /* wall time at which the worker is to have woken; 0: awake */
};

/* The worker begins to poll. */
void cpu_time_begin(struct cpu_time *time, struct worker_counters *counters);

/* A gap of `gap_ns` between two readings of the clock has just ended. */
void cpu_time_note_gap(struct cpu_time *time, uint64_t gap_ns);

/* Sleep, and note what that took beyond `ns`. */
void cpu_time_sleep(struct cpu_time *time, uint64_t ns);

/* The worker polls no more; its counters are exact from now on. To be called before it publishes its state DONE. */
void cpu_time_end(struct cpu_time *time);

/* What a sleep lost that was to take `asked_ns` and took `took_ns`. */
uint64_t cpu_time_overslept(uint64_t asked_ns, uint64_t took_ns);

/* Control thread: bring the worker's sampled_ns, cpu_lost_ns up to date. Nothing before cpu_time_begin(). */
void cpu_time_sample(struct cpu_time *time);

#endif
