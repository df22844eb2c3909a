/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any octets as a received frame, in one to four segments: for the measuring receiver, for who counts flows,
 * for who answers, for who bridges it and for who sends it back.
 *
 * Called by libFuzzer; with -DWR_FUZZ_STANDALONE a program that replays the files given to it.
 * The first octet of an input says how the rest is cut. Each segment lies in memory of its own size, so that the
 * sanitizers see a step too far; mbufs are made by hand, no EAL.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "answer/answer.h"
#include "bridge/checksum_complete.h"
#include "bridge/frame_kind.h"
#include "flowtable/flow_table.h"
#include "fuzz/fuzz_standalone.h"
#include "protocol/stamp.h"
#include "edit/reverse.h"
#include "measure/rx_measure.h"

enum { SEGMENTS_MAX = 4, FRAME_MAX = 4096, STREAM = 7 };

static void
must(int condition)
{
	if (!condition)
		abort();
}

/* A chain of segments; the caller frees their octets. */
static struct rte_mbuf *
cut(struct rte_mbuf mbufs[SEGMENTS_MAX], uint8_t how, const uint8_t *octets, uint32_t n)
{
	uint32_t segments = 1 + how % SEGMENTS_MAX, each = 1 + how / SEGMENTS_MAX;

	memset(mbufs, 0, SEGMENTS_MAX * sizeof(mbufs[0]));
	mbufs[0].pkt_len = n;
	mbufs[0].nb_segs = (uint16_t)segments;
	for (uint32_t i = 0; i < segments; i++) {
		uint32_t length = i + 1 < segments && each < n ? each : n;

		mbufs[i].buf_addr = malloc(length > 0 ? length : 1);
		must(mbufs[i].buf_addr != NULL);
		memcpy(mbufs[i].buf_addr, octets, length);
		mbufs[i].data_len = mbufs[i].buf_len = (uint16_t)length;
		mbufs[i].next = i + 1 < segments ? &mbufs[i + 1] : NULL;
		octets += length;
		n -= length;
	}
	return &mbufs[0];
}

static uint64_t
sum_of(const struct rte_mbuf *mbuf)
{
	uint64_t sum = 0;

	for (; mbuf != NULL; mbuf = mbuf->next) {
		for (uint32_t i = 0; i < mbuf->data_len; i++)
			sum += rte_pktmbuf_mtod(mbuf, const uint8_t *)[i];
	}
	return sum;
}

/* Every frame is of a flow, strange or foreign, and of one of these only. */
static void
measure_frame(struct rte_mbuf *mbuf)
{
	static uint16_t index_of[UINT16_MAX + 1];
	static struct flow_counters counters;
	static struct flow_state flow;
	static struct rx_counters rx;
	const struct measure measure = {.magic = STAMP_MAGIC_DEFAULT,
					.index_of = index_of,
					.flows = &flow,
					.counters = &counters};
	uint64_t before = counters.frames + rx.strange_frames + rx.foreign_frames;
	uint64_t foreign = rx.foreign_frames;

	if (index_of[STREAM + 1] == 0) {
		memset(index_of, 0xff, sizeof(index_of));
		index_of[STREAM] = 0;
	}
	rx_measure(&measure, &rx, &mbuf, 1, 1000000);
	must(counters.frames + rx.strange_frames + rx.foreign_frames == before + 1);
	must(rx_has_stamp(mbuf, measure.magic) == (rx.foreign_frames == foreign));
	must(counters.latency_count + counters.duplicates == counters.frames);
}

/* A frame is of one flow at most, and of the same one when it comes again; no more than eight are known at a time. */
static void
note_frame(struct rte_mbuf *mbuf)
{
	static struct flow_slot slots[16];
	static uint64_t ipv6[8][4];
	static struct flow_table table = {
		.slots = slots, .ipv6 = ipv6, .mask = 15, .tuples_max = 8};
	static uint64_t distinct, overflow;
	uint64_t flows = distinct, lost = overflow;

	flow_table_note(&table, &mbuf, 1, &distinct, &overflow);
	must(distinct + overflow <= flows + lost + 1 && distinct <= table.tuples_max);
	flows = distinct;
	flow_table_note(&table, &mbuf, 1, &distinct, &overflow);
	must(distinct == flows && (overflow == lost || overflow == lost + 2));
	if (distinct < table.tuples_max)
		return;
	memset(slots, 0, sizeof(slots));
	table.tuples = table.ipv6_tuples = 0;
	distinct = overflow = 0;
}

static const struct answer_table *
table_of_a_host(void)
{
	static const struct host_address addresses[] = {
		{{0x02, 0x57, 0x52, 0, 0, 1}, false, {10, 0, 0, 1}},
		{{0x02, 0x57, 0x52, 0, 0, 1}, true, {0xfd, [15] = 1}},
	};
	static struct answer_table *table;

	if (table == NULL)
		must(answer_table_create(&table, addresses, 2, NULL) == 0);
	return table;
}

/* An answer comes from us and is made of what was asked; a frame that is not answered stays as it is. */
static void
answer_whole(const uint8_t *octets, uint32_t n, uint32_t spare)
{
	uint32_t room = n + spare, length = n;
	uint8_t *frame = malloc(room > 0 ? room : 1);
	enum answer asked, made;

	must(frame != NULL);
	memcpy(frame, octets, n);
	asked = answer_asked(table_of_a_host(), frame, n);
	must(asked == ANSWER_NONE || answer_is_candidate(frame, n));
	made = answer_make(table_of_a_host(), frame, &length, room);
	must(made == ANSWER_NONE || made == asked);
	must(length <= room && (made == ANSWER_NONE || length >= FRAME_OCTETS_MIN));
	if (made == ANSWER_NONE)
		must(length == n && memcmp(frame, octets, n) == 0);
	else
		must(memcmp(frame + MAC_OCTETS, "\x02\x57\x52\x00\x00\x01", MAC_OCTETS) == 0);
	free(frame);
}

/* A frame that cannot be completed stays as it is, one that was stays so when it is completed again. */
static void
bridge_frame(struct rte_mbuf *mbuf)
{
	static struct address_set set;
	uint64_t before = sum_of(mbuf), after;
	enum completion result;

	if (set.count == 0)
		address_set_add(&set, (const uint8_t *)"\x0a\x00\x00\x01", false);
	kind_of_frame(&set, mbuf);
	result = checksum_complete(mbuf, false);
	after = sum_of(mbuf);
	must(result == COMPLETION_DONE || after == before);
	must(checksum_complete(mbuf, false) == result && sum_of(mbuf) == after);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rte_mbuf mbufs[SEGMENTS_MAX], *mbuf;
	uint64_t sum;

	if (size < 1 || size > FRAME_MAX)
		return 0;
	mbuf = cut(mbufs, data[0], data + 1, (uint32_t)size - 1);
	measure_frame(mbuf);
	note_frame(mbuf);
	answer_is_candidate(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	answer_asked(table_of_a_host(), rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	answer_whole(data + 1, (uint32_t)size - 1, data[0]);
	bridge_frame(mbuf);
	sum = sum_of(mbuf);
	reverse(mbuf);
	must(sum_of(mbuf) == sum); /* octets change places, no more */
	for (uint32_t i = 0; i < mbuf->nb_segs; i++)
		free(mbufs[i].buf_addr);
	return 0;
}
