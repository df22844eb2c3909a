/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stamps and what a receiver makes of them: checksums stay right, latency is that of a sorted list, stamps are found
 * behind tags, tunnels and padding, and nothing else is taken for one. Order and duplicates: test_flow_order.c.
 *
 * Run by `meson test`; DPDK's inline functions and mempools without hugepages or devices. Source: protocol/stamp.h,
 * edit/tx_stamp.h, measure/rx_measure.h, docs/design/0005-measurement.md.
 */
#include "tests/measure_fixture.h"

#include "protocol/checksum.h"
#include "worker/worker.h"

static uint8_t *
octets_of(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_mtod(mbuf, uint8_t *);
}

static void
stamps_say_what_was_written(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 1;

	for (unsigned int round = 0; round < 300; round++) {
		struct tx_stamp said = {(uint16_t)random_next(&seed), (uint16_t)random_next(&seed)};
		uint64_t done = random_next(&seed) >> 30, clock = random_next(&seed);
		uint16_t count = (uint16_t)(1 + random_next(&seed) % FRAMES);

		tx_stamp_write(&said, f->mbufs, done, count, clock);
		for (uint16_t j = 0; j < count; j++) {
			const uint8_t *tail = octets_of(f->mbufs[j]) + FRAME - STAMP_OCTETS;
			struct stamp stamp;

			assert_true(stamp_read(tail, said.magic, &stamp));
			assert_false(stamp_read(tail, said.magic ^ 1, &stamp));
			assert_int_equal(stamp.id, said.id);
			assert_int_equal(stamp.sequence, (uint32_t)(done + j));
			assert_int_equal(stamp.departure, clock & STAMP_TIME_MASK);
		}
	}
}

/* The sum over the frame is that of a frame with zeros, from an even or an odd octet on. */
static void
checksums_do_not_change(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 2;

	for (unsigned int round = 0; round < 2000; round++) {
		uint8_t *octets = octets_of(f->mbufs[0]);
		uint32_t first = (uint32_t)(random_next(&seed) % 40);
		uint16_t before;

		for (uint32_t i = 0; i < FRAME - STAMP_OCTETS; i++)
			octets[i] = (uint8_t)random_next(&seed);
		memset(octets + FRAME - STAMP_OCTETS, 0, STAMP_OCTETS);
		before = checksum_finish(checksum_sum(octets + first, FRAME - first));
		stamp_one(f, 0, random_next(&seed), random_next(&seed));
		assert_int_equal(checksum_finish(checksum_sum(octets + first, FRAME - first)),
				 before);
	}
}

static int
compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The value below which `share` of the frames lie, from the histogram: the lower end of its bucket. */
static uint64_t
percentile(const struct flow_counters *counters, double share)
{
	uint64_t target = (uint64_t)(share * (double)counters->latency_count), sum = 0;
	unsigned int bucket = 0;

	while ((sum += counters->latency_cycles[bucket]) <= target)
		bucket++;
	if (bucket < 2u << LATENCY_SUB_BITS)
		return bucket;
	return (uint64_t)(bucket % (1u << LATENCY_SUB_BITS) + (1u << LATENCY_SUB_BITS))
	       << (bucket / (1u << LATENCY_SUB_BITS) - 1);
}

static void
latency_is_that_of_a_sorted_list(void **state)
{
	enum { N = 50000 };
	static uint64_t latencies[N];
	struct fixture *f = *state;
	uint64_t seed = 4, sum = 0, ipdv = 0;

	for (uint32_t i = 0; i < N; i++) {
		uint64_t departure = random_next(&seed); /* the 48 bits wrap now and then */

		latencies[i] = 500 + (random_next(&seed) >> (28 + random_next(&seed) % 30));
		stamp_one(f, 0, i, departure);
		rx_measure(&f->measure, &f->rx, f->mbufs, 1, departure + latencies[i]);
		sum += latencies[i];
		if (i > 0)
			ipdv += latencies[i] > latencies[i - 1] ? latencies[i] - latencies[i - 1]
								: latencies[i - 1] - latencies[i];
	}
	qsort(latencies, N, sizeof(latencies[0]), compare_numbers);
	assert_int_equal(f->counters->latency_min_cycles, latencies[0]);
	assert_int_equal(f->counters->latency_max_cycles, latencies[N - 1]);
	assert_int_equal(f->counters->latency_sum_cycles, sum);
	assert_int_equal(f->counters->ipdv_sum_cycles, ipdv);
	for (double share = 0.01; share < 1; share += 0.01) {
		uint64_t exact = latencies[(uint32_t)(share * N)],
			 read = percentile(f->counters, share);

		assert_in_range(read, exact - exact / 1000 - 1, exact);
	}
}

/* Put octets in front of frame 0's number `at`, as a DUT does that tags or tunnels. */
static void
insert(struct rte_mbuf *mbuf, uint32_t at, uint32_t octets)
{
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(mbuf, (uint16_t)octets);

	memmove(frame, frame + octets, at);
	memset(frame + at, 0x5a, octets);
}

static void
receive(struct fixture *f, uint64_t frames, uint64_t foreign)
{
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	assert_int_equal(f->counters->frames, frames);
	assert_int_equal(f->rx.foreign_frames, foreign);
}

static void
stamps_are_found_wherever_they_end(void **state)
{
	struct fixture *f = *state;
	struct rte_mbuf *mbuf = f->mbufs[0];
	uint8_t *octets;

	stamp_one(f, 0, 1, 0);
	receive(f, 1, 0);
	insert(mbuf, 12, 4); /* a VLAN tag */
	receive(f, 2, 0);
	insert(mbuf, 0, 50); /* a tunnel */
	receive(f, 3, 0);
	rte_pktmbuf_adj(mbuf, 54);
	octets = octets_of(mbuf);
	memcpy(octets + 12, "\x08\x00\x45\x00\x00\x32", 6); /* IPv4 of 50 octets */
	memset(rte_pktmbuf_append(mbuf, 10), 0, 10);        /* and padding behind */
	receive(f, 4, 0);
	octets[17]++; /* the packet ends elsewhere */
	receive(f, 4, 1);
	memcpy(octets + 12, "\x86\xdd\x60\x00\x00\x00\x00\x0a", 8); /* IPv6, 40 and 10 octets */
	receive(f, 5, 1);
	octets[13] = 0xdc;
	receive(f, 5, 2);
}

static void
chained_mbufs_are_read(void **state)
{
	struct fixture *f = *state;

	for (uint16_t cut = 1; cut < FRAME; cut++) {
		struct rte_mbuf *head = f->mbufs[0], *tail = rte_pktmbuf_alloc(f->pool);

		stamp_one(f, 0, cut, 0);
		memcpy(rte_pktmbuf_append(tail, FRAME - cut), octets_of(head) + cut, FRAME - cut);
		rte_pktmbuf_trim(head, FRAME - cut);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		receive(f, cut, 0);
		head->next = NULL;
		head->nb_segs = 1;
		head->pkt_len = head->data_len;
		rte_pktmbuf_append(head, FRAME - cut);
		rte_pktmbuf_free(tail);
	}
}

static void
others_are_never_mistaken(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 5;

	stamp_one(f, 0, 1, 0);
	f->index_of[STREAM] = MEASURE_UNKNOWN;
	receive(f, 0, 0);
	assert_int_equal(f->rx.strange_frames, 1);
	f->index_of[STREAM] = 0;
	for (uint32_t octet = FRAME - STAMP_OCTETS; octet < FRAME; octet++) {
		octets_of(f->mbufs[0])[octet] ^= 1;
		receive(f, 0, octet - (FRAME - STAMP_OCTETS) + 1);
		octets_of(f->mbufs[0])[octet] ^= 1;
	}
	f->rx.foreign_frames = 0;
	for (uint32_t i = 1; i <= 1000000; i++) {
		for (uint32_t o = 0; o < FRAME; o += 8) {
			uint64_t noise = random_next(&seed);

			memcpy(octets_of(f->mbufs[0]) + o, &noise, sizeof(noise));
		}
		f->mbufs[0]->data_len = (uint16_t)(i % (FRAME + 1));
		f->mbufs[0]->pkt_len = f->mbufs[0]->data_len;
		rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	}
	assert_int_equal(f->rx.foreign_frames, 1000000);
	assert_int_equal(f->counters->frames, 0);
}

/* A UDP packet of 50 octets of IPv4 with right checksums behind the Ethernet header, and a stamp. */
static void
make_udp(struct fixture *f, uint32_t i, uint64_t sequence)
{
	static const uint8_t head[] = {
		8, 0, 0x45, 0,  0, 50, 0, 0, 0, 0, 64, 17, 0,  0, 10,
		0, 0, 1,    10, 0, 0,  2, 4, 0, 0, 53, 0,  30, 0, 0,
	};
	uint8_t *octets = octets_of(f->mbufs[i]);
	uint16_t sum;

	memset(octets, 0, FRAME);
	memcpy(octets + 12, head, sizeof(head));
	sum = checksum_finish(checksum_sum(octets + 14, 20));
	octets[24] = (uint8_t)(sum >> 8);
	octets[25] = (uint8_t)sum;
	sum = checksum_finish(checksum_sum(octets + 26, 8) + 17 + 30 +
			      checksum_sum(octets + 34, 30));
	octets[40] = (uint8_t)(sum >> 8);
	octets[41] = (uint8_t)sum;
	stamp_one(f, i, sequence, 0);
}

static void
damage_is_counted_and_measured(void **state)
{
	struct fixture *f = *state;
	uint64_t damaged = 0;

	f->measure.verify = true;
	for (uint32_t octet = 14; octet < FRAME - STAMP_OCTETS; octet++) {
		make_udp(f, 0, octet);
		rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
		assert_int_equal(f->rx.damaged_frames, damaged);
		octets_of(f->mbufs[0])[octet] ^= 0x10;
		rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
		assert_int_equal(f->rx.damaged_frames, ++damaged);
	}
	assert_int_equal(f->counters->frames, 2 * damaged);
	assert_int_equal(f->counters->duplicates, damaged);
	assert_int_equal(f->rx.foreign_frames, 0);
}

/* Cut anywhere, a right frame is right and a wrong one wrong. */
static void
chains_are_verified_whole(void **state)
{
	struct fixture *f = *state;

	f->measure.verify = true;
	for (uint16_t cut = 1; cut < FRAME; cut++) {
		struct rte_mbuf *head = rte_pktmbuf_alloc(f->pool);
		struct rte_mbuf *tail = rte_pktmbuf_alloc(f->pool);

		make_udp(f, 0, cut);
		memcpy(rte_pktmbuf_append(head, cut), octets_of(f->mbufs[0]), cut);
		memcpy(rte_pktmbuf_append(tail, FRAME - cut), octets_of(f->mbufs[0]) + cut,
		       FRAME - cut);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		rx_measure(&f->measure, &f->rx, &head, 1, 100);
		assert_int_equal(f->rx.damaged_frames, cut - 1);
		*rte_pktmbuf_mtod_offset(cut < 45 ? tail : head, uint8_t *,
					 cut < 45 ? 45 - cut : 20) ^= 1;
		rx_measure(&f->measure, &f->rx, &head, 1, 100);
		assert_int_equal(f->rx.damaged_frames, cut);
		rte_pktmbuf_free(head);
	}
}

/* Without `verify`, the device's word is taken; "not known" is none of its complaints. */
static void
devices_tell_of_damage(void **state)
{
	static const uint64_t good[] = {0,
					RTE_MBUF_F_RX_IP_CKSUM_GOOD,
					RTE_MBUF_F_RX_IP_CKSUM_NONE,
					RTE_MBUF_F_RX_L4_CKSUM_GOOD,
					RTE_MBUF_F_RX_L4_CKSUM_NONE,
					RTE_MBUF_F_RX_VLAN_STRIPPED};
	struct fixture *f = *state;

	stamp_one(f, 0, 1, 0);
	for (size_t i = 0; i < COUNT(good); i++) {
		f->mbufs[0]->ol_flags = good[i];
		rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	}
	assert_int_equal(f->rx.damaged_frames, 0);
	f->mbufs[0]->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_BAD;
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	f->mbufs[0]->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	assert_int_equal(f->rx.damaged_frames, 2);
	f->mbufs[0]->ol_flags = 0;
}

/* A sink of bad frames gets just those, with what is known of them. */
static void
bad_frames_are_captured(void **state)
{
	static const uint64_t sequences[] = {200000, 200001, 200003, 200002, 200003, 1};
	static const uint8_t wrong[] = {WRONG_REORDERED, WRONG_DUPLICATE,
					WRONG_REORDERED | WRONG_TOO_LATE, WRONG_DAMAGED};
	static const uint32_t kept[] = {200002, 200003, 1, 0};
	static struct capture_counters counters;
	static alignas(64) uint8_t slots[8 * 128];
	struct capture_sink sink = {.counters = &counters,
				    .slots = slots,
				    .slot_octets = 128,
				    .slot_count = 8,
				    .octets_max = 100};
	struct fixture *f = *state;

	f->measure.bad = &sink;
	for (uint32_t i = 0; i < COUNT(sequences); i++)
		stamp_one(f, i, sequences[i], 0);
	f->mbufs[6]->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD; /* without a stamp */
	rx_measure(&f->measure, &f->rx, f->mbufs, 8, 100);
	f->mbufs[6]->ol_flags = 0;
	assert_int_equal(sink.used, COUNT(wrong));
	for (uint32_t i = 0; i < COUNT(wrong); i++) {
		const struct capture_slot *slot = capture_slot_of(&sink, i);

		assert_int_equal(slot->tsc, 100);
		assert_int_equal(slot->note.wrong, wrong[i]);
		assert_int_equal(slot->note.stamped, kept[i] != 0);
		assert_int_equal(slot->note.id, kept[i] != 0 ? STREAM : 0);
		assert_int_equal(slot->note.sequence, kept[i]);
		assert_memory_equal(slot->octets, octets_of(f->mbufs[3 + i]), FRAME);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stamps_say_what_was_written),      TEST(checksums_do_not_change),
		TEST(latency_is_that_of_a_sorted_list), TEST(stamps_are_found_wherever_they_end),
		TEST(chained_mbufs_are_read),           TEST(others_are_never_mistaken),
		TEST(damage_is_counted_and_measured),   TEST(chains_are_verified_whole),
		TEST(devices_tell_of_damage),           TEST(bad_frames_are_captured),
	};

	return cmocka_run_group_tests_name("measure", tests, eal_up, eal_down);
}
