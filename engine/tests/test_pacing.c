/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule of a tx task, against exact rational arithmetic: rates are whole numbers of eighths
 * of a frame per second, so that every due time is a fraction of 128-bit integers.
 *
 * Run by `meson test`, no DPDK. Source: schedule/pacing.h.
 */
#include <math.h>

#include "tests/test_support.h"
#include "schedule/pacing.h"

#define PARTS_MAX 16
#define DAY_SECONDS UINT64_C(86400)

typedef unsigned __int128 u128;

static const uint64_t clocks[] = {2100000000, 2500000000, 2700000000, 3000000000, 2593906123};

/* [frames / 8 s] 1 fps … 400 Mfps, line rates of 1…100 Gbit/s among them; then random ones. */
static const uint64_t known_rates[] = {
	8,        9,         12,         8 * 10,    8 * 1000,      8 * 81274,     8 * 812743,
	11904762, 8 * 84459, 8 * 148810, 119047619, 8 * 1000000,   8 * 1488095,   8 * 14880952,
	11904769, 119047620, 476190476,  595238095, 8 * 100000000, 8 * 148809523, 3200000000,
};

enum { RATES = 400 };

static uint64_t
rate_of(unsigned int i)
{
	uint64_t seed = i;

	return i < COUNT(known_rates) ? known_rates[i] : 8 + random_next(&seed) % 3200000000u;
}

static struct pacing
make(uint64_t eighths, uint32_t part, uint32_t parts, uint64_t hz)
{
	struct pacing pacing = {0};

	assert_true(pacing_init(&pacing, (double)eighths / 8, part, parts, hz));
	return pacing;
}

/* Frames k with (k + part/parts) * interval < elapsed; interval = 8 * hz * parts / eighths. */
static uint64_t
exactly_due(uint64_t eighths, uint32_t part, uint32_t parts, uint64_t hz, uint64_t elapsed)
{
	u128 numerator = (u128)eighths * elapsed, interval = (u128)8 * hz * parts;
	u128 late = (u128)8 * hz * part;

	return numerator <= late ? 0 : (uint64_t)((numerator - late - 1) / interval) + 1;
}

/* How many rates have a frame too many due after `seconds`; fails when one has two. */
static unsigned int
one_too_many(uint64_t seconds)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < RATES * COUNT(clocks); i++) {
		uint64_t hz = clocks[i % COUNT(clocks)], rate = rate_of(i / COUNT(clocks));
		struct pacing pacing = make(rate, 0, 1, hz);
		uint64_t due = pacing_frames_due(&pacing, seconds * hz);
		uint64_t exact = exactly_due(rate, 0, 1, hz, seconds * hz);

		assert_in_range(due, exact, exact + 1);
		found += due != exact;
	}
	return found;
}

static void
first_frame_is_due_at_once(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RATES; i++) {
		struct pacing pacing = make(rate_of(i), 0, 1, clocks[i % COUNT(clocks)]);

		assert_int_equal(pacing_frames_due(&pacing, 0), 0);
		assert_int_equal(pacing_frames_due(&pacing, 1), 1);
		assert_int_equal(pacing_due_cycle(&pacing, 0), 0);
	}
}

static void
whole_seconds_carry_the_rate_within_a_frame(void **state)
{
	static const uint64_t seconds[] = {1, 2, 3, 10, 60, 3600, DAY_SECONDS};

	(void)state;
	for (size_t i = 0; i < COUNT(seconds); i++)
		one_too_many(seconds[i]);
}

static void
whole_seconds_carry_the_rate_exactly(void **state)
{
	(void)state;
	for (uint64_t seconds = 1; seconds <= DAY_SECONDS; seconds *= 60)
		assert_int_equal(one_too_many(seconds), 0);
	for (uint64_t fps = 1734607; fps <= 1734607 + 20000; fps++) {
		struct pacing pacing = make(8 * fps, 0, 1, 2100000000);

		assert_int_equal(pacing_frames_due(&pacing, 2100000000), fps);
	}
}

/* A part counts a frame due just now, the whole stream does not: dyadic rates show it. */
static void
parts_sum_up_exactly_after_whole_seconds(void **state)
{
	static const uint64_t rates[] = {9765625, 9765625u * 2, 9765625u * 4, 1000000, 14880952};

	(void)state;
	for (size_t i = 0; i < COUNT(rates); i++) {
		for (uint32_t parts = 1; parts <= PARTS_MAX; parts++) {
			uint64_t sum = 0;

			for (uint32_t part = 0; part < parts; part++) {
				struct pacing pacing = make(8 * rates[i], part, parts, 2500000000);

				sum += pacing_frames_due(&pacing, 2500000000);
			}
			assert_int_equal(sum, rates[i]);
		}
	}
}

static void
no_drift_within_a_day(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned int i = 0; i < RATES * 100; i++) {
		uint64_t hz = clocks[i % COUNT(clocks)], rate = rate_of(i % RATES);
		uint64_t elapsed = 1 + random_next(&seed) % (DAY_SECONDS * hz);
		struct pacing pacing = make(rate, 0, 1, hz);

		/* A cycle of tolerance each way: far from its time, a frame is counted right. */
		assert_in_range(pacing_frames_due(&pacing, elapsed),
				exactly_due(rate, 0, 1, hz, elapsed - 1),
				exactly_due(rate, 0, 1, hz, elapsed + 1));
	}
}

static void
check_parts(uint64_t rate, uint32_t parts, uint64_t hz, uint64_t elapsed)
{
	struct pacing whole = make(rate, 0, 1, hz);
	uint64_t sum = 0, due = pacing_frames_due(&whole, elapsed);

	for (uint32_t part = 0; part < parts; part++) {
		struct pacing pacing = make(rate, part, parts, hz);

		sum += pacing_frames_due(&pacing, elapsed);
	}
	assert_in_range(sum + 1, due, due + 2);
}

static void
parts_sum_up_to_the_stream(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (unsigned int i = 0; i < RATES * PARTS_MAX; i++) {
		uint64_t hz = clocks[i % COUNT(clocks)], rate = rate_of(i / PARTS_MAX);
		uint32_t parts = 1 + i % PARTS_MAX;

		for (uint64_t elapsed = 1; elapsed < DAY_SECONDS * hz; elapsed *= 10)
			check_parts(rate, parts, hz, elapsed + random_next(&seed) % elapsed);
		check_parts(rate, parts, hz, 0);
		check_parts(rate, parts, hz, hz);
		check_parts(rate, parts, hz, 60 * hz);
	}
}

/* Frame k of part p is the stream's frame k * parts + p, so it is due when the stream says. */
static void
parts_interleave_evenly(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (unsigned int i = 0; i < RATES * PARTS_MAX * 10; i++) {
		uint64_t hz = clocks[i % COUNT(clocks)], rate = rate_of(i % RATES);
		uint32_t parts = 1 + i % PARTS_MAX, p = (uint32_t)(random_next(&seed) % parts);
		uint64_t k = random_next(&seed) % 1000000 * rate / 3200000000u;
		struct pacing whole = make(rate, 0, 1, hz), part = make(rate, p, parts, hz);
		uint64_t stream = pacing_due_cycle(&whole, k * parts + p);

		assert_in_range(pacing_due_cycle(&part, k) + 1, stream, stream + 2);
	}
}

static void
a_part_waits_for_its_share_of_an_interval(void **state)
{
	(void)state;
	for (uint32_t parts = 1; parts <= PARTS_MAX; parts++) {
		for (uint32_t part = 1; part < parts; part++) {
			struct pacing pacing = make(8 * 1000, part, parts, 2500000000);
			uint64_t due = UINT64_C(2500000) * part; /* stream frame `part` */

			assert_int_equal(pacing_frames_due(&pacing, due - 1), 0);
			assert_int_equal(pacing_frames_due(&pacing, due + 1), 1);
			assert_int_equal(pacing_frames_due(&pacing, due + 2500000u * parts - 1), 1);
			assert_int_equal(pacing_frames_due(&pacing, due + 2500000u * parts + 1), 2);
		}
	}
}

/*
 * Cycles by which the two may differ: one each, and what the cut-off rate loses until then, below
 * 2^-64 frames per cycle (pacing.h): more than a cycle for slow rates only, and far from a frame.
 */
static void
check_due_cycle(uint64_t rate, uint32_t part, uint32_t parts, uint64_t hz, uint64_t about)
{
	struct pacing pacing = make(rate, part, parts, hz);
	uint64_t k = (uint64_t)((u128)about * rate / ((u128)8 * hz * parts));
	uint64_t cycle = pacing_due_cycle(&pacing, k);
	uint64_t cut_off = (uint64_t)((double)about * pacing.cycles_per_frame * 0x1p-64);

	if (cycle > 1)
		assert_true(pacing_frames_due(&pacing, cycle - 1) <= k);
	assert_true(pacing_frames_due(&pacing, cycle + 2 + cut_off) > k);
}

static void
due_cycle_agrees_with_frames_due(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (unsigned int i = 0; i < 400000; i++) {
		uint64_t hz = clocks[i % COUNT(clocks)], rate = rate_of(i % RATES);
		uint32_t parts = 1 + i % PARTS_MAX, part = (uint32_t)(random_next(&seed) % parts);
		uint64_t about = random_next(&seed) >> (12 + random_next(&seed) % 40);

		check_due_cycle(rate, part, parts, hz, about);
	}
}

static void
what_cannot_be_paced_is_refused(void **state)
{
	const double hz = 2500000000.0;
	struct pacing pacing;

	(void)state;
	assert_false(pacing_init(&pacing, 0.0, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, -1.0, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, NAN, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, INFINITY, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, -INFINITY, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, hz, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, 2 * hz, 0, 2, 2500000000));
	assert_false(pacing_init(&pacing, 1e12, 0, 1, 2500000000));
	assert_false(pacing_init(&pacing, 1e-300, 0, 1, 2500000000));
	assert_false(
		pacing_init(&pacing, 1e-10, 0, 1, 2500000000)); /* below 2^-64 frames per cycle */
	assert_true(pacing_init(&pacing, nextafter(hz, 0), 0, 1, 2500000000));
	assert_int_equal(pacing_frames_due(&pacing, 2500000000), 2500000000);
	assert_true(pacing_init(&pacing, hz, 0, 2, 2500000000)); /* the limit is each part's */
	assert_true(pacing_init(&pacing, 1e-6, 0, 1, 2500000000));
	assert_int_equal(pacing_frames_due(&pacing, UINT64_C(2500000000) * 999999), 1);
	assert_int_equal(pacing_frames_due(&pacing, UINT64_C(2500000000) * 1000200), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_frame_is_due_at_once),
		cmocka_unit_test(whole_seconds_carry_the_rate_within_a_frame),
		cmocka_unit_test(whole_seconds_carry_the_rate_exactly),
		cmocka_unit_test(parts_sum_up_exactly_after_whole_seconds),
		cmocka_unit_test(no_drift_within_a_day),
		cmocka_unit_test(parts_sum_up_to_the_stream),
		cmocka_unit_test(parts_interleave_evenly),
		cmocka_unit_test(a_part_waits_for_its_share_of_an_interval),
		cmocka_unit_test(due_cycle_agrees_with_frames_due),
		cmocka_unit_test(what_cannot_be_paced_is_refused),
	};

	return cmocka_run_group_tests_name("pacing", tests, NULL, NULL);
}
