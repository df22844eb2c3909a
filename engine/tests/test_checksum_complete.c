/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames as the kernel leaves them to a device, with the pseudo-header's sum in the checksum field, get the checksum that
 * they were made with, in whatever segments they lie, and nothing else changes.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: bridge/checksum_complete.h.
 */
#include "tests/eal_fixture.h"
#include "tests/packet_fixture.h"

#include "bridge/checksum_complete.h"
#include "protocol/layer3.h"

enum { MBUFS = 1023, TAIL = 9 };

static struct rte_mempool *pool;

static int
group_up(void **state)
{
	if (eal_up(state) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("frames", MBUFS, 0, 0, 2048 + 128, SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int
all_are_back(void **state)
{
	(void)state;
	return rte_mempool_avail_count(pool) == MBUFS ? 0 : -1;
}

/* The frame in an mbuf, or cut into segments of `cut` octets (0: not). */
static struct rte_mbuf *
mbuf_of(const uint8_t *octets, uint32_t n, uint32_t cut)
{
	struct rte_mbuf *head = NULL;

	for (uint32_t at = 0, part; at < n; at += part) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

		part = cut == 0 ? n : RTE_MIN(cut, n - at);
		assert_non_null(mbuf);
		memcpy(rte_pktmbuf_append(mbuf, (uint16_t)part), octets + at, part);
		if (head == NULL)
			head = mbuf;
		else
			assert_int_equal(rte_pktmbuf_chain(head, mbuf), 0);
	}
	return head;
}

/* Complete the frame; what became of it is in `after`. */
static enum completion
complete(const uint8_t *octets, uint32_t n, uint32_t cut, uint64_t flags, uint8_t *after)
{
	struct rte_mbuf *mbuf = mbuf_of(octets, n, cut);
	enum completion result;
	const uint8_t *read;

	mbuf->ol_flags |= flags;
	result = checksum_complete(mbuf, false);
	read = rte_pktmbuf_read(mbuf, 0, n, after);
	assert_non_null(read);
	if (read != after)
		memcpy(after, read, n);
	assert_int_equal(mbuf->ol_flags & RTE_MBUF_F_TX_L4_MASK, 0);
	rte_pktmbuf_free(mbuf);
	return result;
}

/* As Linux leaves a frame with CHECKSUM_PARTIAL: the sum of the pseudo-header, not complemented. */
static void
make_partial(struct packet *packet, uint8_t protocol)
{
	const uint8_t *ip = packet->octets + packet->ip;
	uint64_t sum = protocol + packet->n - packet->transport;

	sum += packet->ipv6 ? checksum_sum(ip + 8, 32) : checksum_sum(ip + 12, 8);
	store_16(packet->octets + packet->checksum, (uint16_t)~checksum_finish(sum));
}

static void
partial_sums_are_completed(void **state)
{
	static const uint32_t cuts[] = {0, 33, 64, 101, 255};

	(void)state;
	for (uint32_t kind = 0; kind < 4; kind++) {
		uint8_t protocol = kind & 1 ? UDP : TCP;

		for (uint32_t payload = 20; payload < 1500; payload += 1 + payload / 7) {
			for (uint32_t shape = 0; shape < 45; shape++) {
				struct packet packet = make_packet(
					kind >= 2, shape % 3, shape / 3 % 3 * 8, protocol, payload);
				struct packet partial = packet;
				uint8_t after[FRAME_MAX];

				make_partial(&partial, protocol);
				memset(partial.octets + packet.n, 0xee, TAIL); /* padding */
				assert_int_equal(complete(partial.octets, packet.n + TAIL,
							  cuts[shape / 9], 0, after),
						 COMPLETION_DONE);
				if (memcmp(after, packet.octets, packet.n) != 0)
					fail_msg("kind %u, payload %u, shape %u", kind, payload,
						 shape);
				for (uint32_t i = 0; i < TAIL; i++)
					assert_int_equal(after[packet.n + i], 0xee);
			}
		}
	}
}

/* The smallest segments, so that every header is cut somewhere, and sums go on at odd octets. */
static void
any_segment_will_do(void **state)
{
	(void)state;
	for (uint32_t cut = 5; cut < 60; cut++) {
		struct packet packet = make_packet(cut & 1, cut % 3, 0, cut & 2 ? TCP : UDP, 101);
		struct packet partial = packet;
		uint8_t after[FRAME_MAX];

		make_partial(&partial, cut & 2 ? TCP : UDP);
		assert_int_equal(complete(partial.octets, packet.n, cut, 0, after),
				 COMPLETION_DONE);
		assert_memory_equal(after, packet.octets, packet.n);
	}
}

static void
assert_untouched(const struct packet *packet, uint32_t n, uint64_t flags, enum completion wanted)
{
	uint8_t after[FRAME_MAX];
	enum completion result = complete(packet->octets, n, 0, flags, after);

	if (result != wanted)
		fail_msg("%u octets: %d instead of %d", n, result, wanted);
	assert_memory_equal(after, packet->octets, n);
}

static void
what_has_nothing_to_complete_stays(void **state)
{
	struct packet packet = make_packet(false, 1, 0, ICMP, 40);

	(void)state;
	assert_untouched(&packet, packet.n, 0, COMPLETION_NONE);
	packet = make_packet(true, 0, 8, ICMPV6, 40);
	assert_untouched(&packet, packet.n, 0, COMPLETION_NONE);
	packet = make_packet(false, 0, 0, TCP, 40);
	make_partial(&packet, TCP);
	assert_untouched(&packet, packet.n, RTE_MBUF_F_RX_L4_CKSUM_GOOD, COMPLETION_NONE);
	for (uint32_t flags = 1; flags < 0x4000; flags = flags == 1 ? 0x2000 : 2 * flags) {
		store_16(packet.octets + packet.ip + 6, flags); /* an offset; more fragments */
		assert_untouched(&packet, packet.n, 0, COMPLETION_NONE);
	}
	store_16(packet.octets + 12, 0x0806);
	assert_untouched(&packet, packet.n, 0, COMPLETION_NONE);
	packet = make_packet(false, 0, 0, UDP, 40);
	store_16(packet.octets + packet.checksum, 0);
	assert_untouched(&packet, packet.n, 0, COMPLETION_NONE);
	packet = make_packet(true, 0, 8, UDP, 40);
	packet.octets[packet.ip + 6] = 44; /* a fragment */
	assert_untouched(&packet, packet.n, 0, COMPLETION_NONE);
}

static void
what_cannot_be_completed_stays(void **state)
{
	struct packet packet;

	(void)state;
	for (uint32_t ipv6 = 0; ipv6 <= 1; ipv6++) {
		packet = make_packet(ipv6, 2, 0, TCP, 60);
		make_partial(&packet, TCP);
		for (uint32_t n = packet.ip + (ipv6 ? 40 : 20); n < packet.n; n++)
			assert_untouched(&packet, n, 0, COMPLETION_IMPOSSIBLE);
		for (uint32_t n = 1; n < packet.ip + (ipv6 ? 40 : 20); n++)
			assert_untouched(&packet, n, 0, COMPLETION_NONE);
		packet = make_packet(ipv6, 0, 0, TCP, 19); /* no whole header */
		assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
		packet = make_packet(ipv6, 0, 0, UDP, 40);
		store_16(packet.octets + packet.transport + 4, 41); /* longer than IP has it */
		assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
		store_16(packet.octets + packet.transport + 4, 7);
		assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
	}
	packet = make_packet(false, 0, 0, TCP, 40);
	packet.octets[packet.ip] = 0x44; /* a header of 16 octets */
	assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
	packet = make_packet(true, 0, 8, TCP, 40);
	packet.octets[packet.ip + 6] = 43; /* a routing header */
	assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
	packet = make_packet(true, 0, 8, TCP, 40);
	packet.octets[packet.ip + 41] = 200; /* extensions beyond the end */
	assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
	packet = make_packet(true, 0, 8, TCP, 40);
	packet.octets[packet.ip + 40] = 60; /* option headers without end */
	memset(packet.octets + packet.transport, 0, 40);
	assert_untouched(&packet, packet.n, 0, COMPLETION_IMPOSSIBLE);
}

/* RFC 768, RFC 8200 section 8.1: over IPv6 zero is no choice, and what sums up to zero is all ones. */
static void
zeros_of_udp(void **state)
{
	struct packet packet = make_packet(true, 0, 0, UDP, 40), partial = packet;
	uint8_t after[FRAME_MAX];

	(void)state;
	store_16(partial.octets + packet.checksum, 0);
	assert_int_equal(complete(partial.octets, packet.n, 0, 0, after), COMPLETION_DONE);
	assert_memory_equal(after, packet.octets, packet.n);
	for (uint32_t ipv6 = 0; ipv6 <= 1; ipv6++) {
		uint8_t *last;
		uint32_t sum;

		packet = make_packet(ipv6, 0, 0, UDP, 40);
		last = packet.octets + packet.n - 2;
		sum = load_16(packet.octets + packet.checksum) + load_16(last);
		store_16(last, (sum & 0xffff) + (sum >> 16)); /* makes the checksum zero */
		store_16(packet.octets + packet.checksum, 0xffff);
		partial = packet;
		make_partial(&partial, UDP);
		assert_int_equal(complete(partial.octets, packet.n, 0, 0, after), COMPLETION_DONE);
		assert_memory_equal(after, packet.octets, packet.n);
	}
}

static void
a_datagram_may_be_shorter_than_its_packet(void **state)
{
	struct packet packet = make_packet(false, 0, 0, UDP, 40), partial;
	uint8_t after[FRAME_MAX];

	(void)state;
	packet.n -= 12;
	store_16(packet.octets + packet.transport + 4, 28);
	close_transport(&packet, UDP);
	partial = packet;
	make_partial(&partial, UDP);
	assert_int_equal(complete(partial.octets, packet.n + 12, 7, 0, after), COMPLETION_DONE);
	assert_memory_equal(after, packet.octets, packet.n + 12);
}

static void
a_device_is_told_what_to_do(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < 4; kind++) {
		bool ipv6 = kind & 1, tcp = kind & 2;
		struct packet packet = make_packet(ipv6, 1, 0, tcp ? TCP : UDP, 40),
			      partial = packet;
		struct rte_mbuf *mbuf;

		make_partial(&partial, tcp ? TCP : UDP);
		mbuf = mbuf_of(packet.octets, packet.n, 0);
		assert_int_equal(checksum_complete(mbuf, true), COMPLETION_OFFLOADED);
		assert_memory_equal(rte_pktmbuf_mtod(mbuf, void *), partial.octets, packet.n);
		assert_int_equal(mbuf->l2_len, 18);
		assert_int_equal(mbuf->l3_len, ipv6 ? 40 : 20);
		assert_int_equal(mbuf->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK,
				 (tcp ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM) |
					 (ipv6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4));
		rte_pktmbuf_free(mbuf);
	}
}

static void
a_device_is_spared_what_it_may_not_know(void **state)
{
	struct packet packet = make_packet(true, 0, 8, TCP, 40);
	struct rte_mbuf *mbuf;

	(void)state;
	mbuf = mbuf_of(packet.octets, packet.n, 0);
	assert_int_equal(checksum_complete(mbuf, true), COMPLETION_DONE);
	assert_int_equal(mbuf->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, 0);
	assert_memory_equal(rte_pktmbuf_mtod(mbuf, void *), packet.octets, packet.n);
	rte_pktmbuf_free(mbuf);
}

static void
bursts_are_counted(void **state)
{
	struct packet good = make_packet(false, 0, 0, TCP, 40),
		      cut = make_packet(true, 0, 0, UDP, 40);
	struct packet other = make_packet(false, 0, 0, ICMP, 40);
	struct rte_mbuf *mbufs[] = {
		mbuf_of(good.octets, good.n, 0), mbuf_of(cut.octets, cut.n - 1, 0),
		mbuf_of(other.octets, other.n, 0), mbuf_of(good.octets, good.n, 0)};
	struct bridge_counters counters = {0};

	(void)state;
	checksum_complete_burst(mbufs, COUNT(mbufs), false, &counters);
	assert_int_equal(counters.completed, 2);
	assert_int_equal(counters.untouchable, 1);
	rte_pktmbuf_free_bulk(mbufs, COUNT(mbufs));
}

/* Anything may come in: nothing beyond the frame is read or written (the sanitizer looks). */
static void
noise_does_no_harm(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t r = random_next(&random);
		struct packet packet = make_packet(r & 1, r >> 1 & 3, (r >> 3 & 3) * 8,
						   r & 32 ? UDP : TCP, 8 + (r >> 8 & 63));
		uint8_t after[FRAME_MAX];

		packet.octets[r >> 16 & 63] = (uint8_t)(r >> 24);
		packet.octets[r >> 32 & 63] = (uint8_t)(r >> 40);
		complete(packet.octets, 1 + (uint32_t)(r >> 48) % packet.n, 4 + (r >> 12 & 63), 0,
			 after);
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, all_are_back)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(partial_sums_are_completed),
		TEST(any_segment_will_do),
		TEST(what_has_nothing_to_complete_stays),
		TEST(what_cannot_be_completed_stays),
		TEST(zeros_of_udp),
		TEST(a_datagram_may_be_shorter_than_its_packet),
		TEST(a_device_is_told_what_to_do),
		TEST(a_device_is_spared_what_it_may_not_know),
		TEST(bursts_are_counted),
		TEST(noise_does_no_harm),
	};

	return cmocka_run_group_tests_name("checksum_complete", tests, group_up, eal_down);
}
