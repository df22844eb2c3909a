/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP segments merged: what Linux would merge, in order, and splitting gives the segments back.
 *
 * Run by `meson test`. Source: docs/design/0009-kernel-path.md, segments "merge".
 */
#include "tests/segment_fixture.h"

#include "bridge/segment_merge.h"
#include "bridge/segment_split.h"

enum { SEGMENT = 1000, MOST = 70, ROOM = 300 };

static const struct shape plain = {.flags = RTE_TCP_ACK_FLAG};

/* Segment `number` of a flow, with IPv4 identifications that count; of `payload` octets. */
static struct rte_mbuf *
segment_of(const struct shape *shape, uint32_t number, uint32_t payload)
{
	struct rte_mbuf *mbuf = make_frame(shape, number * SEGMENT, payload, 2000);
	uint8_t *ip = rte_pktmbuf_mtod(mbuf, uint8_t *) + l2_of(shape);

	if (!shape->ipv6) {
		put(ip + 4, (FIRST_ID + number) & 0xffff, 2);
		put(ip + 10, 0, 2);
		put(ip + 10, checksum_finish(checksum_sum(ip, 20)), 2);
	}
	return mbuf;
}

static struct rte_mbuf *
next_segment(uint32_t number)
{
	return segment_of(&plain, number, SEGMENT);
}

/* A field of a frame changed, and its TCP checksum made right again. */
static void
change(struct rte_mbuf *mbuf, uint32_t offset, uint8_t value)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	frame[offset] = value;
	put(frame + 50, 0, 2);
	put(frame + 50, tcp_sum(&plain, frame, mbuf->data_len), 2);
	put(frame + 24, 0, 2);
	put(frame + 24, checksum_finish(checksum_sum(frame + 14, 20)), 2);
}

static void
check_large(const struct shape *shape, const struct rte_mbuf *mbuf, uint32_t payload)
{
	static uint8_t frame[PAYLOAD_MAX + 200], expected[200];
	uint32_t octets = flatten(mbuf, frame), headers = headers_of(shape);
	uint32_t l4 = l2_of(shape) + l3_of(shape);

	assert_int_equal(octets, headers + payload);
	write_frame(shape, expected, 0, payload);
	memcpy(expected + l4 + 16, frame + l4 + 16, 2);
	assert_memory_equal(frame, expected, headers);
	for (uint32_t i = 0; i < payload; i++)
		assert_int_equal(frame[headers + i], payload_octet(i));
	assert_true((mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0);
	assert_int_equal(mbuf->tso_segsz, SEGMENT);
	assert_int_equal(mbuf->l2_len, l2_of(shape));
	assert_int_equal(mbuf->l3_len, l3_of(shape));
	assert_int_equal(mbuf->l4_len, 20 + shape->options);
}

/* As its driver would mark it, were it received. */
static void
check_split_again(struct rte_mbuf *large, struct rte_mbuf **originals, uint32_t count)
{
	const struct segment_splitter splitter = {.mtu = 1500};
	uint8_t was[2000], is[2000];
	struct rte_mbuf *out[ROOM];
	struct bridge_counters counters = {0};
	uint16_t taken;

	large->ol_flags = RTE_MBUF_F_RX_LRO;
	assert_int_equal(segment_split(&splitter, &large, 1, &taken, out, ROOM, &counters), count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t octets = flatten(originals[i], was);

		assert_int_equal(flatten(out[i], is), octets);
		assert_memory_equal(is, was, octets);
	}
	rte_pktmbuf_free_bulk(out, count);
}

static void
check_merge_and_split(const struct shape *shape, uint32_t count, uint32_t last_payload)
{
	struct rte_mbuf *mbufs[MOST], *originals[MOST];
	struct bridge_counters counters = {0};
	struct shape ordinary = *shape;

	ordinary.flags = RTE_TCP_ACK_FLAG;
	for (uint32_t i = 0; i < count; i++) {
		bool last = i + 1 == count;

		mbufs[i] = segment_of(last ? shape : &ordinary, i, last ? last_payload : SEGMENT);
		originals[i] = rte_pktmbuf_copy(mbufs[i], pool, 0, UINT32_MAX);
		assert_non_null(originals[i]);
	}
	assert_int_equal(segment_merge(mbufs, (uint16_t)count, &counters), 1);
	assert_int_equal(counters.merged, count);
	check_large(shape, mbufs[0], (count - 1) * SEGMENT + last_payload);
	check_split_again(mbufs[0], originals, count);
	rte_pktmbuf_free_bulk(originals, count);
	assert_none_lost();
}

static void
merged_and_split_is_as_before(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		const struct shape shape = {.vlans = i & 1,
					    .ipv6 = (i & 2) != 0,
					    .options = i & 4 ? TCP_OPTIONS : 0,
					    .flags = i & 8 ? RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG |
								     RTE_TCP_FIN_FLAG
							   : RTE_TCP_ACK_FLAG};

		check_merge_and_split(&shape, 2, SEGMENT);
		check_merge_and_split(&shape, 9, 1);
		check_merge_and_split(&shape, 60, SEGMENT - 1);
	}
}

/* Neither more than an IP header can tell, nor beyond a short segment or a push. */
static void
where_a_frame_ends(void **state)
{
	const struct shape push = {.flags = RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG};
	struct bridge_counters counters = {0};
	struct rte_mbuf *mbufs[MOST];

	(void)state;
	for (uint32_t i = 0; i < MOST; i++)
		mbufs[i] = next_segment(i);
	assert_int_equal(segment_merge(mbufs, MOST, &counters), 2);
	assert_int_equal(rte_pktmbuf_pkt_len(mbufs[0]), 54 + 65 * SEGMENT);
	assert_int_equal(rte_pktmbuf_pkt_len(mbufs[1]), 54 + 5 * SEGMENT);
	rte_pktmbuf_free_bulk(mbufs, 2);
	for (uint32_t i = 0; i < 4; i++)
		mbufs[i] = i == 1 ? segment_of(&push, i, SEGMENT) : next_segment(i);
	assert_int_equal(segment_merge(mbufs, 4, &counters), 2);
	assert_int_equal(rte_pktmbuf_pkt_len(mbufs[0]), 54 + 2 * SEGMENT);
	assert_int_equal(rte_pktmbuf_pkt_len(mbufs[1]), 54 + 2 * SEGMENT);
	rte_pktmbuf_free_bulk(mbufs, 2);
	mbufs[0] = next_segment(0);
	mbufs[1] = segment_of(&plain, 1, SEGMENT / 2);
	mbufs[2] = make_frame(&plain, SEGMENT + SEGMENT / 2, SEGMENT / 2, 2000);
	change(mbufs[2], 18, 0);
	change(mbufs[2], 19, 0); /* FIRST_ID + 2 */
	assert_int_equal(segment_merge(mbufs, 3, &counters), 2);
	assert_int_equal(rte_pktmbuf_pkt_len(mbufs[0]), 54 + SEGMENT + SEGMENT / 2);
	rte_pktmbuf_free_bulk(mbufs, 2);
	mbufs[0] = next_segment(0);
	mbufs[1] = segment_of(&plain, 1, SEGMENT + 1); /* longer than the first */
	assert_int_equal(segment_merge(mbufs, 2, &counters), 2);
	rte_pktmbuf_free_bulk(mbufs, 2);
	assert_none_lost();
}

/* What may not be merged; the frames that are left are those, in their order. */
static void
check_apart(struct rte_mbuf *first, struct rte_mbuf *second)
{
	struct rte_mbuf *mbufs[] = {first, second};
	struct bridge_counters counters = {0};

	assert_int_equal(segment_merge(mbufs, 2, &counters), 2);
	assert_ptr_equal(mbufs[0], first);
	assert_ptr_equal(mbufs[1], second);
	assert_int_equal(counters.merged, 0);
	assert_int_equal((first->ol_flags | second->ol_flags) & RTE_MBUF_F_TX_TCP_SEG, 0);
	rte_pktmbuf_free_bulk(mbufs, 2);
}

static void
what_stays_apart(void **state)
{
	/* Offsets in a plain frame, and another value there: a header that is not the first one's, or an odd flag. */
	static const struct {
		uint32_t offset;
		uint8_t value;
	} rows[] = {{0, 0x54},  {15, 0},           {19, 7},    {20, 0},    {22, 63}, {29, 1},
		    {33, 1},    {35, 0},           {37, 0},    {41, 0},    {45, 0},  {47, 0x12},
		    {47, 0x14}, {47, 0x18 | 0x20}, {47, 0x50}, {47, 0x90}, {49, 0},  {47, 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rte_mbuf *second = next_segment(1);

		change(second, rows[i].offset, rows[i].value);
		check_apart(next_segment(0), second);
	}
	check_apart(next_segment(1), next_segment(0));                   /* the wrong way round */
	check_apart(next_segment(0), next_segment(0));                   /* sent again */
	check_apart(next_segment(0), next_segment(2));                   /* one is missing */
	check_apart(segment_of(&plain, 0, 0), segment_of(&plain, 0, 0)); /* bare acknowledgements */
	assert_none_lost();
}

/* A large frame's checksums are made anew: what is damaged must not become part of one. */
static void
damage_stays_damage(void **state)
{
	struct rte_mbuf *second = next_segment(1);

	(void)state;
	rte_pktmbuf_mtod(second, uint8_t *)[60] ^= 1;
	check_apart(next_segment(0), second);
	second = next_segment(1);
	rte_pktmbuf_mtod(second, uint8_t *)[22] ^= 1; /* time to live, the header's sum is wrong */
	check_apart(next_segment(0), second);
	second = next_segment(1);
	rte_pktmbuf_mtod(second, uint8_t *)[60] ^= 1;
	second->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD;
	check_apart(next_segment(0), second);
	assert_none_lost();
}

/* Flows between each other keep their own order; a frame of a flow that cannot be merged is overtaken by none of it. */
static void
order_is_kept(void **state)
{
	const struct shape other = {.flags = RTE_TCP_ACK_FLAG, .ipv6 = true};
	struct bridge_counters counters = {0};
	struct rte_mbuf *first = next_segment(0), *ack = segment_of(&plain, 2, 0), *third;
	struct rte_mbuf *mbufs[] = {first,
				    segment_of(&other, 0, SEGMENT),
				    next_segment(1),
				    ack,
				    segment_of(&other, 1, SEGMENT),
				    next_segment(2),
				    next_segment(3)};
	struct rte_mbuf *second = mbufs[1];

	(void)state;
	third = mbufs[5];
	assert_int_equal(segment_merge(mbufs, 7, &counters), 4);
	assert_ptr_equal(mbufs[0], first);
	assert_ptr_equal(mbufs[1], second);
	assert_ptr_equal(mbufs[2], ack);
	assert_ptr_equal(mbufs[3], third);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(mbufs[i]->nb_segs, i == 2 ? 1 : 2);
	assert_int_equal(counters.merged, 6);
	rte_pktmbuf_free_bulk(mbufs, 4);
	assert_none_lost();
}

/* More flows than are open at a time: fewer are merged, and none is lost or out of order. */
static void
many_flows(void **state)
{
	struct bridge_counters counters = {0};
	struct rte_mbuf *mbufs[40];
	uint16_t left;

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		mbufs[i] = next_segment(i / 20);
		change(mbufs[i], 35, (uint8_t)(i % 20));
	}
	left = segment_merge(mbufs, 40, &counters);
	assert_int_equal(left, 40);
	rte_pktmbuf_free_bulk(mbufs, left);
	assert_none_lost();
}

/* Short frames are filled up to 60 octets on the wire; that is no payload. */
static void
padding_is_left_out(void **state)
{
	struct bridge_counters counters = {0};
	struct rte_mbuf *mbufs[2];
	uint8_t frame[200];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		mbufs[i] = segment_of(&plain, 0, 2);
		change(mbufs[i], 19, (uint8_t)(FIRST_ID + i));
		change(mbufs[i], 41, (uint8_t)(SEQUENCE + 2 * i));
		memset(rte_pktmbuf_append(mbufs[i], 4), 0xee, 4);
	}
	assert_int_equal(segment_merge(mbufs, 2, &counters), 1);
	assert_int_equal(flatten(mbufs[0], frame), 54 + 4);
	assert_null(memchr(frame + 54, 0xee, 4));
	rte_pktmbuf_free(mbufs[0]);
	assert_none_lost();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_and_split_is_as_before),
		cmocka_unit_test(where_a_frame_ends),
		cmocka_unit_test(what_stays_apart),
		cmocka_unit_test(damage_stays_damage),
		cmocka_unit_test(order_is_kept),
		cmocka_unit_test(many_flows),
		cmocka_unit_test(padding_is_left_out),
	};

	return cmocka_run_group_tests_name("segment_merge", tests, pool_up, pool_down);
}
