/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendering frame i of a stream: fields of some bits, listed and random values.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include "tests/frame_fixture.h"

#include "program/field_value.h"

/* Every window, every place of every number of bits: the value is there, no other bit has changed. */
static void
fields_have_bits_of_their_own(void **state)
{
	struct field_config field = {
		.kind = FIELD_STEPS, .offset = 11, .every = 1, .count = 1, .step = 1};
	struct stream_config stream = stream_of(&field, 1);
	uint8_t frame[OCTETS];
	uint64_t random = 2;

	(void)state;
	for (field.octets = 1; field.octets <= 8; field.octets++)
		for (field.bits = 1; field.bits <= 8 * field.octets; field.bits++)
			for (field.shift = 0; field.shift + field.bits <= 8 * field.octets;
			     field.shift++) {
				uint32_t at = 8 * (11 + field.octets) - field.shift - field.bits;

				field.first = random_next(&random);
				render(&stream, 0, frame);
				assert_true(bits_at(frame, at, field.bits) ==
					    field.first << (64 - field.bits) >> (64 - field.bits));
				for (uint32_t n = 0; n < 8 * OCTETS; n++)
					if (n < at || n >= at + field.bits)
						assert_int_equal(bit_at(frame, n),
								 bit_at(template, n));
			}
}

/* The first word of IPv6: version, traffic class and flow label are 4, 8 and 20 bits. */
static void
fields_share_octets(void **state)
{
	struct field_config fields[] = {
		{.octets = 4,
		 .offset = 14,
		 .bits = 20,
		 .first = 0xffffe,
		 .step = 1,
		 .every = 1,
		 .count = 5},
		{.octets = 2,
		 .offset = 14,
		 .bits = 8,
		 .shift = 4,
		 .first = 3,
		 .step = 50,
		 .every = 1,
		 .count = 9},
		{.octets = 1,
		 .offset = 14,
		 .bits = 4,
		 .shift = 4,
		 .first = 6,
		 .every = 1,
		 .count = 1},
	};
	struct stream_config stream = stream_of(fields, COUNT(fields));
	uint8_t frame[OCTETS];

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		render(&stream, i, frame);
		assert_int_equal(bits_at(frame, 14 * 8, 4), 6);
		assert_int_equal(bits_at(frame, 14 * 8 + 4, 8), (3 + 50 * (i % 9)) % 256);
		assert_int_equal(bits_at(frame, 14 * 8 + 12, 20), (0xffffe + i % 5) % (1 << 20));
		assert_memory_equal(frame, template, 14);
		assert_memory_equal(frame + 18, template + 18, OCTETS - 18);
	}
}

static void
steps_are_taken_modulo_their_bits(void **state)
{
	struct field_config field = {
		.octets = 2, .bits = 12, .shift = 1, .every = 1, .count = 1000, .offset = 20};
	struct stream_config stream = stream_of(&field, 1);
	uint8_t frame[OCTETS];
	int expected = 5;

	(void)state;
	field.first = 5;
	field.step = (uint64_t)-3;
	for (uint64_t i = 0; i < 1000; i++) {
		render(&stream, i, frame);
		assert_int_equal(bits_at(frame, 20 * 8 + 3, 12), expected);
		expected = expected < 3 ? expected - 3 + 4096 : expected - 3;
	}
	render(&stream, 1000, frame);
	assert_int_equal(bits_at(frame, 20 * 8 + 3, 12), 5);
	field.step = (uint64_t)-4095; /* one up */
	render(&stream, 999, frame);
	assert_int_equal(bits_at(frame, 20 * 8 + 3, 12), 5 + 999);
}

static void
values_come_in_order(void **state)
{
	uint64_t values[] = {1, UINT64_MAX, 5, 5, 0x0123456789abcdef};
	struct field_config field = {.kind = FIELD_VALUES,
				     .offset = 30,
				     .octets = 8,
				     .bits = 64,
				     .every = 1,
				     .count = COUNT(values),
				     .values = values};
	struct stream_config stream = stream_of(&field, 1);
	uint8_t frame[OCTETS];

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		render(&stream, i, frame);
		assert_true(bits_at(frame, 30 * 8, 64) == values[i % 5]);
	}
	render(&stream, UINT64_MAX, frame); /* 2^64 - 1 is a multiple of 5 */
	assert_int_equal(bits_at(frame, 30 * 8, 64), 1);
}

/* The first outputs for seed 0 as published with the algorithm. */
static void
splitmix64_is_splitmix64(void **state)
{
	uint64_t sequence = 99;

	(void)state;
	assert_true(splitmix64(0, 0) == 0xe220a8397b1dcdaf);
	assert_true(splitmix64(0, 1) == 0x6e789e6aa1b965f4);
	assert_true(splitmix64(0, 2) == 0x06c45d188009454f);
	for (uint64_t k = 0; k < 1000; k++)
		assert_true(splitmix64(99, k) == random_next(&sequence));
}

/* The high 64 bits of a product in halves of 32 bits: the way without 128-bit integers. */
static uint64_t
multiply_high(uint64_t a, uint64_t b)
{
	uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
	uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
	uint64_t other = a_low * b_high + (uint32_t)middle;

	return a_high * b_high + (middle >> 32) + (other >> 32);
}

static void
check_random(uint32_t bits, uint64_t least, uint64_t greatest, uint64_t seed)
{
	struct field_config field = {.kind = FIELD_RANDOM,
				     .offset = 40,
				     .octets = 8,
				     .bits = bits,
				     .first = least,
				     .range = greatest - least + 1,
				     .seed = seed,
				     .every = 1,
				     .count = 1000};
	struct stream_config stream = stream_of(&field, 1);
	uint8_t frame[OCTETS];
	uint64_t sequence = seed;

	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t value, h;

		if (i % 1000 == 0)
			sequence = seed; /* each lap is the same */
		h = random_next(&sequence);
		render(&stream, i, frame);
		value = bits_at(frame, 48 * 8 - bits, bits);
		assert_true(value >= least && value <= greatest);
		assert_true(value ==
			    least + (field.range == 0 ? h : multiply_high(h, field.range)));
	}
}

static void
random_values_repeat_and_stay_in_range(void **state)
{
	(void)state;
	check_random(16, 0, 65535, 1);
	check_random(16, 1024, 65535, 2);
	check_random(1, 0, 1, 3);
	check_random(7, 99, 99, 4);
	check_random(32, 0x0a000001, 0x0affffff, UINT64_MAX);
	check_random(63, 0, UINT64_MAX >> 1, 5);
	check_random(64, 0, UINT64_MAX, 6);
	check_random(64, 1, UINT64_MAX, 7);
	check_random(64, UINT64_MAX - 2, UINT64_MAX, 8);
}

/* Each of so few values comes about equally often. */
static void
random_values_are_spread(void **state)
{
	struct field_config field = {.kind = FIELD_RANDOM,
				     .octets = 1,
				     .bits = 8,
				     .first = 10,
				     .range = 5,
				     .seed = 11,
				     .every = 1,
				     .count = CONFIG_COUNT_MAX};
	unsigned int seen[5] = {0};

	(void)state;
	for (uint64_t i = 0; i < 50000; i++)
		seen[field_value(&field, i) - 10]++;
	for (int i = 0; i < 5; i++)
		assert_in_range(seen[i], 9600, 10400);
}

/* Each value stands in `every` frames, one behind the other. */
static void
fields_keep_a_value(void **state)
{
	static const uint64_t everys[] = {1, 2, 7, 65536, UINT64_C(1) << 32};
	uint64_t values[] = {9, 4, 6};
	struct field_config fields[] = {
		{.kind = FIELD_VALUES, .octets = 1, .bits = 8, .count = 3, .values = values},
		{.kind = FIELD_STEPS, .octets = 4, .bits = 32, .step = 3, .count = 5},
		{.kind = FIELD_RANDOM, .octets = 8, .bits = 64, .seed = 5, .count = 1000},
	};

	(void)state;
	for (size_t f = 0; f < COUNT(fields); f++) {
		for (size_t e = 0; e < COUNT(everys); e++) {
			struct field_config once = fields[f], field = fields[f];
			uint64_t every = everys[e];

			once.every = 1;
			field.every = every;
			for (uint64_t k = 0; k < 2000; k += 1 + k / 8) {
				uint64_t value = field_value(&once, k);

				assert_true(field_value(&field, k * every) == value);
				assert_true(field_value(&field, k * every + every - 1) == value);
			}
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_bits_of_their_own),
		cmocka_unit_test(fields_share_octets),
		cmocka_unit_test(steps_are_taken_modulo_their_bits),
		cmocka_unit_test(values_come_in_order),
		cmocka_unit_test(splitmix64_is_splitmix64),
		cmocka_unit_test(random_values_repeat_and_stay_in_range),
		cmocka_unit_test(fields_keep_a_value),
		cmocka_unit_test(random_values_are_spread),
	};

	return cmocka_run_group_tests_name("frame_fields", tests, NULL, NULL);
}
