/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker lost of its CPU: time without it is counted however it came, time with it is not, a sleep is as long as
 * it was to be, and another thread's samples agree with what the worker notes.
 *
 * Run by `meson test`; no EAL. A machine may take the CPU at any time: so nothing is compared with a fixed time but
 * what is true then, too. Source: counters/cpu_time.h.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "tests/test_support.h"

#include "counters/cpu_time.h"

#define MS 1000000ULL

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

/* As if the kernel ran something else. */
static void
be_off_the_cpu(uint64_t ns)
{
	struct timespec pause = {0, (long)ns};

	nanosleep(&pause, NULL);
}

static void
use_the_cpu(uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

struct fixture {
	struct worker_counters counters;
	struct cpu_time time;
	uint64_t raw_ns, cpu_ns;
	_Atomic bool begun, over;
};

static struct fixture *
begin(struct fixture *f)
{
	f->raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	f->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	cpu_time_begin(&f->time, &f->counters);
	f->counters.state = TASK_ACTIVE;
	return f;
}

static struct fixture *
fresh(void)
{
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, sizeof(*f));

	memset(f, 0, sizeof(*f));
	return f;
}

/* Everything that was lost since the beginning, by clocks of our own; at least what the worker can have noted. */
static uint64_t
lost_ns(const struct fixture *f)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - f->cpu_ns;

	return clock_ns(CLOCK_MONOTONIC_RAW) - f->raw_ns - cpu;
}

static void
a_sleep_may_wake_a_little_late(void **state)
{
	(void)state;
	assert_int_equal(cpu_time_overslept(1 * MS, 900000), 0);
	assert_int_equal(cpu_time_overslept(1 * MS, 1 * MS + CPU_TIME_WAKE_NS), 0);
	assert_int_equal(cpu_time_overslept(1 * MS, 31 * MS), 30 * MS - CPU_TIME_WAKE_NS);
}

static void
time_without_the_cpu_is_lost(void **state)
{
	struct fixture *f = begin(fresh());

	(void)state;
	be_off_the_cpu(20 * MS);
	cpu_time_note_gap(&f->time, 21 * MS);
	assert_true(f->counters.cpu_lost_max_ns >= 19 * MS);
	assert_true(f->counters.cpu_lost_max_ns <= 21 * MS);
	assert_true(f->counters.noted_lost_ns >= 19 * MS);
	be_off_the_cpu(3 * MS); /* too short for a stall, or unnoticed */
	cpu_time_end(&f->time);
	assert_true(f->counters.noted_lost_ns >= 22 * MS);
	assert_true(f->counters.noted_lost_ns <= lost_ns(f));
	free(f);
}

static void
time_with_the_cpu_is_not(void **state)
{
	struct fixture *f = begin(fresh());

	(void)state;
	use_the_cpu(30 * MS);
	cpu_time_note_gap(&f->time, 30 * MS); /* a call of a driver that took long */
	assert_true(f->counters.noted_lost_ns <= lost_ns(f));
	assert_true(f->counters.cpu_lost_max_ns <= f->counters.noted_lost_ns);
	free(f);
}

static void
sleep_is_lost_beyond_its_end_only(void **state)
{
	struct fixture *f = begin(fresh());

	(void)state;
	for (int i = 0; i < 10; i++)
		cpu_time_sleep(&f->time, 2 * MS);
	cpu_time_end(&f->time);
	assert_true(f->counters.noted_lost_ns <= lost_ns(f) - 10 * 2 * MS);
	assert_true(f->counters.cpu_lost_max_ns <= f->counters.noted_lost_ns);
	free(f);
}

static void *
starve(void *argument)
{
	struct fixture *f = begin(argument);

	atomic_store(&f->begun, true);
	be_off_the_cpu(40 * MS);
	while (!atomic_load(&f->over))
		sched_yield();
	use_the_cpu(15 * MS);
	cpu_time_note_gap(&f->time, 10 * MS);
	cpu_time_end(&f->time);
	__atomic_store_n(&f->counters.state, TASK_DONE, __ATOMIC_RELEASE);
	return NULL;
}

static void
another_thread_knows_as_well(void **state)
{
	struct fixture *f = fresh();
	uint64_t sampled;
	pthread_t thread;

	(void)state;
	cpu_time_sample(&f->time); /* it has not begun */
	assert_int_equal(f->counters.sampled_ns, 0);
	pthread_create(&thread, NULL, starve, f);
	while (!atomic_load(&f->begun))
		sched_yield();
	do {
		be_off_the_cpu(5 * MS);
		cpu_time_sample(&f->time);
	} while (f->counters.sampled_ns < f->counters.began_ns + 50 * MS);
	sampled = f->counters.cpu_lost_ns;
	assert_true(sampled >= 39 * MS);
	assert_int_equal(f->counters.noted_lost_ns, 0);
	atomic_store(&f->over, true);
	pthread_join(thread, NULL);
	/* What had been lost before the gap began is no part of it. */
	assert_true(f->counters.cpu_lost_max_ns <= f->counters.noted_lost_ns - sampled);
	cpu_time_sample(&f->time);
	assert_int_equal(f->counters.cpu_lost_ns, f->counters.noted_lost_ns);
	free(f);
}

static void *
oversleep(void *argument)
{
	struct fixture *f = begin(argument);

	/* Asleep, as cpu_time_sleep() marks it, for longer than asked. */
	f->time.asleep_till = f->time.raw_ns + 5 * MS;
	atomic_store(&f->begun, true);
	while (!atomic_load(&f->over))
		be_off_the_cpu(1 * MS);
	return NULL;
}

static void
who_sleeps_too_long_is_seen_while_asleep(void **state)
{
	struct fixture *f = fresh();
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, oversleep, f);
	while (!atomic_load(&f->begun))
		sched_yield();
	do {
		be_off_the_cpu(5 * MS);
		cpu_time_sample(&f->time);
	} while (f->counters.sampled_ns < f->counters.began_ns + 30 * MS);
	assert_int_equal(f->counters.cpu_lost_ns,
			 f->counters.sampled_ns - f->counters.began_ns - 5 * MS - CPU_TIME_WAKE_NS);
	atomic_store(&f->over, true);
	pthread_join(thread, NULL);
	free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleep_may_wake_a_little_late),
		cmocka_unit_test(time_without_the_cpu_is_lost),
		cmocka_unit_test(time_with_the_cpu_is_not),
		cmocka_unit_test(sleep_is_lost_beyond_its_end_only),
		cmocka_unit_test(another_thread_knows_as_well),
		cmocka_unit_test(who_sleeps_too_long_is_seen_while_asleep),
	};

	return cmocka_run_group_tests_name("cpu_time", tests, NULL, NULL);
}
