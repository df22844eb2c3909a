/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rate that changes while frames move, whole bursts, and who sleeps meanwhile.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: schedule/tx_rate.h, program/program_rate.h, docs/design/0007.
 */
#include "tests/tx_task_fixture.h"

#include "program/program_rate.h"
#include "schedule/tx_sleep.h"

enum { PARTS = 4 };

/* The rates of one stream of FPS frames per second over so many parts, and one that cannot be changed. */
static struct program_rates *
make_rates(uint32_t parts)
{
	struct stream_config streams[] = {
		{.name = "s0", .has_fps = true, .fps = (double)FPS, .parts = parts},
		{.name = "bursts", .has_fps = true, .fps = 1, .parts = 1, .has_burst = true},
		{.name = "full", .parts = 1},
		{.name = "short",
		 .has_fps = true,
		 .fps = 1,
		 .parts = 1,
		 .has_duration = true,
		 .duration_ns = 1000},
	};
	struct program_config config = {.streams = streams, .n_streams = COUNT(streams)};
	struct program_rates *rates = NULL;

	assert_int_equal(program_rates_create(&rates, &config, HZ, NULL), 0);
	return rates;
}

static void
make_changeable(struct fixture *f, const struct program_rates *rates, uint32_t part, uint32_t parts)
{
	make_paced(f, part, parts);
	f->task.phase_loaded_q64 = f->task.pacing.phase_q64;
	f->task.rate = program_rate_of(rates, 0);
	assert_non_null(f->task.rate);
}

static void
set_rate(struct fixture *f, struct program_rates *rates, double fps, uint64_t cycles)
{
	assert_int_equal(program_rates_set(rates, &f->traffic, "s0", fps, START + cycles, NULL), 0);
}

static void
frames_follow_the_rate(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);
	uint64_t at = 0;

	make_changeable(f, rates, 0, 1);
	for (; at < 1000 * INTERVAL; at += 100)
		look(f, at);
	assert_int_equal(f->frames_taken, 1000);
	set_rate(f, rates, 8.0 * FPS, 1500 * INTERVAL); /* ahead: the old rate until then */
	for (; at <= 1500 * INTERVAL; at += 100)
		look(f, at);
	assert_in_range(f->frames_taken, 1499, 1501);
	for (; at < 2000 * INTERVAL; at += 100)
		look(f, at);
	look(f, 2000 * INTERVAL);
	assert_in_range(f->frames_taken, 1500 + 500 * 8 - 1, 1500 + 500 * 8);
	set_rate(f, rates, FPS / 4.0, 2000 * INTERVAL);
	for (at = 2000 * INTERVAL; at < 6000 * INTERVAL; at += 100)
		look(f, at);
	look(f, 6000 * INTERVAL);
	assert_in_range(f->frames_taken, 6499, 6500); /* 1500 + 4000 + 1000 */
	assert_int_equal(f->counters.frames_due, f->frames_taken);
	assert_int_equal(f->counters.frames_unsent, 0);
	program_rates_free(rates);
}

/* Whoever looks when, and misses which change: the parts' frames stay evenly spaced. */
static void
parts_stay_interleaved(void **state)
{
	static const double rates_fps[] = {3.7 * FPS, 0.11 * FPS, 1.93 * FPS, 0.7 * FPS};
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(PARTS);
	struct tx_task tasks[PARTS];
	const struct tx_span span = {START, UINT64_MAX};
	double interval = HZ / rates_fps[COUNT(rates_fps) - 1];
	uint64_t elapsed = 0, before = 0, sum = 0;

	for (uint32_t p = 0; p < PARTS; p++) {
		make_changeable(f, rates, p, PARTS);
		tasks[p] = f->task;
	}
	for (size_t i = 0; i < COUNT(rates_fps); i++) {
		elapsed += 777777 + 100003 * i;
		set_rate(f, rates, rates_fps[i], elapsed);
		for (uint32_t p = i % 2; p < PARTS; p += 2) /* each misses every other one */
			tx_task_take_rate(&tasks[p], &f->traffic, &span, START + elapsed + p);
	}
	for (uint32_t p = 0; p < PARTS; p++)
		tx_task_take_rate(&tasks[p], &f->traffic, &span, START + elapsed + 50 * p);
	for (uint32_t p = 0; p < PARTS; p++)
		sum += tx_task_frames_due(&tasks[p], elapsed);
	for (uint64_t k = sum; k < sum + 400; k++) { /* the stream's frame k is due next */
		uint32_t p = k % PARTS;
		uint64_t due = tx_task_due_cycle(&tasks[p], k / PARTS);

		assert_true(due + 1 >= elapsed);
		if (before > 0)
			assert_in_range(due - before, (uint64_t)interval - 1,
					(uint64_t)interval + 2);
		before = due;
	}
	program_rates_free(rates);
}

/* The sum over all parts is the integral of the rate, exactly. */
static void
nothing_is_lost_by_many_changes(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);
	const struct tx_span span = {START, UINT64_MAX};
	uint64_t elapsed = 0, seed = 1;
	long double frames = 0, fps = FPS;

	make_changeable(f, rates, 0, 1);
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t step = random_next(&seed) % (HZ / 100);

		elapsed += step;
		frames += fps * step / HZ;
		fps = 1 + random_next(&seed) % (HZ / 2);
		set_rate(f, rates, (double)fps, elapsed);
	}
	tx_task_take_rate(&f->task, &f->traffic, &span, START + elapsed);
	assert_in_range(pacing_frames_due(&f->task.pacing, elapsed), (uint64_t)frames,
			(uint64_t)frames + 1);
	program_rates_free(rates);
}

static void
what_was_due_stays_due(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);
	uint64_t at, due = 0;

	make_changeable(f, rates, 0, 1);
	f->room = 0;
	look(f, 100 * INTERVAL);
	assert_int_equal(f->counters.frames_due, 100);
	set_rate(f, rates, FPS / 64.0, 50 * INTERVAL); /* told 50 frames too late */
	for (at = 100 * INTERVAL; at < 3000 * INTERVAL; at += INTERVAL) {
		look(f, at);
		assert_true(f->counters.frames_due >= due);
		due = f->counters.frames_due;
	}
	assert_int_equal(due, 100);
	f->room = UINT16_MAX;
	for (; at < 6450 * INTERVAL; at += INTERVAL)
		look(f, at);
	assert_in_range(f->counters.frames_due, 149, 150); /* 50 + 6400 / 64 */
	assert_int_equal(f->frames_taken + f->counters.frames_unsent, f->counters.frames_due);
	program_rates_free(rates);
}

static void
a_waiting_task_notices(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);

	make_changeable(f, rates, 0, 1);
	look(f, 1);
	set_rate(f, rates, 1e-3, 10);
	look(f, 20);
	assert_true(f->task.next_tsc > START + HZ);
	set_rate(f, rates, (double)FPS, 1000000);
	look(f, 999999);
	assert_int_equal(f->frames_taken, 1);
	look(f, 1000000 + 10 * INTERVAL);
	assert_in_range(f->frames_taken, 10, 11);
	program_rates_free(rates);
}

static void
a_limited_task_ends_by_its_new_rate(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);

	make_changeable(f, rates, 0, 1);
	f->task.limit = 100;
	f->task.limit_cycles = tx_task_due_cycle(&f->task, 99);
	look(f, 10 * INTERVAL);
	set_rate(f, rates, FPS / 100.0, 10 * INTERVAL);
	look(f, 5000 * INTERVAL);
	assert_in_range(f->task.limit_cycles, 8900 * INTERVAL, 9010 * INTERVAL);
	assert_in_range(f->task.window_frames, 2, 3);
	for (uint64_t at = 5000 * INTERVAL; at < 9100 * INTERVAL; at += INTERVAL)
		look(f, at);
	assert_int_equal(f->counters.state, TASK_DONE);
	assert_int_equal(f->task.done, 100);
	program_rates_free(rates);
}

static void
a_rate_that_is_being_written_is_not_read(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);

	make_changeable(f, rates, 0, 1);
	set_rate(f, rates, 2.0 * FPS, 0);
	f->traffic.rate_changes++;
	look(f, 100 * INTERVAL);
	assert_int_equal(f->counters.frames_due, 100);
	f->traffic.rate_changes--;
	look(f, 100 * INTERVAL);
	assert_in_range(f->counters.frames_due, 200, 201);
	program_rates_free(rates);
}

static void
changes_of_others_are_passed_over(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->traffic.rate_changes = 2;
	look(f, 100 * INTERVAL);
	assert_int_equal(f->counters.frames_due, 100);
	assert_int_equal(f->task.rate_changes, 2);
}

static void
assert_refused(struct program_rates *rates, struct traffic *traffic, const char *stream, double fps,
	       int code, const char *words)
{
	struct error err = {0};

	assert_int_equal(program_rates_set(rates, traffic, stream, fps, START + 10, &err), code);
	assert_non_null(strstr(err.text, words));
	assert_int_equal(traffic->rate_changes, 0);
}

static void
refusals(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);
	struct traffic *traffic = &f->traffic;

	assert_null(program_rate_of(rates, 1));
	assert_null(program_rate_of(rates, 2));
	assert_refused(rates, traffic, "s1", 1, -ENOENT, "no stream is called \"s1\"");
	assert_refused(rates, traffic, "bursts", 1, -EINVAL, "it has bursts");
	assert_refused(rates, traffic, "full", 1, -EINVAL, "as fast as can be");
	assert_refused(rates, traffic, "s0", 2.0 * HZ, -EINVAL, "cannot be paced by a clock");
	traffic->stop_tsc = START + 10;
	assert_refused(rates, traffic, "s0", 1, -EINVAL, "\"s0\" has ended");
	traffic->stop_tsc = UINT64_MAX;
	traffic->start_tsc = START - 2000; /* 1,074 cycles are a microsecond */
	assert_refused(rates, traffic, "short", 1, -EINVAL, "\"short\" has ended");
	traffic->start_tsc = TRAFFIC_NOT_STARTED;
	assert_refused(rates, traffic, "s0", 1, -EINVAL, "traffic.start comes first");
	program_rates_free(rates);
}

static void
whole_bursts_wait_until_they_are_due(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->task.hold_frames = BURST - 1;
	f->task.limit = 10 * BURST + 5;
	f->task.limit_cycles = tx_task_due_cycle(&f->task, f->task.limit - 1);
	for (uint64_t at = 0; at < 300 * INTERVAL; at += 100) {
		look(f, at);
		assert_int_equal(f->frames_taken, (at + INTERVAL - 1) / INTERVAL / BURST * BURST);
	}
	run(f, 300 * INTERVAL, 400 * INTERVAL, 100);
	assert_int_equal(f->frames_taken, 10 * BURST + 5); /* the rest goes, too */
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.state, TASK_DONE);
}

static void
whole_bursts_leave_nothing_at_a_stop(void **state)
{
	struct fixture *f = *state;

	make_paced(f, 0, 1);
	f->task.hold_frames = BURST - 1;
	f->traffic.stop_tsc = START + 77 * INTERVAL;
	run(f, 0, 80 * INTERVAL, 100);
	assert_int_equal(f->frames_taken, 77);
	assert_int_equal(f->counters.frames_due, 77);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.state, TASK_DONE);
}

static uint64_t
sleeps_until(struct fixture *f, uint64_t cycles, uint64_t quantum)
{
	return tx_task_sleeps_until(&f->task, &f->traffic, START + cycles, quantum) - START;
}

/* No longer than a quantum at a time, and awake when a frame is due. */
static void
a_changeable_task_sleeps_lightly(void **state)
{
	struct fixture *f = *state;
	struct program_rates *rates = make_rates(1);

	make_changeable(f, rates, 0, 1);
	look(f, 10);
	assert_int_equal(sleeps_until(f, 24, 100), 124);
	assert_int_equal(sleeps_until(f, 874, 100), INTERVAL - 100);
	assert_int_equal(sleeps_until(f, INTERVAL - 100, 100), INTERVAL);
	assert_int_equal(sleeps_until(f, INTERVAL - 50, 100), INTERVAL + 50);
	f->task.hold_frames = 9;
	assert_int_equal(sleeps_until(f, 24, 9 * INTERVAL), INTERVAL); /* frame 10 is awaited */
	assert_int_equal(sleeps_until(f, 1024, 8 * INTERVAL), 2 * INTERVAL);
	program_rates_free(rates);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_follow_the_rate),
		TEST(parts_stay_interleaved),
		TEST(nothing_is_lost_by_many_changes),
		TEST(what_was_due_stays_due),
		TEST(a_waiting_task_notices),
		TEST(a_limited_task_ends_by_its_new_rate),
		TEST(a_rate_that_is_being_written_is_not_read),
		TEST(changes_of_others_are_passed_over),
		TEST(refusals),
		TEST(whole_bursts_wait_until_they_are_due),
		TEST(whole_bursts_leave_nothing_at_a_stop),
		TEST(a_changeable_task_sleeps_lightly),
	};

	return cmocka_run_group_tests_name("tx_rate", tests, NULL, NULL);
}
