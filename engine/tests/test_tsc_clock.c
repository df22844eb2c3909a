/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TSC's frequency: found whatever was believed before, as well as its bound says, begun anew when it changes, and
 * not by readings of a thread that was interrupted.
 *
 * Run by `meson test`; no EAL. Source: base/tsc_clock.h.
 */
#include <math.h>
#include <unistd.h>

#include "tests/test_support.h"

#include "base/tsc_clock.h"

#define HZ 2596125890.0
#define NOISE_CYCLES 100

/* As a machine's clocks would show `ns` after its start, `late` cycles of `width` of them before the TSC's middle. */
static struct clock_reading
reading(double hz, int64_t ns, uint64_t width, int64_t late)
{
	return (struct clock_reading){
		.tsc = (uint64_t)(5e9 + (double)ns * hz / 1e9 + (double)late),
		.width = width,
		.raw_ns = 1000 + ns,
	};
}

static void
note(struct tsc_clock *clock, double hz, int64_t ns, uint64_t width, int64_t late)
{
	struct clock_reading now = reading(hz, ns, width, late);

	tsc_clock_note(clock, &now);
}

static double
ppm_off(const struct tsc_clock *clock, double hz)
{
	return fabs(clock->hz / hz - 1) * 1e6;
}

static void
believe(struct tsc_clock *clock, double ppm)
{
	struct clock_reading first = reading(HZ, 0, NOISE_CYCLES, 0);

	tsc_clock_start(clock, &first);
	clock->dpdk_hz = (uint64_t)(HZ * (1 + ppm / 1e6));
}

static void
any_wrong_belief_is_corrected(void **state)
{
	static const double wrong_ppm[] = {0, 100, 1000, -1000, 1494, 10000, -10000};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong_ppm); i++) {
		struct tsc_clock clock;

		believe(&clock, wrong_ppm[i]);
		assert_int_equal(tsc_clock_hz(&clock), clock.dpdk_hz); /* nothing better is known */
		note(&clock, HZ, 110000000, NOISE_CYCLES, NOISE_CYCLES / 2);
		assert_true(clock.bound_ppm < TSC_CLOCK_GOAL_PPM);
		assert_true(ppm_off(&clock, HZ) <= clock.bound_ppm);
		assert_in_range(tsc_clock_hz(&clock), (uint64_t)HZ - 2000, (uint64_t)HZ + 2000);
	}
}

/* Half a width is the worst that a reading can be wrong by: the bound holds then, and shrinks as time goes by. */
static void
the_bound_holds_and_shrinks(void **state)
{
	struct tsc_clock clock;

	(void)state;
	believe(&clock, 1000);
	for (int64_t i = 1; i <= 1000; i++) {
		double before = clock.bound_ppm;

		note(&clock, HZ, i * 100000000, NOISE_CYCLES,
		     i % 2 ? NOISE_CYCLES / 2 : -NOISE_CYCLES / 2);
		assert_true(ppm_off(&clock, HZ) <= clock.bound_ppm);
		assert_true(clock.bound_ppm < before);
	}
	assert_true(clock.bound_ppm < 0.002);
}

static void
a_loose_reading_changes_nothing(void **state)
{
	struct tsc_clock clock;
	double hz;

	(void)state;
	believe(&clock, 1000);
	note(&clock, HZ, 200000000, NOISE_CYCLES, 0);
	hz = clock.hz;
	note(&clock, HZ, 300000000, 20000000,
	     9000000); /* 7.7 ms between the two readings of the TSC */
	assert_true(clock.hz == hz);
	note(&clock, HZ, 400000000, NOISE_CYCLES, 0);
	assert_true(ppm_off(&clock, HZ) <= clock.bound_ppm);
	assert_true(clock.bound_ppm < 0.2);
}

/* A virtual machine is moved to a host whose TSC runs at another rate: the old frequency stays until the new is known. */
static void
another_frequency_is_found(void **state)
{
	static const double elsewhere[] = {HZ * 1.0002, HZ * 0.9, HZ * 1.1};

	(void)state;
	for (size_t i = 0; i < COUNT(elsewhere); i++) {
		struct tsc_clock clock;
		struct clock_reading moved;

		believe(&clock, 0);
		for (int64_t t = 1; t <= 100; t++)
			note(&clock, HZ, t * 100000000, NOISE_CYCLES, 0);
		moved = clock.last;
		for (int64_t t = 1; t <= 3; t++) {
			struct clock_reading now = moved;

			now.tsc += (uint64_t)((double)t * 0.1 * elsewhere[i]);
			now.raw_ns += t * 100000000;
			tsc_clock_note(&clock, &now);
			if (t == 1)
				assert_true(isinf(clock.bound_ppm) && ppm_off(&clock, HZ) < 0.1);
		}
		assert_true(ppm_off(&clock, elsewhere[i]) <= clock.bound_ppm);
		assert_true(clock.bound_ppm < TSC_CLOCK_GOAL_PPM);
	}
}

static void
the_bound_between_readings_is_their_widths(void **state)
{
	struct clock_reading from = reading(HZ, 0, 300, 0), to = reading(HZ, 1000000000, 500, 0);
	double bound;

	(void)state;
	assert_true(fabs(clock_hz_between(&from, &to, &bound) / HZ - 1) < 1e-8);
	assert_true(bound > 400e6 / HZ && bound < 410e6 / HZ);
	assert_true(clock_hz_between(&to, &from, &bound) == 0 && isinf(bound));
	assert_true(clock_hz_between(&to, &to, &bound) == 0 && isinf(bound));
}

/* This machine's own: two calibrations that share nothing agree within their bounds. */
static void
clocks_are_read_at_one_time(void **state)
{
	struct clock_reading first = clock_read(), second;
	struct tsc_clock a, b;

	(void)state;
	usleep(1000);
	second = clock_read();
	assert_true(second.tsc > first.tsc);
	assert_true(second.raw_ns - first.raw_ns >= 1000000);
	tsc_clock_start(&a, &second);
	tsc_clock_settle(&a);
	first = clock_read();
	tsc_clock_start(&b, &first);
	tsc_clock_settle(&b);
	assert_true(ppm_off(&a, b.hz) <= a.bound_ppm + b.bound_ppm);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_wrong_belief_is_corrected),
		cmocka_unit_test(the_bound_holds_and_shrinks),
		cmocka_unit_test(a_loose_reading_changes_nothing),
		cmocka_unit_test(another_frequency_is_found),
		cmocka_unit_test(the_bound_between_readings_is_their_widths),
		cmocka_unit_test(clocks_are_read_at_one_time),
	};

	return cmocka_run_group_tests_name("tsc_clock", tests, NULL, NULL);
}
