/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/cpu_time.h"

#include <pthread.h>
#include <stdbool.h>

#define NS 1000000000ULL
#define TRIES 8u

struct mark {
	uint64_t raw_ns;
	uint64_t cpu_ns;
	uint64_t asleep_till;
};

static uint64_t
read_ns(clockid_t clock)
{
	struct timespec time = {0, 0};

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS + (uint64_t)time.tv_nsec;
}

/* Always in this order, so that what lies between both readings is in no difference of two marks. */
static struct mark
read_mark(clockid_t clock)
{
	struct mark now = {.raw_ns = read_ns(CLOCK_MONOTONIC_RAW)};

	now.cpu_ns = read_ns(clock);
	return now;
}

static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Of the time since the mark, what the thread did not run. */
static uint64_t
lost_since(const struct mark *mark, const struct mark *now)
{
	return minus(minus(now->raw_ns, mark->raw_ns), minus(now->cpu_ns, mark->cpu_ns));
}

static struct mark
mark_of(const struct cpu_time *time)
{
	return (struct mark){time->raw_ns, time->cpu_ns, time->asleep_till};
}

/* The sum up to a new mark, which take their places together. */
static void
set_mark(struct cpu_time *time, const struct mark *now, uint64_t noted_ns)
{
	uint32_t sequence = time->sequence;

	__atomic_store_n(&time->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	counter_set(&time->raw_ns, now->raw_ns);
	counter_set(&time->cpu_ns, now->cpu_ns);
	counter_set(&time->asleep_till, now->asleep_till);
	counter_set(&time->counters->noted_lost_ns, noted_ns);
	__atomic_store_n(&time->sequence, sequence + 2, __ATOMIC_RELEASE);
}

void
cpu_time_begin(struct cpu_time *time, struct worker_counters *counters)
{
	struct mark now;

	time->counters = counters;
	if (pthread_getcpuclockid(pthread_self(), &time->clock) != 0)
		time->clock = CLOCK_THREAD_CPUTIME_ID;
	now = read_mark(time->clock);
	counter_set(&counters->began_ns, now.raw_ns);
	set_mark(time, &now, 0);
}

/* Returns what was lost since the last mark, and makes a new one. */
static uint64_t
advance(struct cpu_time *time, struct mark *now)
{
	struct mark mark = mark_of(time);
	uint64_t lost;

	*now = read_mark(time->clock);
	lost = lost_since(&mark, now);
	set_mark(time, now, time->counters->noted_lost_ns + lost);
	return lost;
}

void
cpu_time_note_gap(struct cpu_time *time, uint64_t gap_ns)
{
	struct worker_counters *counters = time->counters;
	/* Written in the other order: the time belongs to this sum or to a later one. */
	uint64_t sampled = __atomic_load_n(&counters->cpu_lost_ns, __ATOMIC_ACQUIRE);
	uint64_t sampled_at = __atomic_load_n(&counters->sampled_ns, __ATOMIC_RELAXED);
	uint64_t before = counters->noted_lost_ns, lost;
	struct mark now;

	lost = before + advance(time, &now);
	/* What was lost before the gap began is no part of it. */
	if (sampled > before && sampled_at <= now.raw_ns - gap_ns)
		before = sampled;
	lost = minus(lost, before);
	counter_max(&counters->cpu_lost_max_ns, lost < gap_ns ? lost : gap_ns);
}

uint64_t
cpu_time_overslept(uint64_t asked_ns, uint64_t took_ns)
{
	return minus(took_ns, asked_ns + CPU_TIME_WAKE_NS);
}

void
cpu_time_sleep(struct cpu_time *time, uint64_t ns)
{
	struct timespec pause = {(time_t)(ns / NS), (long)(ns % NS)};
	struct worker_counters *counters = time->counters;
	struct mark now;
	uint64_t began_ns, lost;

	advance(time, &now);
	began_ns = now.raw_ns;
	now.asleep_till = began_ns + ns;
	set_mark(time, &now, counters->noted_lost_ns);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	now = read_mark(time->clock);
	lost = cpu_time_overslept(ns, now.raw_ns - began_ns);
	set_mark(time, &now, counters->noted_lost_ns + lost);
	counter_max(&counters->cpu_lost_max_ns, lost);
}

void
cpu_time_end(struct cpu_time *time)
{
	struct mark now;

	advance(time, &now);
}

/* The mark, and the sum that belongs to it. False where the worker was found writing, or was preempted while it did. */
static bool
read_consistent(const struct cpu_time *time, struct mark *mark, uint64_t *noted_ns)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t before = __atomic_load_n(&time->sequence, __ATOMIC_ACQUIRE);

		mark->raw_ns = __atomic_load_n(&time->raw_ns, __ATOMIC_RELAXED);
		mark->cpu_ns = __atomic_load_n(&time->cpu_ns, __ATOMIC_RELAXED);
		mark->asleep_till = __atomic_load_n(&time->asleep_till, __ATOMIC_RELAXED);
		*noted_ns = __atomic_load_n(&time->counters->noted_lost_ns, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before % 2 == 0 && __atomic_load_n(&time->sequence, __ATOMIC_RELAXED) == before)
			return true;
	}
	return false;
}

static void
publish(struct worker_counters *counters, uint64_t at_ns, uint64_t lost_ns)
{
	counter_set(&counters->sampled_ns, at_ns);
	if (lost_ns > counters->cpu_lost_ns)
		__atomic_store_n(&counters->cpu_lost_ns, lost_ns, __ATOMIC_RELEASE);
}

void
cpu_time_sample(struct cpu_time *time)
{
	struct mark mark, again, now;
	uint64_t noted_ns, still_ns, lost_ns, state;

	if (__atomic_load_n(&time->sequence, __ATOMIC_ACQUIRE) < 2)
		return;
	state = __atomic_load_n(&time->counters->state, __ATOMIC_ACQUIRE);
	if (!read_consistent(time, &mark, &noted_ns))
		return;
	if (state == TASK_DONE) {
		publish(time->counters, mark.raw_ns, noted_ns);
		return;
	}
	now = read_mark(time->clock);
	if (mark.asleep_till != 0)
		lost_ns = cpu_time_overslept(mark.asleep_till, now.raw_ns);
	else
		lost_ns = lost_since(&mark, &now);
	/* The worker may have slept, or woken, between both readings. */
	if (read_consistent(time, &again, &still_ns) && again.raw_ns == mark.raw_ns)
		publish(time->counters, now.raw_ns, noted_ns + lost_ns);
}
