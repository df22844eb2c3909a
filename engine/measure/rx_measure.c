/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rx_measure.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "base/units.h"
#include "protocol/frame_damage.h"
#include "protocol/layer3.h"
#include "protocol/stamp.h"
#include "measure/rx_times.h"

#define PREFETCH_AHEAD 4u

/* Octets of the frame up to the end of its first IP packet, 0 where there is none: what follows is padding. */
static uint32_t
ip_end(const uint8_t *frame, uint32_t octets)
{
	uint16_t type = 0;
	uint32_t at = layer3_of(frame, octets, &type);

	if (at == 0 || at + 6 > octets)
		return 0;
	if (type == ETHER_TYPE_IPV4)
		return at + load_16(frame + at + 2);
	return type == ETHER_TYPE_IPV6 ? at + 40 + load_16(frame + at + 4) : 0;
}

/* Look for a stamp that ends with the frame's octet number `end`. */
static inline bool
stamp_before(const struct rte_mbuf *mbuf, uint32_t end, uint16_t magic, struct stamp *stamp)
{
	uint8_t copy[STAMP_OCTETS];
	const uint8_t *octets;

	if (unlikely(end < STAMP_OCTETS || end > rte_pktmbuf_pkt_len(mbuf)))
		return false;
	octets = rte_pktmbuf_read(mbuf, end - STAMP_OCTETS, STAMP_OCTETS, copy);
	return octets != NULL && stamp_read(octets, magic, stamp);
}

static inline bool
find_stamp(const struct rte_mbuf *mbuf, uint16_t magic, struct stamp *stamp)
{
	uint32_t octets = rte_pktmbuf_pkt_len(mbuf), end;

	if (likely(stamp_before(mbuf, octets, magic, stamp)))
		return true;
	end = ip_end(rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));
	return end != octets && stamp_before(mbuf, end, magic, stamp);
}

bool
rx_has_stamp(const struct rte_mbuf *mbuf, uint16_t magic)
{
	struct stamp stamp;

	return find_stamp(mbuf, magic, &stamp);
}

/* Forget what lies a window behind the sequences from…to, which are new. */
static void
slide(struct flow_state *flow, uint64_t from, uint64_t to)
{
	if (to - from >= MEASURE_WINDOW) {
		memset(flow->seen, 0, sizeof(flow->seen));
		return;
	}
	for (; from < to; from++)
		flow->seen[from % MEASURE_WINDOW / 64] &= ~(UINT64_C(1) << from % 64);
}

static inline bool
mark_seen(struct flow_state *flow, uint64_t sequence)
{
	uint64_t *word = &flow->seen[sequence % MEASURE_WINDOW / 64];
	uint64_t bit = UINT64_C(1) << sequence % 64;
	bool seen = (*word & bit) != 0;

	*word |= bit;
	return seen;
}

/* RFC 4737 section 3.3: reordered is what has a lower number than an earlier one. What is wrong: enum frame_wrong. */
static inline uint8_t
note_order(struct flow_state *flow, uint32_t sequence)
{
	struct flow_counters *counters = flow->counters;
	uint64_t number;

	if (unlikely(flow->next == 0))
		flow->next = UINT64_C(1) << 32 | sequence; /* room for lower ones */
	number = flow->next + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)flow->next);
	if (likely(number >= flow->next)) {
		slide(flow, flow->next, number + 1);
		flow->next = number + 1;
		mark_seen(flow, number);
		return 0;
	}
	if (unlikely(flow->next - number > MEASURE_WINDOW)) {
		counter_add(&counters->reordered, 1);
		counter_add(&counters->too_late, 1);
		return WRONG_REORDERED | WRONG_TOO_LATE;
	}
	if (mark_seen(flow, number)) {
		counter_add(&counters->duplicates, 1);
		return WRONG_DUPLICATE;
	}
	counter_add(&counters->reordered, 1);
	return WRONG_REORDERED;
}

static inline void
note_latency(struct flow_state *flow, uint64_t latency)
{
	struct flow_counters *counters = flow->counters;
	uint64_t before = flow->last_latency;

	latency = latency > STAMP_TIME_MASK / 2
			  ? 0
			  : latency; /* clocks of two sockets may differ by some cycles */
	counter_add(&counters->latency_cycles[latency_bucket(latency)], 1);
	counter_add(&counters->latency_sum_cycles, latency);
	if (unlikely(counters->latency_count == 0))
		counter_set(&counters->latency_min_cycles, latency);
	else
		counter_add(&counters->ipdv_sum_cycles,
			    latency > before ? latency - before : before - latency);
	counter_add(&counters->latency_count, 1);
	if (latency < counters->latency_min_cycles)
		counter_set(&counters->latency_min_cycles, latency);
	counter_max(&counters->latency_max_cycles, latency);
	flow->last_latency = latency;
}

/* What it is and what is wrong with it, for captures. */
static inline struct capture_note
note_frame(const struct measure *measure, struct rx_counters *counters, const struct rte_mbuf *mbuf,
	   uint64_t clock)
{
	struct capture_note note = {0};
	struct flow_counters *flow_counters;
	struct flow_state *flow;
	struct stamp stamp;
	uint16_t index;

	if (unlikely(frame_is_damaged(mbuf, measure->verify))) {
		counter_add(&counters->damaged_frames, 1);
		note.wrong = WRONG_DAMAGED;
	}
	if (unlikely(!find_stamp(mbuf, measure->magic, &stamp))) {
		counter_add(&counters->foreign_frames, 1);
		return note;
	}
	index = measure->index_of[stamp.id];
	if (unlikely(index == MEASURE_UNKNOWN)) {
		counter_add(&counters->strange_frames, 1);
		return note;
	}
	note.stamped = true;
	note.id = stamp.id;
	note.sequence = stamp.sequence;
	flow = &measure->flows[index];
	flow_counters = flow->counters;
	counter_add(&flow_counters->frames, 1);
	counter_add(&flow_counters->octets, rte_pktmbuf_pkt_len(mbuf) + FCS_OCTETS);
	if (unlikely(flow_counters->first_tsc == 0))
		counter_set(&flow_counters->first_tsc, clock);
	counter_set(&flow_counters->last_tsc, clock);
	note.wrong |= note_order(flow, stamp.sequence);
	if (likely((note.wrong & WRONG_DUPLICATE) == 0))
		note_latency(flow, (clock - stamp.departure) & STAMP_TIME_MASK);
	return note;
}

/* `timed` is a literal: nothing of a device's times is in the other loop. */
static __rte_always_inline void
note_burst(const struct measure *measure, struct rx_counters *counters,
	   struct rte_mbuf *const *mbufs, uint16_t count, uint64_t clock, const bool timed)
{
	struct clock_line line = {0, 0, 0};

	if (timed)
		clock_relation_read(measure->times.relation, &line);
	for (uint16_t i = 0; i < count; i++) {
		struct capture_note note;
		uint64_t time;

		if (i + PREFETCH_AHEAD < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], const void *));
		time = timed ? rx_time_of(&measure->times, &line, mbufs[i], clock, counters)
			     : clock;
		note = note_frame(measure, counters, mbufs[i], time);
		if (unlikely(note.wrong != 0))
			capture_bad(measure->bad, mbufs[i], time, note);
	}
}

void
rx_measure(const struct measure *measure, struct rx_counters *counters,
	   struct rte_mbuf *const *mbufs, uint16_t count, uint64_t clock)
{
	if (likely(measure->times.relation == NULL))
		note_burst(measure, counters, mbufs, count, clock, false);
	else
		note_burst(measure, counters, mbufs, count, clock, true);
}
