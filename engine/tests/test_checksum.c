/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum against RFC 1071's example and a bit by bit one's complement adder.
 *
 * Run by `meson test`, no DPDK. Source: RFC 1071, RFC 791 section 3.1.
 */
#include <stdbool.h>

#include "tests/test_support.h"

#include "protocol/checksum.h"

static uint16_t
checksum(const void *octets, size_t length)
{
	return checksum_finish(checksum_sum(octets, length));
}

static bool
bit_of(uint16_t word, unsigned int i)
{
	return word >> i & 1;
}

/* a + b + carry, one full adder per bit; *carry becomes the bit shifted out. */
static uint16_t
add_bits(uint16_t a, uint16_t b, bool *carry)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < 16; i++) {
		bool x = bit_of(a, i), y = bit_of(b, i);

		sum |= (unsigned int)(x ^ y ^ *carry) << i;
		*carry = (x && y) || (*carry && (x || y));
	}
	return (uint16_t)sum;
}

/* One's complement sum, RFC 1071: the carry out of every addition is added at once. */
static uint16_t
bitwise_checksum(const uint8_t *octets, size_t length)
{
	uint16_t sum = 0;

	for (size_t i = 0; i < length; i += 2) {
		bool carry = false;
		uint16_t word = (uint16_t)(octets[i] << 8 | (i + 1 < length ? octets[i + 1] : 0));

		sum = add_bits(sum, word, &carry);
		sum = add_bits(sum, 0, &carry);
	}
	return sum ^ 0xffff;
}

static void
rfc_1071_example(void **state)
{
	static const uint8_t octets[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(checksum_sum(octets, sizeof(octets)),
			 0x2ddf0); /* section 3, "Normal" order */
	assert_int_equal(checksum(octets, sizeof(octets)), 0xffff ^ 0xddf2);
}

/* A header as captured, with its checksum: the sum over all of it is all ones. */
static void
ipv4_header(void **state)
{
	static const uint8_t header[] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
					 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
					 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
	uint8_t blank[sizeof(header)];

	(void)state;
	memcpy(blank, header, sizeof(header));
	memset(blank + 10, 0, 2);
	assert_int_equal(checksum(blank, sizeof(blank)), 0xb861);
	assert_int_equal(checksum(header, sizeof(header)), 0);
}

static void
odd_lengths_are_padded_with_zero(void **state)
{
	static const uint8_t octets[] = {0x12, 0x34, 0x56, 0xff};

	(void)state;
	assert_int_equal(checksum_sum(octets, 0), 0);
	assert_int_equal(checksum_sum(octets, 1), 0x1200);
	assert_int_equal(checksum_sum(octets, 3), 0x1234 + 0x5600);
	assert_int_equal(checksum(octets, 3), 0xffff ^ 0x6834);
}

static void
extremes(void **state)
{
	static uint8_t octets[16384];

	(void)state;
	assert_int_equal(checksum(octets, 0), 0xffff);
	assert_int_equal(checksum(octets, sizeof(octets)), 0xffff);
	memset(octets, 0xff, sizeof(octets));
	assert_int_equal(checksum(octets, 2), 0);
	assert_int_equal(checksum(octets, sizeof(octets)), 0);
	assert_int_equal(checksum(octets, sizeof(octets) - 1), 0x00ff);
	assert_int_equal(checksum_finish(0x10000), 0xfffe);
	assert_int_equal(checksum_finish(0xffff0001), 0xfffe);
	assert_int_equal(checksum_finish(UINT64_MAX), 0); /* folds more than once */
}

static void
random_octets_agree_with_the_adder(void **state)
{
	static uint8_t octets[2048];
	uint64_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		size_t length = random_next(&seed) % 1600,
		       at = random_next(&seed) % 64; /* unaligned */

		for (size_t i = 0; i < length; i++)
			octets[at + i] = (uint8_t)random_next(&seed);
		assert_int_equal(checksum(octets + at, length),
				 bitwise_checksum(octets + at, length));
	}
}

/* Split at an even place, sums add up: that is how ranges are summed. */
static void
sums_of_parts_add_up(void **state)
{
	uint8_t octets[301];
	uint64_t seed = 2;

	(void)state;
	for (size_t i = 0; i < sizeof(octets); i++)
		octets[i] = (uint8_t)random_next(&seed);
	for (size_t at = 0; at < sizeof(octets); at += 2)
		assert_int_equal(checksum_sum(octets, at) +
					 checksum_sum(octets + at, sizeof(octets) - at),
				 checksum_sum(octets, sizeof(octets)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc_1071_example),
		cmocka_unit_test(ipv4_header),
		cmocka_unit_test(odd_lengths_are_padded_with_zero),
		cmocka_unit_test(extremes),
		cmocka_unit_test(random_octets_agree_with_the_adder),
		cmocka_unit_test(sums_of_parts_add_up),
	};

	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
