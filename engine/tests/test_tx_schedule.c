/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When frames are due: bursts with gaps, the times of a trace, delays, durations, and for how long a worker may sleep.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: schedule/tx_schedule.h, schedule/tx_sleep.h, docs/design/0002.
 */
#include "tests/tx_task_fixture.h"

#include "schedule/tx_sleep.h"

/* Bursts of 10 frames, INTERVAL apart, and 7 intervals of pause beyond the interval between two frames. */
enum { BURST_FRAMES = 10, BURST_CYCLES = (BURST_FRAMES + 7) * INTERVAL };

static void
make_bursts(struct fixture *f)
{
	make_paced(f, 0, 1);
	f->task.schedule = TX_BURSTS;
	f->task.burst_frames = BURST_FRAMES;
	f->task.burst_cycles = BURST_CYCLES;
}

static uint64_t
due_of_bursts(uint64_t cycles)
{
	uint64_t rest = (cycles % BURST_CYCLES + INTERVAL - 1) / INTERVAL;

	return cycles / BURST_CYCLES * BURST_FRAMES + RTE_MIN(rest, (uint64_t)BURST_FRAMES);
}

static void
bursts_have_their_gaps(void **state)
{
	struct fixture *f = *state;

	make_bursts(f);
	for (uint64_t cycles = 0; cycles < 100 * BURST_CYCLES; cycles += 333) {
		look(f, cycles);
		assert_int_equal(f->frames_taken, due_of_bursts(cycles));
	}
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_in_range(f->counters.lateness_max_cycles, 1, 333);
}

static void
bursts_due_cycles_are_those_of_their_frames(void **state)
{
	struct fixture *f = *state;

	make_bursts(f);
	for (uint64_t k = 0; k < 1000; k++) {
		uint64_t due = k / BURST_FRAMES * BURST_CYCLES + k % BURST_FRAMES * INTERVAL;

		assert_in_range(tx_task_due_cycle(&f->task, k), due, due + 1);
	}
}

static void
bursts_end_at_the_limit(void **state)
{
	struct fixture *f = *state;

	make_bursts(f);
	f->task.limit = 3 * BURST_FRAMES;
	run(f, 0, 10 * BURST_CYCLES, INTERVAL / 2);
	assert_int_equal(f->frames_taken, 3 * BURST_FRAMES);
	assert_int_equal(f->counters.state, TASK_DONE);
}

/* A lap of four frames with times of its own; two at once, none for a long time. */
static const uint64_t times[] = {0, 0, 5000, 5001};
#define LAP 100000

static void
make_times(struct fixture *f)
{
	f->paced = true;
	f->task.schedule = TX_TIMES;
	f->task.lap_times = times;
	f->task.lap_frames = COUNT(times);
	f->task.lap_cycles = LAP;
}

static uint64_t
due_of_times(uint64_t cycles)
{
	uint64_t due = 0;

	for (uint64_t k = 0; k / COUNT(times) * LAP + times[k % COUNT(times)] < cycles; k++)
		due++;
	return due;
}

static void
traces_keep_their_times(void **state)
{
	struct fixture *f = *state;

	make_times(f);
	for (uint64_t cycles = 0; cycles < 20 * LAP; cycles += 499) {
		look(f, cycles);
		assert_int_equal(f->frames_taken, due_of_times(cycles));
		assert_int_equal(f->counters.frames_due, f->frames_taken);
	}
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_in_range(f->counters.lateness_max_cycles, 1, 499);
}

static void
traces_give_up_what_is_too_late(void **state)
{
	struct fixture *f = *state;
	uint64_t later = 40ull * LAP + 10, in_time = 0;

	make_times(f);
	look(f, later);
	for (uint64_t k = 0; k < due_of_times(later); k++)
		in_time +=
			k / COUNT(times) * LAP + times[k % COUNT(times)] + WINDOW_CYCLES >= later;
	assert_int_equal(f->counters.frames_unsent, due_of_times(later) - in_time);
	assert_int_equal(f->frames_taken, in_time);
}

static void
traces_may_end_within_a_lap(void **state)
{
	struct fixture *f = *state;

	make_times(f);
	f->task.limit = 4 * COUNT(times) + 3;
	for (uint64_t cycles = 0; cycles < 10 * LAP; cycles += 1000)
		look(f, cycles);
	assert_int_equal(f->frames_taken, 4 * COUNT(times) + 3);
	assert_int_equal(f->counters.state, TASK_DONE);
}

static void
a_delay_shifts_everything(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->task.delay_cycles = 1000 * INTERVAL;
	for (uint64_t cycles = 0; cycles <= 1000 * INTERVAL; cycles += 777)
		look(f, cycles);
	assert_int_equal(f->calls, 0);
	look(f, 1000 * INTERVAL + 10);
	assert_int_equal(f->frames_taken, 1);
	assert_int_equal(f->counters.lateness_max_cycles, 10);
	look(f, 1010 * INTERVAL);
	assert_int_equal(f->frames_taken, 10);
}

static void
a_duration_ends_the_task_alone(void **state)
{
	static const uint64_t delays[] = {0, 1, 500 * INTERVAL};

	for (size_t i = 0; i < COUNT(delays); i++) {
		struct fixture *f = *state;
		uint64_t end = delays[i] + 100 * INTERVAL;

		make_paced(f, 0, 1);
		f->task.delay_cycles = delays[i];
		f->task.duration_cycles = 100 * INTERVAL;
		run(f, 0, end + 50 * INTERVAL, 700);
		assert_int_equal(f->frames_taken, 100);
		assert_int_equal(f->counters.frames_due, 100);
		assert_int_equal(f->counters.state, TASK_DONE);
		tear_down(state);
		set_up(state);
	}
}

static void
a_stop_during_the_delay_ends_it(void **state)
{
	for (unsigned int paced = 0; paced < 2; paced++) {
		struct fixture *f = *state;

		if (paced)
			make_paced(f, 0, 1);
		f->task.delay_cycles = 1000 * INTERVAL;
		f->traffic.stop_tsc = START + 10 * INTERVAL;
		look(f, 5 * INTERVAL);
		assert_int_equal(f->counters.state, TASK_ACTIVE);
		assert_false(look(f, 10 * INTERVAL));
		assert_int_equal(f->calls, 0);
		assert_int_equal(f->counters.frames_due, 0);
		tear_down(state);
		set_up(state);
	}
}

/* The last frame is due at 99 intervals; a window later a device that takes nothing has had its time. */
static void
a_limited_task_ends_before_a_dead_device(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->task.limit = 100;
	f->task.limit_cycles = 99 * INTERVAL;
	f->room = 0;
	run(f, 0, 99 * INTERVAL + WINDOW_CYCLES, INTERVAL / 2);
	assert_int_equal(f->counters.state, TASK_ACTIVE);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_false(look(f, 99 * INTERVAL + WINDOW_CYCLES + 1));
	assert_int_equal(f->counters.frames_unsent, 100);
	assert_int_equal(f->counters.frames_due, 100);
}

/* Half a window late, the device takes them after all. */
static void
a_limited_task_is_sent_late(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->task.limit = 100;
	f->task.limit_cycles = 99 * INTERVAL;
	f->room = 0;
	run(f, 0, 99 * INTERVAL + WINDOW_CYCLES / 2, INTERVAL);
	f->room = UINT16_MAX;
	run(f, 99 * INTERVAL + WINDOW_CYCLES / 2, 99 * INTERVAL + WINDOW_CYCLES, INTERVAL);
	assert_int_equal(f->frames_taken, 100);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.state, TASK_DONE);
}

static uint64_t
sleeps_until(struct fixture *f, uint64_t cycles, uint64_t quantum)
{
	return tx_task_sleeps_until(&f->task, &f->traffic, START + cycles, quantum) - START;
}

static void
a_worker_sleeps_while_nothing_is_due(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->task.delay_cycles = 5000;
	assert_int_equal(sleeps_until(f, 0, 100), 5000);
	f->task.delay_cycles = 0;
	look(f, 10);
	assert_int_equal(sleeps_until(f, 10, 100),
			 INTERVAL); /* the next frame is further than a quantum */
	assert_int_equal(sleeps_until(f, 10, 5000), 5010);
	f->traffic.stop_tsc = START + 2000;
	assert_int_equal(sleeps_until(f, 10, 5000), 2000);
	assert_int_equal(sleeps_until(f, 2000, 5000), 2000); /* to be ended now */
	f->traffic.stop_tsc = UINT64_MAX;
	look(f, 200 * INTERVAL); /* a burst, and more behind it */
	assert_int_equal(sleeps_until(f, 200 * INTERVAL, 5000), 200 * INTERVAL);
	f->task.retry_at = START + 201 * INTERVAL; /* a full device */
	assert_int_equal(sleeps_until(f, 200 * INTERVAL, 5000), 201 * INTERVAL);
	f->counters.state = TASK_DONE;
	assert_int_equal(sleeps_until(f, 0, 1), UINT64_MAX - START);
}

static void
a_task_without_a_rate_does_not_sleep(void **state)
{
	struct fixture *f = *state;

	look(f, 10);
	assert_int_equal(sleeps_until(f, 10, 1000), 10);
	f->task.retry_at = START + 500;
	assert_int_equal(sleeps_until(f, 10, 1000), 500);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bursts_have_their_gaps),
		TEST(bursts_due_cycles_are_those_of_their_frames),
		TEST(bursts_end_at_the_limit),
		TEST(traces_keep_their_times),
		TEST(traces_give_up_what_is_too_late),
		TEST(traces_may_end_within_a_lap),
		TEST(a_delay_shifts_everything),
		TEST(a_duration_ends_the_task_alone),
		TEST(a_stop_during_the_delay_ends_it),
		TEST(a_limited_task_ends_before_a_dead_device),
		TEST(a_limited_task_is_sent_late),
		TEST(a_worker_sleeps_while_nothing_is_due),
		TEST(a_task_without_a_rate_does_not_sleep),
	};

	return cmocka_run_group_tests_name("tx_schedule", tests, NULL, NULL);
}
