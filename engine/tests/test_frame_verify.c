/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of all kinds are right as they are made, and wrong when any octet that a checksum covers has changed.
 *
 * Run by `meson test`, no DPDK. Checksums are made by checksum.h, which sums otherwise than what is tested.
 */
#include "tests/packet_fixture.h"

#include "protocol/frame_verify.h"

static bool
is_right(const struct packet *packet)
{
	uint8_t *copy =
		malloc(packet->n + 1); /* at an odd address, and the sanitizer sees its end */
	bool right;

	memcpy(copy + 1, packet->octets, packet->n);
	right = frame_is_right(copy + 1, packet->n);
	free(copy);
	return right;
}

/* Change each octet from..to in turn. */
static void
assert_all_covered(struct packet *packet, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		packet->octets[i] ^= 0x41;
		if (is_right(packet))
			fail_msg("octet %u of %u: a change was not seen", i, packet->n);
		packet->octets[i] ^= 0x41;
	}
}

static void
all_kinds_are_right_until_changed(void **state)
{
	static const uint8_t v4[] = {UDP, TCP, ICMP}, v6[] = {UDP, TCP, ICMPV6};

	(void)state;
	for (uint32_t kind = 0; kind < 6; kind++) {
		bool ipv6 = kind >= 3;
		uint8_t protocol = ipv6 ? v6[kind - 3] : v4[kind];

		for (uint32_t payload = 20; payload < 300; payload += 1 + payload / 13) {
			for (uint32_t shape = 0; shape < 9; shape++) {
				struct packet packet = make_packet(ipv6, shape % 3, shape / 3 * 8,
								   protocol, payload);

				if (!is_right(&packet))
					fail_msg("protocol %u, payload %u, shape %u", protocol,
						 payload, shape);
				assert_all_covered(&packet, packet.transport, packet.n);
				if (!ipv6)
					assert_all_covered(&packet, packet.ip, packet.transport);
				else if (protocol != ICMP)
					assert_all_covered(&packet, packet.ip + 8, packet.ip + 40);
			}
		}
	}
}

static void
padding_is_fine_and_cuts_are_not(void **state)
{
	(void)state;
	for (uint32_t ipv6 = 0; ipv6 <= 1; ipv6++) {
		struct packet packet = make_packet(ipv6, 1, 0, GRE, 31);

		assert_true(is_right(&packet));
		packet.n += 7;
		assert_true(is_right(&packet));
		for (packet.n -= 8; packet.n >= packet.ip; packet.n--)
			assert_false(is_right(&packet));
		for (; packet.n > 0; packet.n--)
			assert_true(is_right(&packet)); /* no IP to be seen */
	}
}

static void
padding_is_no_part_of_a_checksum(void **state)
{
	static const uint8_t protocols[] = {UDP, TCP, ICMPV6};

	(void)state;
	for (size_t i = 0; i < COUNT(protocols); i++) {
		struct packet packet = make_packet(true, 0, 0, protocols[i], 21);

		for (uint32_t k = 0; k < 9; k++, packet.n++)
			assert_true(is_right(&packet));
	}
}

static void
zero_means_none_over_ipv4_only(void **state)
{
	struct packet packet = make_packet(false, 0, 0, UDP, 30);

	(void)state;
	store_16(packet.octets + packet.checksum, 0);
	assert_true(is_right(&packet));
	packet = make_packet(true, 0, 0, UDP, 30);
	store_16(packet.octets + packet.checksum, 0);
	assert_false(is_right(&packet));
}

static void
fragments_have_no_whole_payload(void **state)
{
	static const uint32_t words[] = {0x2000, 0x0001, 0x3fff};
	struct packet packet;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		packet = make_packet(false, 0, 0, UDP, 30);
		store_16(packet.octets + packet.ip + 6, words[i]);
		assert_false(is_right(&packet)); /* the header's own checksum */
		close_ipv4(&packet);
		packet.octets[packet.n - 1]++;
		assert_true(is_right(&packet));
	}
	packet = make_packet(true, 0, 8, UDP, 30);
	packet.octets[packet.ip + 6] = 44;
	store_16(packet.octets + packet.ip + 42, 0); /* an atomic fragment (RFC 6946) is whole */
	assert_true(is_right(&packet));
	packet.octets[packet.n - 1]++;
	assert_false(is_right(&packet));
	store_16(packet.octets + packet.ip + 42, 1);
	assert_true(is_right(&packet));
}

static void
source_routes_underway_are_left_alone(void **state)
{
	struct packet packet = make_packet(true, 0, 24, TCP, 30);

	(void)state;
	packet.octets[packet.ip + 6] = 43;
	packet.octets[packet.ip + 43] = 0;
	assert_true(is_right(&packet));
	packet.octets[packet.n - 1]++;
	assert_false(is_right(&packet));
	packet.octets[packet.ip + 43] = 1;
	assert_true(is_right(&packet));
}

/* Whatever comes, nothing outside the frame is read (the sanitizers' business). */
static void
noise_is_survived(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		struct packet packet =
			make_packet(i & 1, i % 3, i % 4 * 8, i & 2 ? UDP : (uint8_t)i, 8 + i % 90);

		for (uint32_t k = 0; k < 3; k++)
			packet.octets[12 + random_next(&seed) % 60] = (uint8_t)random_next(&seed);
		packet.n = (uint32_t)(random_next(&seed) % (packet.n + 1));
		is_right(&packet);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_are_right_until_changed),
		cmocka_unit_test(padding_is_fine_and_cuts_are_not),
		cmocka_unit_test(padding_is_no_part_of_a_checksum),
		cmocka_unit_test(zero_means_none_over_ipv4_only),
		cmocka_unit_test(fragments_have_no_whole_payload),
		cmocka_unit_test(source_routes_underway_are_left_alone),
		cmocka_unit_test(noise_is_survived),
	};

	return cmocka_run_group_tests_name("frame_verify", tests, NULL, NULL);
}
