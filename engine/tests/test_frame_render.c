/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendering frame i of a stream: template, fields in lock-step, checksums in order. Fields of some
 * bits and their kinds of values: test_frame_fields.c; several lengths: test_frame_lengths.c.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include "tests/test_support.h"

#include "program/frame_render.h"
#include "protocol/checksum.h"

enum { OCTETS = 60 };

static uint8_t template[OCTETS];

/* A frame and a guard behind it that no rendering may touch. */
struct rendered {
	uint8_t frame[OCTETS];
	uint8_t guard[8];
};

static struct rendered
render(const struct stream_config *stream, uint64_t i)
{
	struct rendered out;

	memset(&out, 0xa5, sizeof(out));
	assert_int_equal(frame_render(stream, i, out.frame), OCTETS);
	for (size_t g = 0; g < sizeof(out.guard); g++)
		assert_int_equal(out.guard[g], 0xa5);
	return out;
}

static uint64_t
load(const struct rendered *rendered, uint32_t offset, uint32_t octets)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < octets; i++)
		value = value << 8 | rendered->frame[offset + i];
	return value;
}

/* first + step * k in all bits of its window. */
static struct field_config
steps(uint32_t offset, uint32_t octets, uint64_t first, uint64_t step, uint64_t count)
{
	return (struct field_config){.kind = FIELD_STEPS,
				     .offset = offset,
				     .octets = octets,
				     .bits = 8 * octets,
				     .first = first,
				     .step = step,
				     .every = 1,
				     .count = count};
}

static struct stream_config
stream_of(struct field_config *fields, uint32_t n_fields, struct checksum_config *checksums,
	  uint32_t n_checksums)
{
	for (unsigned int i = 0; i < OCTETS; i++)
		template[i] = (uint8_t)(i * 7 + 1);
	return (struct stream_config){.template = template,
				      .frame_len_no_fcs = OCTETS,
				      .fields = fields,
				      .n_fields = n_fields,
				      .checksums = checksums,
				      .n_checksums = n_checksums,
				      .period = 1};
}

static void
check_field(struct field_config field, uint64_t i, uint64_t expected)
{
	struct stream_config stream = stream_of(&field, 1, NULL, 0);
	struct rendered out = render(&stream, i);

	assert_int_equal(load(&out, field.offset, field.octets), expected);
	assert_memory_equal(out.frame, template, field.offset);
	assert_memory_equal(out.frame + field.offset + field.octets,
			    template + field.offset + field.octets,
			    OCTETS - field.offset - field.octets);
}

static void
template_is_copied(void **state)
{
	struct stream_config stream = stream_of(NULL, 0, NULL, 0);
	struct rendered out = render(&stream, 0);

	(void)state;
	assert_memory_equal(out.frame, template, OCTETS);
	out = render(&stream, UINT64_MAX);
	assert_memory_equal(out.frame, template, OCTETS);
}

static void
fields_are_big_endian_of_any_width(void **state)
{
	(void)state;
	for (uint32_t octets = 1; octets <= 8; octets++) {
		uint64_t mask = UINT64_MAX >> (64 - 8 * octets);

		check_field(steps(13, octets, 0x0123456789abcdef, 0, 1), 5,
			    0x0123456789abcdef & mask);
		check_field(steps(OCTETS - octets, octets, 1, 1, 10), 9, 10);
		check_field(steps(0, octets, 0, 3, 10), 4, 12);
	}
}

static void
fields_wrap_at_their_count(void **state)
{
	const struct field_config field = steps(20, 2, 1024, 5, 3);

	(void)state;
	for (uint64_t i = 0; i < 30; i++)
		check_field(field, i, 1024 + 5 * (i % 3));
	check_field(field, UINT64_MAX, 1024 + 5 * (UINT64_MAX % 3));
	check_field(steps(20, 4, 7, 1, 1 << 20), (1 << 20) - 1, 7 + (1 << 20) - 1);
	check_field(steps(20, 4, 7, 1, 1 << 20), 1 << 20, 7);
}

static void
fields_are_taken_modulo_their_width(void **state)
{
	(void)state;
	check_field(steps(20, 1, 250, 10, 100), 3, (250 + 30) % 256);
	check_field(steps(20, 1, 0x1ff, 0, 1), 0, 0xff);
	check_field(steps(20, 2, 0xfffe, 1, 100), 5, 3);
	check_field(steps(20, 8, UINT64_MAX, 1, 2), 1, 0);
	check_field(steps(20, 3, 0, 1 << 20, 64), 17, 17 << 20 & 0xffffff);
}

static void
negative_steps_count_down(void **state)
{
	const uint64_t minus_three = (uint64_t)-3;

	(void)state;
	check_field(steps(20, 2, 100, minus_three, 50), 10, 70);
	check_field(steps(20, 2, 2, minus_three, 50), 1, 0xffff);
	check_field(steps(20, 1, 2, minus_three, 50), 2, (uint8_t)-4);
	check_field(steps(20, 8, 2, minus_three, 50), 1, UINT64_MAX);
	check_field(steps(20, 4, 100, minus_three, 50), 50, 100);
}

static void
fields_advance_in_lock_step(void **state)
{
	struct field_config fields[] = {steps(6, 2, 0, 1, 4), steps(26, 4, 0x0a000001, 256, 6),
					steps(34, 2, 9, (uint64_t)-1, 10), steps(40, 1, 1, 0, 1)};
	struct stream_config stream = stream_of(fields, COUNT(fields), NULL, 0);

	(void)state;
	for (uint64_t i = 0; i < 3 * 60; i++) {
		struct rendered out = render(&stream, i), lap = render(&stream, i + 60);

		assert_int_equal(load(&out, 6, 2), i % 4);
		assert_int_equal(load(&out, 26, 4), 0x0a000001 + 256 * (i % 6));
		assert_int_equal(load(&out, 34, 2), 9 - i % 10);
		assert_int_equal(load(&out, 40, 1), 1);
		assert_memory_equal(out.frame, lap.frame, OCTETS);
	}
}

/* As a receiver checks it (RFC 1071): with the stored checksum, the sum is all ones. */
static uint16_t
verified(const struct rendered *out, const struct checksum_config *config)
{
	uint64_t sum = config->add;

	for (uint32_t i = 0; i < config->n_ranges; i++)
		sum += checksum_sum(out->frame + config->ranges[i].offset,
				    config->ranges[i].octets);
	return checksum_finish(sum);
}

static void
checksums_cover_their_ranges(void **state)
{
	struct field_config field = steps(30, 2, 0, 1, 70000);
	struct checksum_config config = {.ranges = {{26, 8}, {34, 25}},
					 .n_ranges = 2,
					 .offset = 40,
					 .add_length_less = ADD_NO_LENGTH,
					 .add = 0xfff7};
	struct stream_config stream = stream_of(&field, 1, &config, 1);

	(void)state;
	for (uint64_t i = 0; i < 70000; i++) {
		struct rendered out = render(&stream, i);

		assert_int_equal(verified(&out, &config), 0);
		assert_int_equal(out.frame[59], template[59]);
	}
}

static void
checksum_outside_its_ranges(void **state)
{
	struct checksum_config config = {
		.ranges = {{0, 14}}, .n_ranges = 1, .offset = 50, .add_length_less = ADD_NO_LENGTH};
	struct stream_config stream = stream_of(NULL, 0, &config, 1);
	struct rendered out = render(&stream, 0);

	(void)state;
	assert_int_equal(load(&out, 50, 2), checksum_finish(checksum_sum(template, 14)));
}

/* With the right field the words at 20 and 22 sum up to all ones: the checksum is zero. */
static void
zero_becomes_all_ones_for_udp_only(void **state)
{
	struct field_config field = steps(20, 2, 0, 1, 1 << 16);
	struct checksum_config config = {.ranges = {{20, 6}},
					 .n_ranges = 1,
					 .offset = 24,
					 .add_length_less = ADD_NO_LENGTH,
					 .add = 17,
					 .udp = true};
	struct stream_config stream = stream_of(&field, 1, &config, 1);
	uint64_t at;
	struct rendered out;

	(void)state;
	template[22] = 0x12;
	template[23] = 0x34;
	at = 0xffff - 17 - 0x1234;
	out = render(&stream, at);
	assert_int_equal(load(&out, 24, 2), 0xffff);
	out = render(&stream, at - 1);
	assert_int_equal(load(&out, 24, 2), 1);
	out = render(&stream, at + 1); /* the sum has wrapped */
	assert_int_equal(load(&out, 24, 2), 0xfffe);
	config.udp = false;
	out = render(&stream, at);
	assert_int_equal(load(&out, 24, 2), 0);
}

/* The second covers what the first has stored, as a TCP checksum inside a tunnel's outer one. */
static void
checksums_are_computed_in_list_order(void **state)
{
	struct field_config field = steps(36, 4, 1, 0x01010101, 1000);
	struct checksum_config configs[] = {
		{.ranges = {{34, 26}},
		 .n_ranges = 1,
		 .offset = 50,
		 .add_length_less = ADD_NO_LENGTH},
		{.ranges = {{14, 46}},
		 .n_ranges = 1,
		 .offset = 24,
		 .add_length_less = ADD_NO_LENGTH,
		 .add = 6},
	};
	struct stream_config stream = stream_of(&field, 1, configs, 2);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct rendered out = render(&stream, i);

		assert_int_equal(verified(&out, &configs[0]), 0);
		assert_int_equal(verified(&out, &configs[1]), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(template_is_copied),
		cmocka_unit_test(fields_are_big_endian_of_any_width),
		cmocka_unit_test(fields_wrap_at_their_count),
		cmocka_unit_test(fields_are_taken_modulo_their_width),
		cmocka_unit_test(negative_steps_count_down),
		cmocka_unit_test(fields_advance_in_lock_step),
		cmocka_unit_test(checksums_cover_their_ranges),
		cmocka_unit_test(checksum_outside_its_ranges),
		cmocka_unit_test(zero_becomes_all_ones_for_udp_only),
		cmocka_unit_test(checksums_are_computed_in_list_order),
	};

	return cmocka_run_group_tests_name("frame_render", tests, NULL, NULL);
}
