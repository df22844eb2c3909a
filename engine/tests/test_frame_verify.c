/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of all kinds are right as they are made, and wrong when any octet that a checksum covers has changed.
 *
 * Run by `meson test`, no DPDK. Checksums are made by checksum.h, which sums otherwise than what is tested.
 */
#include "tests/test_support.h"

#include "protocol/checksum.h"
#include "protocol/frame_verify.h"

enum { FRAME_MAX = 2000, UDP = 17, TCP = 6, ICMP = 1, ICMPV6 = 58, GRE = 47 };

struct packet {
	uint8_t octets[FRAME_MAX];
	uint32_t n;         /* of the frame */
	uint32_t ip;        /* offset */
	uint32_t transport; /* offset */
	uint32_t checksum;  /* offset of the transport's; 0: has none */
	bool ipv6;
};

static void
store_16(uint8_t *octets, uint32_t value)
{
	octets[0] = (uint8_t)(value >> 8);
	octets[1] = (uint8_t)value;
}

static void
close_ipv4(struct packet *packet)
{
	uint8_t *ip = packet->octets + packet->ip;

	store_16(ip + 10, 0);
	store_16(ip + 10, checksum_finish(checksum_sum(ip, (ip[0] & 0xf) * 4u)));
}

static void
close_transport(struct packet *packet, uint8_t protocol)
{
	uint8_t *ip = packet->octets + packet->ip, *at = packet->octets + packet->checksum;
	uint32_t n = packet->n - packet->transport;
	uint64_t sum = 0;

	if (packet->checksum == 0)
		return;
	store_16(at, 0);
	if (protocol != ICMP)
		sum = protocol + n +
		      (packet->ipv6 ? checksum_sum(ip + 8, 32) : checksum_sum(ip + 12, 8));
	sum += checksum_sum(packet->octets + packet->transport, n);
	store_16(at, checksum_finish(sum) != 0 || protocol != UDP ? checksum_finish(sum) : 0xffff);
}

/* Where the checksum stands in the header, and how long that is. */
static uint32_t
checksum_offset(uint8_t protocol)
{
	switch (protocol) {
	case UDP:
		return 6;
	case TCP:
		return 16;
	case ICMP:
	case ICMPV6:
		return 2;
	default:
		return 0;
	}
}

/* `tags` VLAN tags, IP with `extra` octets of options or extension headers (multiples of 8), payload of noise. */
static struct packet
make_packet(bool ipv6, uint32_t tags, uint32_t extra, uint8_t protocol, uint32_t payload)
{
	struct packet packet = {.ipv6 = ipv6, .ip = 14 + 4 * tags};
	uint32_t header = (ipv6 ? 40 : 20) + extra, end;
	uint64_t seed = payload;
	uint8_t *ip = packet.octets + packet.ip;

	for (uint32_t i = 0; i < FRAME_MAX; i++)
		packet.octets[i] = (uint8_t)random_next(&seed);
	for (uint32_t i = 0; i < tags; i++)
		store_16(packet.octets + 12 + 4 * i, i + 1 < tags ? 0x88a8 : 0x8100);
	store_16(ip - 2, ipv6 ? 0x86dd : 0x0800);
	packet.transport = packet.ip + header;
	packet.n = end = packet.transport + payload;
	if (ipv6) {
		ip[0] = 0x60;
		store_16(ip + 4, end - packet.ip - 40);
		ip[6] = extra > 0 ? 60 : protocol; /* destination options */
		ip[40] = extra > 0 ? protocol : ip[40];
		ip[41] = extra > 0 ? (uint8_t)(extra / 8 - 1) : ip[41];
	} else {
		ip[0] = (uint8_t)(0x40 | header / 4);
		store_16(ip + 2, end - packet.ip);
		store_16(ip + 6, 0x4000);
		ip[9] = protocol;
		close_ipv4(&packet);
	}
	if (protocol == UDP)
		store_16(packet.octets + packet.transport + 4, payload);
	if (checksum_offset(protocol) != 0)
		packet.checksum = packet.transport + checksum_offset(protocol);
	close_transport(&packet, protocol);
	return packet;
}

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
