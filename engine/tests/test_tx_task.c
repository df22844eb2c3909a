/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending what is due: how much, when, in which order, and what becomes of what a device refuses.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: worker/tx_task.h, docs/design/0002.
 */
#include "tests/tx_task_fixture.h"

static void
paced_sends_what_is_due(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	for (uint64_t cycles = 0; cycles < 1000 * INTERVAL; cycles += 777) {
		look(f, cycles);
		assert_int_equal(f->frames_taken, due_after(f, cycles));
		assert_int_equal(f->counters.frames_due, f->frames_taken);
	}
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->shorts, 0);
	assert_int_equal(histogram_sum(f->counters.burst_cycles), f->counters.bursts);
	assert_int_equal(histogram_sum(f->counters.lateness_cycles), f->counters.bursts);
	assert_int_equal(f->counters.first_tsc, START + 777);
	assert_in_range(f->counters.lateness_max_cycles, 1, 777);
}

static void
lateness_is_that_of_the_first_frame(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	look(f, 500); /* frame 0 was due at 0 */
	assert_int_equal(f->counters.lateness_max_cycles, 500);
	look(f, 5 * INTERVAL); /* frame 1 was due at INTERVAL, frames 1…4 are sent */
	assert_int_equal(f->frames_taken, 5);
	assert_int_equal(f->counters.lateness_max_cycles, 4 * INTERVAL);
	look(f, 5 * INTERVAL + 10);
	assert_int_equal(f->counters.lateness_max_cycles, 4 * INTERVAL);
	assert_int_equal(f->counters.lateness_cycles[histogram_bucket(10)], 1);
	assert_int_equal(histogram_sum(f->counters.lateness_cycles), 3);
}

static void
paced_limit_is_exact(void **state)
{
	static const uint64_t limits[] = {1, 31, 32, 33, 99, 100, 101, 1000};

	for (size_t i = 0; i < COUNT(limits); i++) {
		struct fixture *f = *state;

		make_paced(f, 0, 1);
		f->task.limit = limits[i];
		run(f, 0, 3000 * INTERVAL, 5000);
		assert_int_equal(f->frames_taken, limits[i]);
		assert_int_equal(f->counters.frames_due, limits[i]);
		assert_int_equal(f->counters.frames_unsent, 0);
		assert_int_equal(f->counters.state, TASK_DONE);
		tear_down(state);
		set_up(state);
	}
}

/* A pause shorter than the window is made up for, a burst per look. */
static void
paced_catches_up_after_a_pause(void **state)
{
	struct fixture *f = *state;
	uint64_t later = 10 * INTERVAL + WINDOW_CYCLES - INTERVAL;

	make_paced(f, 0, 1);
	run(f, 0, 10 * INTERVAL, INTERVAL);
	for (uint64_t looks = 1; looks <= WINDOW_FRAMES / BURST + 1; looks++)
		look(f, later);
	assert_int_equal(f->frames_taken, due_after(f, later));
	assert_int_equal(f->counters.frames_unsent, 0);
}

/* After a longer one, what is past its time is given up, also when that is many times the ring. */
static void
paced_gives_up_after_a_long_pause(void **state)
{
	struct fixture *f = *state;
	uint64_t later = HZ * 60;

	make_paced(f, 0, 1);
	look(f, 1);
	look(f, later);
	assert_int_equal(f->counters.frames_due, 60 * FPS);
	assert_int_equal(f->counters.frames_unsent, 60 * FPS - 1 - WINDOW_FRAMES);
	for (unsigned int looks = 0; looks < 10; looks++)
		look(f, later);
	assert_int_equal(f->frames_taken, 1 + WINDOW_FRAMES);
	assert_int_equal(f->task.done, 60 * FPS);
}

/* A device holds the frames handed over last: those that are written must not be skipped onto one of them. */
static void
frames_given_up_leave_the_place_of_those_that_are_written(void **state)
{
	struct fixture *f = *state;
	uint64_t cycles;

	f->task.written = true;
	make_paced(f, 0, 1);
	cycles = run(f, 0, 7 * INTERVAL, INTERVAL);
	f->room = 0;
	cycles = run(f, cycles, 3 * WINDOW_CYCLES, INTERVAL);
	assert_int_equal(f->task.position, f->frames_taken);
	assert_true(f->counters.frames_unsent > WINDOW_FRAMES);
	f->room = UINT16_MAX;
	look(f, cycles);
	look(f, HZ * 60);
	assert_int_equal(f->task.position, f->frames_taken % RING);
	assert_int_equal(f->task.done, f->frames_taken + f->counters.frames_unsent);
}

static void
paced_refused_frames_are_unsent_after_the_window(void **state)
{
	struct fixture *f = *state;
	uint64_t cycles;

	make_paced(f, 0, 1);
	f->room = 0;
	cycles = run(f, 0, WINDOW_CYCLES, INTERVAL);
	assert_int_equal(f->counters.frames_unsent, 0); /* not yet */
	assert_int_equal(f->task.position, 0);
	cycles = run(f, cycles, 3 * WINDOW_CYCLES, INTERVAL);
	assert_int_equal(f->counters.frames_unsent,
			 due_after(f, cycles - INTERVAL) - WINDOW_FRAMES);
	assert_int_equal(f->frames_taken, 0);
	assert_int_equal(f->counters.first_tsc, 0);
	f->room = UINT16_MAX; /* the backlog goes out at once, from where the giving up ended */
	run(f, cycles + 1, cycles + 20, 1);
	assert_int_equal(f->frames_taken, WINDOW_FRAMES);
	assert_int_equal(f->task.done, due_after(f, cycles + 1));
}

static void
paced_device_that_stays_full_ends_in_time(void **state)
{
	struct fixture *f = *state;
	uint64_t duration = 5 * WINDOW_CYCLES;

	make_paced(f, 0, 1);
	f->room = 0;
	f->traffic.stop_tsc = START + duration;
	run(f, 0, duration + WINDOW_CYCLES + 1, INTERVAL / 2);
	assert_int_equal(f->counters.state, TASK_ACTIVE);
	assert_int_equal(f->counters.frames_unsent, due_after(f, duration) - WINDOW_FRAMES);
	assert_false(look(f, duration + WINDOW_CYCLES + 1));
	assert_int_equal(f->counters.frames_unsent, due_after(f, duration));
	assert_int_equal(f->counters.frames_due, due_after(f, duration));
	assert_int_equal(f->frames_taken, 0);
}

static void
paced_stop_is_respected(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->traffic.stop_tsc = START + 1000 * INTERVAL;
	run(f, 0, 5000 * INTERVAL, 3 * INTERVAL);
	assert_int_equal(f->frames_taken, 1000);
	assert_int_equal(f->counters.frames_due, 1000);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.state, TASK_DONE);
}

/* What was due before the stop may still be sent for a window, what comes later is never due. */
static void
paced_backlog_is_sent_after_the_stop(void **state)
{
	struct fixture *f = *state;
	uint64_t duration = 100 * INTERVAL;

	make_paced(f, 0, 1);
	f->traffic.stop_tsc = START + duration;
	look(f, duration + WINDOW_CYCLES / 2);
	assert_int_equal(f->frames_taken, BURST);
	for (unsigned int looks = 0; looks < 10; looks++)
		look(f, duration + WINDOW_CYCLES / 2 + looks);
	assert_int_equal(f->frames_taken, 100);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.state, TASK_DONE);
}

static void
paced_without_time_sends_nothing(void **state)
{
	for (uint32_t part = 0; part < 4; part++) {
		struct fixture *f = *state;

		make_paced(f, part, 4);
		/* A cycle before its first frame is due; frame 0 is due at once, not before. */
		f->traffic.stop_tsc = START + part * INTERVAL - (part > 0);
		assert_false(look(f, part * INTERVAL));
		assert_int_equal(f->calls, 0);
		assert_int_equal(f->counters.frames_due, 0);
		tear_down(state);
		set_up(state);
	}
}

/*
 * program_stop_tx() stops at the control thread's clock; a worker that has not seen the new stop
 * yet has looked at a later clock, and may have sent a frame that was due in between.
 */
static void
paced_stop_before_the_last_look(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	run(f, 0, 100 * INTERVAL, 100);
	f->traffic.stop_tsc = START + 100 * INTERVAL - INTERVAL - 100;
	for (uint64_t cycles = 100 * INTERVAL; cycles < 1000 * INTERVAL; cycles += 100)
		look(f, cycles);
	assert_int_equal(f->frames_taken, 100);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.frames_due, 100); /* never less than done */
	assert_int_equal(f->counters.state, TASK_DONE);
}

/* A device in all moods, a worker with odd pauses: nothing lost, doubled or out of order. */
static void
random_device(struct fixture *f, uint64_t seed)
{
	uint64_t duration = 4000 * INTERVAL, cycles = 0;

	f->task.prefetch = seed % 2 != 0;
	f->task.limit = seed % 3 == 0 ? random_next(&seed) % 4000 + 1 : UINT64_MAX;
	f->traffic.stop_tsc = START + duration;
	while (f->counters.state != TASK_DONE) {
		uint64_t mood = random_next(&seed);

		f->room = mood % 4 == 0 ? 0 : (uint16_t)(mood >> 8 & 63);
		look(f, cycles);
		if (f->paced)
			assert_true(f->task.done <= due_after(f, cycles));
		cycles += mood % 1000 == 1 ? 2 * WINDOW_CYCLES : mood >> 32 & 0x7fff;
		assert_true(cycles < duration + 10 * WINDOW_CYCLES);
	}
	if (f->paced)
		assert_int_equal(f->task.done, due_after(f, duration));
	assert_int_equal(f->counters.frames_due, f->task.done);
}

static void
random_devices(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct fixture *f = *state;

		if (seed % 4 < 2)
			make_paced(f, 0, 1);
		random_device(f, seed);
		tear_down(state);
		set_up(state);
	}
}

static void
unpaced_limit_is_exact(void **state)
{
	static const uint64_t limits[] = {1, 31, 32, 33, 99, 100, 101, 1000};

	for (size_t i = 0; i < COUNT(limits); i++) {
		struct fixture *f = *state;

		f->task.limit = limits[i];
		run(f, 0, 100, 1);
		assert_int_equal(f->frames_taken, limits[i]);
		assert_int_equal(f->calls, (limits[i] + BURST - 1) / BURST);
		assert_int_equal(f->counters.frames_due, limits[i]);
		assert_int_equal(f->counters.state, TASK_DONE);
		assert_int_equal(histogram_sum(f->counters.lateness_cycles), 0);
		tear_down(state);
		set_up(state);
	}
}

static void
unpaced_ends_with_the_clock(void **state)
{
	struct fixture *f = *state;

	f->traffic.stop_tsc = START + 1000;
	run(f, 0, 1000, 1);
	assert_int_equal(f->frames_taken, 1000 * BURST);
	assert_false(look(f, 1000));
	assert_int_equal(f->frames_taken, 1000 * BURST);
	assert_int_equal(f->counters.frames_due, 1000 * BURST);
	assert_int_equal(f->counters.frames_unsent, 0);
}

static void
unpaced_partial_bursts_keep_the_order(void **state)
{
	struct fixture *f = *state;

	f->task.limit = 10 * RING;
	for (uint64_t cycles = 0; f->counters.state != TASK_DONE; cycles++) {
		f->room = (uint16_t)(cycles % 7 + (cycles % 3 == 0 ? BURST : 0));
		look(f, cycles);
		assert_true(cycles < 1000);
	}
	assert_int_equal(f->frames_taken, 10 * RING);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_true(f->shorts > 0);
}

/* Standing still loses a burst per window; taking a frame now and then, nothing. */
static void
unpaced_standstill_gives_up_a_burst_per_window(void **state)
{
	struct fixture *f = *state;
	uint64_t t = 10;

	f->room = 0;
	for (unsigned int lap = 0; lap < 5; lap++) {
		look(f, t);
		look(f, t + 1);
		look(f, t + WINDOW_CYCLES);
		assert_int_equal(f->task.done, lap * BURST);
		look(f, t += WINDOW_CYCLES + 1);
		assert_int_equal(f->counters.frames_unsent, (lap + 1) * BURST);
	}
	f->room = 1;
	look(f, t + WINDOW_CYCLES - 1);
	f->room = 0;
	look(f, t + WINDOW_CYCLES);
	look(f, t + 2 * WINDOW_CYCLES); /* exactly a window since */
	assert_int_equal(f->counters.frames_unsent, 5 * BURST);
	assert_int_equal(f->frames_taken, 1);
}

static void
unpaced_standstill_ends_at_the_limit(void **state)
{
	struct fixture *f = *state;

	f->room = 0;
	f->task.limit = 2 * BURST + 1;
	run(f, 0, 20 * (uint64_t)WINDOW_CYCLES, WINDOW_CYCLES / 2);
	assert_int_equal(f->counters.frames_unsent, 2 * BURST + 1);
	assert_int_equal(f->counters.state, TASK_DONE);
}

/* The pause begins at the clock after the call, which is the machine's own here. */
static void
a_full_device_is_left_in_peace(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	f->task.refill_frames = 768;
	f->task.pause_cycles_max = 1000;
	f->room = 0;
	before = rte_rdtsc();
	look(f, 10);
	assert_int_equal(f->calls, 1);
	assert_in_range(f->task.retry_at, before + 1000, rte_rdtsc() + 1000);
	f->task.retry_at = START + 500;
	look(f, 499);
	assert_int_equal(f->calls, 1);
	f->room = UINT16_MAX;
	look(f, 500);
	assert_int_equal(f->calls, 2);
	assert_int_equal(f->frames_taken, BURST);
}

static void
the_pause_is_the_time_that_a_refill_takes(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	f->task.refill_frames = 3 * BURST;
	f->task.pause_cycles_max = 1000000000;
	f->task.full_tsc = rte_rdtsc() - 1000000; /* a burst within 1 M cycles: three in 3 M */
	f->room = BURST / 2;
	look(f, 10);
	f->task.full_done = 0;
	f->task.full_tsc = rte_rdtsc() - 1000000;
	f->task.retry_at = 0;
	before = rte_rdtsc();
	look(f, 20); /* another half: a whole burst since */
	assert_in_range(f->task.retry_at, before + 3000000, rte_rdtsc() + 3 * 2000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paced_sends_what_is_due),
		TEST(lateness_is_that_of_the_first_frame),
		TEST(paced_limit_is_exact),
		TEST(paced_catches_up_after_a_pause),
		TEST(paced_gives_up_after_a_long_pause),
		TEST(frames_given_up_leave_the_place_of_those_that_are_written),
		TEST(paced_refused_frames_are_unsent_after_the_window),
		TEST(paced_device_that_stays_full_ends_in_time),
		TEST(paced_stop_is_respected),
		TEST(paced_backlog_is_sent_after_the_stop),
		TEST(paced_without_time_sends_nothing),
		TEST(paced_stop_before_the_last_look),
		TEST(random_devices),
		TEST(unpaced_limit_is_exact),
		TEST(unpaced_ends_with_the_clock),
		TEST(unpaced_partial_bursts_keep_the_order),
		TEST(unpaced_standstill_gives_up_a_burst_per_window),
		TEST(unpaced_standstill_ends_at_the_limit),
		TEST(a_full_device_is_left_in_peace),
		TEST(the_pause_is_the_time_that_a_refill_takes),
	};

	return cmocka_run_group_tests_name("tx_task", tests, NULL, NULL);
}
