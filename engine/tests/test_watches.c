/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What watches over clocks and workers: a jump of either clock is seen whatever came before, and a period of grace ends
 * only when every worker has begun a new loop.
 *
 * Run by `meson test`; no EAL. Source: program/clock_watch.h, program/worker_grace.h.
 */
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/test_support.h"

#include "program/clock_watch.h"
#include "program/worker_grace.h"

#define HZ 2500000000ULL
#define TICK_NS 100000000LL

/* A reading `ticks` after the first, with both clocks off by so much, `width_ns` wide. */
static struct clock_reading
reading(int64_t ticks, int64_t tsc_off_ns, int64_t time_off_ns, int64_t width_ns)
{
	return (struct clock_reading){
		.tsc = 1000000 + (uint64_t)((ticks * TICK_NS + tsc_off_ns) * 5 / 2),
		.width = (uint64_t)(width_ns * 5 / 2),
		.raw_ns = 77 + ticks * TICK_NS,
		.time_ns = 1700000000000000000LL + time_off_ns,
		.time_width_ns = width_ns,
	};
}

static void
note(struct clock_watch *watch, int64_t ticks, int64_t tsc_off_ns, int64_t time_off_ns)
{
	struct clock_reading now = reading(ticks, tsc_off_ns, time_off_ns, 40);

	clock_watch_note(watch, &now, HZ);
}

static void
steady_clocks_show_no_error(void **state)
{
	struct clock_watch watch = {0};

	(void)state;
	for (int64_t i = 0; i <= 1000; i++) /* 20 ppm too fast, time of day steered by as much */
		note(&watch, i, i * 2000, i * -2000);
	assert_int_equal(watch.error_ns, 0);
	assert_int_equal(watch.jump_ns, 1960);
	assert_in_range(watch.drift_ns, 2000000 - 41, 2000000);
	assert_int_equal(watch.watched_ns, 1000 * TICK_NS);
	assert_true(fabs(watch.hz / HZ - 1.00002) < 1e-9);
}

static void
a_jump_is_seen_whichever_way(void **state)
{
	static const int64_t jumps[] = {5000000, -5000000};

	(void)state;
	for (size_t j = 0; j < COUNT(jumps); j++) {
		struct clock_watch watch = {0};

		note(&watch, 0, 0, 0);
		note(&watch, 1, jumps[j], 0);
		assert_in_range(watch.error_ns, 4979900, 4980000); /* but 200 ppm of 100 ms */
		assert_int_equal(watch.jump_ns, 0);
		note(&watch, 2, jumps[j], 3 * jumps[j]);
		note(&watch, 3, jumps[j], 3 * jumps[j]); /* remembered */
		assert_in_range(watch.error_ns, 4979900, 4980000);
		assert_int_equal(watch.jump_ns, 15000000 - 40);
		assert_in_range(watch.drift_ns, 4999900, 5000000);
	}
}

/* The program's frequency is wrong by 1,494 ppm, as DPDK's rounding made it: no step, but a drift. */
static void
a_wrong_frequency_is_a_drift(void **state)
{
	struct clock_watch watch = {0};

	(void)state;
	for (int64_t i = 0; i <= 30; i++)
		note(&watch, i, i * 149400, 0);
	assert_in_range(watch.error_ns, 129300, 129400);
	assert_in_range(watch.drift_ns, 30 * 149400 - 41, 30 * 149400);
}

/* A thread that reads late, or is interrupted while it reads, for 8 ms at that, has seen nothing. */
static void
a_late_thread_is_no_unsteady_clock(void **state)
{
	static const int64_t off_ns[] = {3900000, -3900000};

	(void)state;
	for (size_t i = 0; i < COUNT(off_ns); i++) {
		struct clock_watch watch = {0};
		struct clock_reading late = reading(80, off_ns[i], off_ns[i], 8000000);

		note(&watch, 0, 0, 0);
		note(&watch, 1, 0, 0);
		clock_watch_note(&watch, &late, HZ);
		assert_int_equal(watch.drift_ns, 0);
		note(&watch, 90, 0, 0);
		assert_int_equal(watch.error_ns, 0);
		assert_int_equal(watch.jump_ns, 0);
		assert_int_equal(watch.drift_ns, 0);
	}
}

struct grace {
	struct worker workers[2];
	struct worker_counters counters[2];
	_Atomic bool over;
};

static void *
wait_in_thread(void *argument)
{
	struct grace *grace = argument;

	worker_grace_wait();
	atomic_store(&grace->over, true);
	return NULL;
}

/* As the first and second worker finish their loop. */
static void
grace_lasts_until_all_have_looped(void **state)
{
	struct grace *grace = aligned_alloc(COUNTERS_ALIGN, sizeof(*grace));
	pthread_t thread;

	(void)state;
	memset(grace, 0, sizeof(*grace));
	for (uint32_t w = 0; w < 2; w++) {
		grace->workers[w].counters = &grace->counters[w];
		grace->counters[w].state = TASK_ACTIVE;
	}
	worker_grace_watch(grace->workers, 2);
	pthread_create(&thread, NULL, wait_in_thread, grace);
	usleep(20000);
	counter_set(&grace->counters[0].now_tsc, 1);
	usleep(20000);
	assert_false(atomic_load(&grace->over));
	__atomic_store_n(&grace->counters[1].state, TASK_DONE, __ATOMIC_RELEASE); /* or has quit */
	pthread_join(thread, NULL);
	assert_true(atomic_load(&grace->over));
	worker_grace_watch(NULL, 0);
	worker_grace_wait(); /* for nobody */
	free(grace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_clocks_show_no_error),
		cmocka_unit_test(a_jump_is_seen_whichever_way),
		cmocka_unit_test(a_wrong_frequency_is_a_drift),
		cmocka_unit_test(a_late_thread_is_no_unsteady_clock),
		cmocka_unit_test(grace_lasts_until_all_have_looped),
	};

	return cmocka_run_group_tests_name("watches", tests, NULL, NULL);
}
