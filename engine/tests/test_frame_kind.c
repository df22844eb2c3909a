/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose frame is it? Addresses, VLAN tags, what is no IP, what is cut off.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: docs/design/0009-kernel-path.md, "Engine".
 */
#include "tests/eal_fixture.h"
#include "tests/packet_fixture.h"

#include "bridge/frame_kind.h"

static struct address_set set;
static struct rte_mempool *pool;

static void
add(const char *octets, bool ipv6)
{
	address_set_add(&set, (const uint8_t *)octets, ipv6);
}

static int
group_up(void **state)
{
	if (eal_up(state) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("frames", 63, 0, 0, 2048, SOCKET_ID_ANY);
	add("\x0a\x00\x00\x01", false);
	add("\x0a\x00\x00\x03", false);
	add("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", true);
	add("\x0a\x00\x00\x02\0\0\0\0\0\0\0\0\0\0\0\0", true); /* looks like an IPv4 one */
	return 0;
}

/* Of so many tags, to 10.0.0.`host` or fd00::`host`. */
static struct packet
packet_to(bool ipv6, uint32_t tags, uint8_t host)
{
	struct packet packet = make_packet(ipv6, tags, 0, UDP, 30);
	uint8_t *to = packet.octets + packet.ip + (ipv6 ? 24 : 16);

	memcpy(packet.octets, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
	memset(to, 0, ipv6 ? 16 : 4);
	to[0] = ipv6 ? 0xfd : 10;
	to[ipv6 ? 15 : 3] = host;
	return packet;
}

static enum frame_kind
kind_of(const struct packet *packet)
{
	return kind_of_octets(&set, packet->octets, packet->n);
}

static void
addresses_decide(void **state)
{
	(void)state;
	for (uint32_t ipv6 = 0; ipv6 <= 1; ipv6++)
		for (uint32_t tags = 0; tags <= 4; tags++) {
			struct packet ours = packet_to(ipv6, tags, 1);
			struct packet others = packet_to(ipv6, tags, 2);

			assert_int_equal(kind_of(&ours), tags <= 2 ? KIND_ADDRESSED : KIND_KERNEL);
			assert_int_equal(kind_of(&others), tags <= 2 ? KIND_FAST : KIND_KERNEL);
		}
}

static void
the_kernel_gets_what_is_for_all(void **state)
{
	struct packet packet = packet_to(false, 0, 2);

	(void)state;
	memset(packet.octets, 0xff, 6);
	assert_int_equal(kind_of(&packet), KIND_KERNEL);
	memcpy(packet.octets, "\x01\x00\x5e\x00\x00\x01", 6);
	assert_int_equal(kind_of(&packet), KIND_KERNEL);
	packet = packet_to(true, 0, 2);
	memcpy(packet.octets, "\x33\x33\xff\x00\x00\x01", 6); /* a neighbour is sought */
	assert_int_equal(kind_of(&packet), KIND_KERNEL);
}

static void
the_kernel_gets_what_is_no_ip(void **state)
{
	static const uint32_t types[] = {0x0806, 0x88cc, 0x8847, 0x0026, 0x8863};

	(void)state;
	for (uint32_t tags = 0; tags <= 2; tags++)
		for (size_t i = 0; i < COUNT(types); i++) {
			struct packet packet = packet_to(false, tags, 2);

			store_16(packet.octets + packet.ip - 2, types[i]);
			assert_int_equal(kind_of(&packet), KIND_KERNEL);
		}
}

static void
the_kernel_gets_what_is_link_local(void **state)
{
	struct packet packet = packet_to(true, 0, 2);
	uint8_t *to = packet.octets + packet.ip + 24;

	(void)state;
	memcpy(to, "\xfe\x80", 2); /* a neighbour answers */
	assert_int_equal(kind_of(&packet), KIND_KERNEL);
	memcpy(to, "\xfe\xbf", 2);
	assert_int_equal(kind_of(&packet), KIND_KERNEL);
	memcpy(to, "\xfe\xc0", 2);
	assert_int_equal(kind_of(&packet), KIND_FAST);
	memcpy(to, "\xfd\x80", 2);
	assert_int_equal(kind_of(&packet), KIND_FAST);
}

/* Each frame ends where its memory does, so that the sanitizer sees who reads on. */
static void
the_kernel_gets_what_is_cut_or_malformed(void **state)
{
	(void)state;
	for (uint32_t ipv6 = 0; ipv6 <= 1; ipv6++) {
		struct packet packet = packet_to(ipv6, 2, 2);
		uint32_t whole = packet.ip + (ipv6 ? 40 : 20);

		for (uint32_t n = 1; n < packet.n; n++) {
			uint8_t *copy = malloc(n);

			memcpy(copy, packet.octets, n);
			assert_int_equal(kind_of_octets(&set, copy, n),
					 n < whole ? KIND_KERNEL : KIND_FAST);
			free(copy);
		}
		packet.octets[packet.ip] = ipv6 ? 0x45 : 0x60;
		assert_int_equal(kind_of(&packet), KIND_KERNEL);
	}
	for (uint8_t words = 0; words < 5; words++) {
		struct packet packet = packet_to(false, 0, 1);

		packet.octets[packet.ip] = 0x40 | words;
		assert_int_equal(kind_of(&packet), KIND_KERNEL);
	}
}

static void
segments_are_no_matter(void **state)
{
	(void)state;
	for (uint32_t cut = 1; cut < 70; cut++) {
		struct packet packet = packet_to(cut & 1, 2, cut & 2 ? 1 : 2);
		struct rte_mbuf *head = rte_pktmbuf_alloc(pool), *tail = rte_pktmbuf_alloc(pool);

		memcpy(rte_pktmbuf_append(head, (uint16_t)cut), packet.octets, cut);
		memcpy(rte_pktmbuf_append(tail, (uint16_t)(packet.n - cut)), packet.octets + cut,
		       packet.n - cut);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		assert_int_equal(kind_of_frame(&set, head), cut & 2 ? KIND_ADDRESSED : KIND_FAST);
		rte_pktmbuf_free(head);
	}
}

static void
no_address_at_all(void **state)
{
	static const struct address_set empty;
	struct packet packet = packet_to(true, 1, 1);

	(void)state;
	assert_int_equal(kind_of_octets(&empty, packet.octets, packet.n), KIND_FAST);
	packet.octets[0] |= 1;
	assert_int_equal(kind_of_octets(&empty, packet.octets, packet.n), KIND_KERNEL);
}

/* A full set knows its addresses and no others, however they collide. */
static void
sixty_four_addresses(void **state)
{
	struct address_set *many = calloc(1, sizeof(*many));
	uint8_t ip[IPV6_OCTETS] = {0xfd};

	(void)state;
	for (uint32_t i = 0; i < ADDRESS_SET_MAX; i++) {
		store_16(ip + 2, 3 * i);
		address_set_add(many, ip, i & 1);
	}
	for (uint32_t i = 0; i < 3 * ADDRESS_SET_MAX; i++) {
		store_16(ip + 2, i);
		assert_int_equal(address_set_has(many, ip, false), i % 6 == 0);
		assert_int_equal(address_set_has(many, ip, true), i % 6 == 3);
	}
	free(many);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_decide),
		cmocka_unit_test(the_kernel_gets_what_is_for_all),
		cmocka_unit_test(the_kernel_gets_what_is_no_ip),
		cmocka_unit_test(the_kernel_gets_what_is_link_local),
		cmocka_unit_test(the_kernel_gets_what_is_cut_or_malformed),
		cmocka_unit_test(segments_are_no_matter),
		cmocka_unit_test(no_address_at_all),
		cmocka_unit_test(sixty_four_addresses),
	};

	return cmocka_run_group_tests_name("frame_kind", tests, group_up, eal_down);
}
