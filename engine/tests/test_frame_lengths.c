/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendering frame i of a stream: frames of several lengths, with length fields and checksums that
 * depend on them.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include "tests/frame_fixture.h"

/* RFC 1071 with bytes, carries at once, and what is not there as zeros. */
static uint16_t
sum_by_hand(uint16_t sum, const uint8_t *octets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t wide = sum + (i % 2 == 0 ? (uint32_t)octets[i] << 8 : octets[i]);

		sum = (uint16_t)(wide > 0xffff ? wide - 0xffff : wide);
	}
	return sum;
}

static uint16_t
add_by_hand(uint16_t sum, uint32_t value)
{
	const uint8_t octets[] = {(uint8_t)(value >> 8), (uint8_t)value};

	return sum_by_hand(sum, octets, 2);
}

static void
frames_are_cut_to_their_lengths(void **state)
{
	uint32_t lengths[] = {60, 90, 61, 61};
	struct stream_config stream = stream_of(NULL, 0);
	uint8_t frame[OCTETS];

	(void)state;
	assert_int_equal(frame_length(&stream, UINT64_MAX), OCTETS);
	stream.lengths = lengths;
	stream.n_lengths = COUNT(lengths);
	for (uint64_t i = 0; i < 12; i++) {
		assert_int_equal(render(&stream, i, frame), lengths[i % 4]);
		assert_memory_equal(frame, template, lengths[i % 4]);
	}
	assert_int_equal(render(&stream, UINT64_MAX, frame), 61);
}

static void
length_fields_follow_the_length(void **state)
{
	uint32_t lengths[] = {60, 90, 77};
	struct length_config fields[] = {
		{.offset = 16, .octets = 2, .less = 14},
		{.offset = 38, .octets = 1, .less = 60},
		{.offset = 20, .octets = 4, .less = 0},
	};
	struct stream_config stream = stream_of(NULL, 0);
	uint8_t frame[OCTETS];

	(void)state;
	stream.length_fields = fields;
	stream.n_length_fields = COUNT(fields);
	render(&stream, 7, frame);
	assert_int_equal(bits_at(frame, 16 * 8, 16), OCTETS - 14);
	stream.lengths = lengths;
	stream.n_lengths = COUNT(lengths);
	for (uint64_t i = 0; i < 9; i++) {
		render(&stream, i, frame);
		assert_int_equal(bits_at(frame, 16 * 8, 16), lengths[i % 3] - 14);
		assert_int_equal(bits_at(frame, 38 * 8, 8), lengths[i % 3] - 60);
		assert_int_equal(bits_at(frame, 20 * 8, 32), lengths[i % 3]);
	}
}

/* UDP in IPv4: pseudo-header with the length, the datagram to its end; both checksums right. */
static void
checksums_reach_to_the_end(void **state)
{
	uint32_t lengths[] = {60, 61, 90, 89, 77};
	struct field_config source = {
		.offset = 26, .octets = 4, .bits = 32, .step = 77777, .every = 1, .count = 999};
	struct length_config fields[] = {{.offset = 16, .octets = 2, .less = 14},
					 {.offset = 38, .octets = 2, .less = 34}};
	struct checksum_config checksums[] = {
		{.offset = 24,
		 .ranges = {{14, 20}},
		 .n_ranges = 1,
		 .add_length_less = ADD_NO_LENGTH},
		{.offset = 40,
		 .ranges = {{26, 8}, {34, RANGE_TO_END}},
		 .n_ranges = 2,
		 .add = 17,
		 .add_length_less = 34,
		 .udp = true},
	};
	struct stream_config stream = stream_of(&source, 1);
	uint8_t frame[OCTETS];

	(void)state;
	stream.lengths = lengths;
	stream.n_lengths = COUNT(lengths);
	stream.length_fields = fields;
	stream.n_length_fields = COUNT(fields);
	stream.checksums = checksums;
	stream.n_checksums = COUNT(checksums);
	for (uint64_t i = 0; i < 5000; i++) {
		uint32_t length = render(&stream, i, frame);
		uint16_t sum = sum_by_hand(17, frame + 26, 8);

		assert_int_equal(sum_by_hand(0, frame + 14, 20), 0xffff);
		sum = add_by_hand(sum, length - 34);
		assert_int_equal(sum_by_hand(sum, frame + 34, length - 34), 0xffff);
		assert_int_equal(bits_at(frame, 38 * 8, 16), length - 34);
		assert_true(bits_at(frame, 40 * 8, 16) != 0);
	}
}

/* The length counts although nothing of it is in the frame; just as long as what is taken off: 0. */
static void
the_length_is_added(void **state)
{
	uint32_t lengths[] = {60, 75};
	struct checksum_config checksum = {
		.offset = 20, .ranges = {{30, 2}}, .n_ranges = 1, .add = 5, .add_length_less = 60};
	struct stream_config stream = stream_of(NULL, 0);
	uint8_t frame[OCTETS];

	(void)state;
	stream.lengths = lengths;
	stream.n_lengths = COUNT(lengths);
	stream.checksums = &checksum;
	stream.n_checksums = 1;
	template[30] = 0x12;
	template[31] = 0x34;
	render(&stream, 0, frame);
	assert_int_equal(bits_at(frame, 20 * 8, 16), 0xffff - 0x1234 - 5);
	render(&stream, 1, frame);
	assert_int_equal(bits_at(frame, 20 * 8, 16), 0xffff - 0x1234 - 5 - 15);
	checksum.add_length_less = ADD_NO_LENGTH;
	render(&stream, 1, frame);
	assert_int_equal(bits_at(frame, 20 * 8, 16), 0xffff - 0x1234 - 5);
}

/* The outer one reaches to the end and covers the inner one, which was computed before. */
static void
nested_checksums_reach_to_the_end(void **state)
{
	uint32_t lengths[] = {70, 71, 90};
	struct field_config field = {.kind = FIELD_RANDOM,
				     .offset = 60,
				     .octets = 2,
				     .bits = 16,
				     .range = 65536,
				     .every = 1,
				     .count = 9999};
	struct checksum_config checksums[] = {
		{.offset = 56,
		 .ranges = {{50, RANGE_TO_END}},
		 .n_ranges = 1,
		 .add_length_less = 50},
		{.offset = 40,
		 .ranges = {{34, RANGE_TO_END}},
		 .n_ranges = 1,
		 .add_length_less = 34},
	};
	struct stream_config stream = stream_of(&field, 1);
	uint8_t frame[OCTETS];

	(void)state;
	stream.lengths = lengths;
	stream.n_lengths = COUNT(lengths);
	stream.checksums = checksums;
	stream.n_checksums = COUNT(checksums);
	for (uint64_t i = 0; i < 3000; i++) {
		uint32_t length = render(&stream, i, frame);
		uint16_t inner = add_by_hand(0, length - 50), outer = add_by_hand(0, length - 34);

		assert_int_equal(sum_by_hand(inner, frame + 50, length - 50), 0xffff);
		assert_int_equal(sum_by_hand(outer, frame + 34, length - 34), 0xffff);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_cut_to_their_lengths),
		cmocka_unit_test(length_fields_follow_the_length),
		cmocka_unit_test(checksums_reach_to_the_end),
		cmocka_unit_test(the_length_is_added),
		cmocka_unit_test(nested_checksums_reach_to_the_end),
	};

	return cmocka_run_group_tests_name("frame_lengths", tests, NULL, NULL);
}
