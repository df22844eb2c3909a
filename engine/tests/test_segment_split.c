/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large TCP frames cut: payloads put together are the original, headers and checksums are right.
 *
 * Run by `meson test`. Source: docs/design/0009-kernel-path.md, segments "split".
 */
#include "tests/segment_fixture.h"

#include "bridge/segment_split.h"

enum { MTU = 1500, ROOM = 300 };

static const struct segment_splitter in_software = {.mtu = MTU, .tso = false};
static struct rte_mbuf *out[ROOM];

/* All of `in`. */
static uint16_t
split(const struct segment_splitter *splitter, struct rte_mbuf **in, uint16_t count,
      struct bridge_counters *counters)
{
	uint16_t taken, made = segment_split(splitter, in, count, &taken, out, ROOM, counters);

	assert_int_equal(taken, count);
	return made;
}

static struct rte_mbuf *
large_frame(const struct shape *shape, uint32_t payload, uint16_t segment)
{
	struct rte_mbuf *mbuf = make_frame(shape, 0, payload, 2000);

	/* So net_virtio marks what the kernel left to the device; its checksum is of no use then. */
	mbuf->ol_flags = RTE_MBUF_F_RX_LRO | RTE_MBUF_F_RX_L4_CKSUM_NONE;
	mbuf->tso_segsz = segment;
	return mbuf;
}

static void
check_part(const struct shape *shape, const struct rte_mbuf *part, uint32_t number,
	   uint32_t segment, uint32_t payload, bool last)
{
	uint8_t frame[MTU + 100], expected[MTU + 100];
	struct shape like = *shape;
	uint32_t octets = flatten(part, frame), headers = headers_of(shape);
	uint32_t l3 = l2_of(shape), l4 = l3 + l3_of(shape);

	assert_int_equal(part->nb_segs, 1);
	assert_int_equal(octets, headers + payload);
	like.flags &= (uint8_t)(last ? 0xff : ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG));
	like.flags &= (uint8_t)(number == 0 ? 0xff : ~RTE_TCP_CWR_FLAG);
	write_frame(&like, expected, number * segment, payload);
	if (!shape->ipv6) {
		put(expected + l3 + 4, (FIRST_ID + number) & 0xffff, 2);
		put(expected + l3 + 10, 0, 2);
		put(expected + l3 + 10, checksum_finish(checksum_sum(expected + l3, 20)), 2);
	}
	memcpy(expected + l4 + 16, frame + l4 + 16, 2);
	assert_memory_equal(frame, expected, headers);
	assert_int_equal(tcp_sum(shape, frame, octets), 0);
	for (uint32_t i = 0; i < payload; i++)
		assert_int_equal(frame[headers + i], payload_octet(number * segment + i));
	assert_int_equal(part->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	assert_int_equal(part->ol_flags & RTE_MBUF_F_RX_LRO, 0);
}

static void
check_split(const struct shape *shape, uint32_t payload, uint16_t asked, uint32_t segment)
{
	struct rte_mbuf *in = large_frame(shape, payload, asked);
	struct bridge_counters counters = {0};
	uint32_t parts = (payload + segment - 1) / segment;

	assert_int_equal(split(&in_software, &in, 1, &counters), parts);
	assert_int_equal(counters.split, 1);
	assert_int_equal(counters.parts, parts);
	assert_int_equal(counters.untouchable, 0);
	for (uint32_t i = 0; i < parts; i++) {
		bool last = i + 1 == parts;

		check_part(shape, out[i], i, segment, last ? payload - i * segment : segment, last);
	}
	rte_pktmbuf_free_bulk(out, parts);
	assert_none_lost();
}

static void
parts_together_are_the_whole(void **state)
{
	const uint8_t all =
		RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_CWR_FLAG;
	static const uint32_t payloads[] = {1461, 2896, 2897, 14480, 64000};

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		const struct shape shape = {.vlans = i & 1 ? 2 : 0,
					    .ipv6 = (i & 2) != 0,
					    .options = i & 4 ? TCP_OPTIONS : 0,
					    .flags = i & 8 ? all : RTE_TCP_ACK_FLAG};
		uint32_t most = MTU - l3_of(&shape) - 20 - shape.options;

		for (uint32_t p = 0; p < COUNT(payloads); p++)
			check_split(&shape, payloads[p], (uint16_t)most, most);
		check_split(&shape, 1501, 536, 536);
		check_split(&shape, 4000, 9000, most); /* no part is longer than the wire takes */
		check_split(&shape, 4000, 0, most);    /* a driver that does not tell */
	}
}

/* Headers that end where their mbuf does, as mbufs that are small. */
static void
chains_of_any_shape(void **state)
{
	const struct shape shape = {.flags = RTE_TCP_ACK_FLAG};

	(void)state;
	for (uint32_t room = headers_of(&shape); room < headers_of(&shape) + 3; room++) {
		struct rte_mbuf *in = make_frame(&shape, 0, 3000, room);
		struct bridge_counters counters = {0};

		in->ol_flags = RTE_MBUF_F_RX_LRO;
		in->tso_segsz = 1000;
		assert_int_equal(split(&in_software, &in, 1, &counters), 3);
		for (uint32_t i = 0; i < 3; i++)
			check_part(&shape, out[i], i, 1000, 1000, i == 2);
		rte_pktmbuf_free_bulk(out, 3);
		assert_none_lost();
	}
}

static void
a_device_that_cuts_is_asked_to(void **state)
{
	const struct segment_splitter by_device = {.mtu = MTU, .tso = true};
	const struct shape shapes[] = {{.flags = RTE_TCP_ACK_FLAG},
				       {.ipv6 = true, .vlans = 1, .options = TCP_OPTIONS}};

	(void)state;
	for (uint32_t i = 0; i < COUNT(shapes); i++) {
		struct rte_mbuf *in = large_frame(&shapes[i], 5000, 1400);
		uint64_t version = shapes[i].ipv6 ? RTE_MBUF_F_TX_IPV6
						  : RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
		struct bridge_counters counters = {0};

		assert_int_equal(split(&by_device, &in, 1, &counters), 1);
		assert_ptr_equal(out[0], in);
		assert_int_equal(in->ol_flags,
				 RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM | version);
		assert_int_equal(in->l2_len, l2_of(&shapes[i]));
		assert_int_equal(in->l3_len, l3_of(&shapes[i]));
		assert_int_equal(in->l4_len, 20 + shapes[i].options);
		assert_int_equal(in->tso_segsz, 1400);
		assert_int_equal(counters.split, 1);
		assert_int_equal(counters.parts, 4);
		rte_pktmbuf_free(in);
	}
	assert_none_lost();
}

/* Frames that are short, that nobody marked, and that are no TCP; in the order that they came. */
static void
the_rest_passes(void **state)
{
	const struct shape shape = {.flags = RTE_TCP_ACK_FLAG};
	struct bridge_counters counters = {0};
	struct rte_mbuf *in[6];

	(void)state;
	for (uint32_t i = 0; i < COUNT(in); i++)
		in[i] = large_frame(&shape, i == 0 ? 1460 : 3000, 1460);
	in[1]->ol_flags = 0;
	rte_pktmbuf_mtod(in[2], uint8_t *)[23] = 17;    /* UDP */
	rte_pktmbuf_mtod(in[3], uint8_t *)[20] |= 0x20; /* more fragments */
	rte_pktmbuf_mtod(in[4], uint8_t *)[46] = 0x40;  /* a TCP header of 16 octets */
	assert_int_equal(split(&in_software, in, 6, &counters), 8);
	for (uint32_t i = 0; i < 5; i++)
		assert_ptr_equal(out[i], in[i]);
	assert_int_equal(counters.untouchable, 3);
	assert_int_equal(counters.split, 1);
	rte_pktmbuf_free_bulk(out, 8);
	assert_none_lost();
}

/* Length fields of hostile frames. */
static void
frames_that_lie_about_their_length(void **state)
{
	const struct shape shapes[] = {{.flags = RTE_TCP_ACK_FLAG}, {.ipv6 = true}};
	static const uint16_t lengths[] = {0, 1, 19, 20, 39, 41, 3041, 65535};

	(void)state;
	for (uint32_t i = 0; i < COUNT(shapes) * COUNT(lengths); i++) {
		const struct shape *shape = &shapes[i % 2];
		struct rte_mbuf *in = large_frame(shape, 3000, 1000);
		struct bridge_counters counters = {0};
		uint16_t made;

		put(rte_pktmbuf_mtod(in, uint8_t *) + (shape->ipv6 ? 18 : 16), lengths[i / 2], 2);
		made = split(&in_software, &in, 1, &counters);
		assert_int_equal(made, 1);
		rte_pktmbuf_free_bulk(out, made);
	}
	assert_none_lost();
}

/* A frame goes with all of its parts, or stays for the next call. */
static void
little_room(void **state)
{
	const struct shape shape = {.flags = RTE_TCP_ACK_FLAG};

	(void)state;
	for (uint16_t room = 0; room < 12; room++) {
		struct rte_mbuf *in[3];
		struct bridge_counters counters = {0};
		uint16_t taken, used, fits = (uint16_t)RTE_MIN(room / 3, 3);

		for (uint32_t i = 0; i < COUNT(in); i++)
			in[i] = large_frame(&shape, 3000, 1000);
		used = segment_split(&in_software, in, 3, &taken, out, room, &counters);
		assert_int_equal(taken, fits);
		assert_int_equal(used, 3 * fits);
		assert_int_equal(counters.split, fits);
		assert_int_equal(counters.untouchable, 0);
		rte_pktmbuf_free_bulk(out, used);
		rte_pktmbuf_free_bulk(in + taken, 3u - taken);
		assert_none_lost();
	}
}

/* So many that one call would be endless: passed as it is. */
static void
too_many_parts(void **state)
{
	const struct shape shape = {.flags = RTE_TCP_ACK_FLAG};

	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		struct rte_mbuf *in = large_frame(&shape, 20 * SPLIT_PARTS_MAX + more, 20);
		struct bridge_counters counters = {0};
		uint16_t made = split(&in_software, &in, 1, &counters);

		assert_int_equal(made, more == 0 ? SPLIT_PARTS_MAX : 1);
		assert_int_equal(counters.untouchable, more);
		rte_pktmbuf_free_bulk(out, made);
	}
	assert_none_lost();
}

static void
without_mbufs_nothing_is_lost(void **state)
{
	const struct shape shape = {.flags = RTE_TCP_ACK_FLAG};
	struct rte_mbuf *in = large_frame(&shape, 3000, 1000), *taken[POOL_MBUFS];
	struct bridge_counters counters = {0};
	uint32_t left = rte_mempool_avail_count(pool) - 2;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, taken, left), 0);
	assert_int_equal(split(&in_software, &in, 1, &counters), 1);
	assert_ptr_equal(out[0], in);
	assert_int_equal(counters.untouchable, 1);
	rte_pktmbuf_free_bulk(taken, left);
	rte_pktmbuf_free(in);
	assert_none_lost();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_together_are_the_whole),
		cmocka_unit_test(chains_of_any_shape),
		cmocka_unit_test(a_device_that_cuts_is_asked_to),
		cmocka_unit_test(the_rest_passes),
		cmocka_unit_test(frames_that_lie_about_their_length),
		cmocka_unit_test(little_room),
		cmocka_unit_test(too_many_parts),
		cmocka_unit_test(without_mbufs_nothing_is_lost),
	};

	return cmocka_run_group_tests_name("segment_split", tests, pool_up, pool_down);
}
