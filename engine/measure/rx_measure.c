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
#define CHUNK 64u /* frames looked at before any is counted */

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
static uint8_t
note_disorder(struct flow_state *flow, struct flow_counters *counters, uint32_t sequence)
{
	uint64_t number;

	if (flow->next == 0)
		flow->next = UINT64_C(1) << 32 | sequence; /* room for lower ones */
	number = flow->next + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)flow->next);
	if (number >= flow->next) {
		slide(flow, flow->next, number + 1);
		flow->next = number + 1;
		mark_seen(flow, number);
		return 0;
	}
	if (flow->next - number > MEASURE_WINDOW) {
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

/* The next number takes the bit of the one a window before it, which is set unless that never came. */
static inline uint8_t
note_order(struct flow_state *flow, struct flow_counters *counters, uint32_t sequence)
{
	const uint64_t next = flow->next;

	if (unlikely((uint32_t)next != sequence || next == 0))
		return note_disorder(flow, counters, sequence);
	flow->seen[next % MEASURE_WINDOW / 64] |= UINT64_C(1) << next % 64;
	flow->next = next + 1;
	return 0;
}

/* A frame as the first look shows it. */
struct look {
	uint64_t clock;
	uint64_t latency;
	uint32_t sequence;
	uint16_t id;
	uint16_t index; /* of its flow, or MEASURE_UNKNOWN */
	bool stamped;
	bool damaged;
};

/* What frames of one flow that follow each other add up to, before it is written back. */
struct tally {
	struct flow_state *flow;
	struct flow_counters *counters;
	uint64_t frames;
	uint64_t octets;
	uint64_t latencies;
	uint64_t latency_sum;
	uint64_t ipdv_sum;
	uint64_t latency_min;
	uint64_t latency_max;
	uint64_t last_latency;
	uint64_t clock;
};

static inline void
begin_tally(struct tally *tally, const struct measure *measure, uint16_t index, uint64_t clock)
{
	struct flow_state *flow = &measure->flows[index];
	struct flow_counters *counters = &measure->counters[index];
	bool fresh = counters->latency_count == 0;

	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, clock);
	*tally = (struct tally){
		.flow = flow,
		.counters = counters,
		.latency_min = unlikely(fresh) ? UINT64_MAX : counters->latency_min_cycles,
		.latency_max = counters->latency_max_cycles,
		.last_latency = unlikely(fresh) ? UINT64_MAX : flow->last_latency,
	};
}

static inline void
end_tally(const struct tally *tally)
{
	struct flow_counters *counters = tally->counters;

	counter_add(&counters->frames, tally->frames);
	counter_add(&counters->octets, tally->octets);
	counter_set(&counters->last_tsc, tally->clock);
	if (unlikely(tally->latencies == 0))
		return;
	counter_add(&counters->latency_count, tally->latencies);
	counter_add(&counters->latency_sum_cycles, tally->latency_sum);
	counter_add(&counters->ipdv_sum_cycles, tally->ipdv_sum);
	counter_set(&counters->latency_min_cycles, tally->latency_min);
	counter_set(&counters->latency_max_cycles, tally->latency_max);
	tally->flow->last_latency = tally->last_latency;
}

static inline void
note_latency(struct tally *tally, uint64_t latency)
{
	uint64_t before = tally->last_latency;

	counter_add(&tally->counters->latency_cycles[latency_bucket(latency)], 1);
	if (likely(before != UINT64_MAX))
		tally->ipdv_sum += latency > before ? latency - before : before - latency;
	tally->latencies++;
	tally->latency_sum += latency;
	tally->latency_min = RTE_MIN(tally->latency_min, latency);
	tally->latency_max = RTE_MAX(tally->latency_max, latency);
	tally->last_latency = latency;
}

/* Clocks of two sockets may differ by some cycles: less than nothing is nothing. */
static inline uint64_t
latency_of(uint64_t clock, uint64_t departure)
{
	uint64_t latency = (clock - departure) & STAMP_TIME_MASK;

	return latency > STAMP_TIME_MASK / 2 ? 0 : latency;
}

/* Which flow is it of? Foreign, strange and damaged frames are counted here. */
static inline void
look_at(struct look *look, const struct measure *measure, struct rx_counters *counters,
	const struct rte_mbuf *mbuf, uint64_t clock)
{
	struct stamp stamp;

	*look = (struct look){.clock = clock, .index = MEASURE_UNKNOWN};
	if (unlikely(frame_is_damaged(mbuf, measure->verify))) {
		counter_add(&counters->damaged_frames, 1);
		look->damaged = true;
	}
	if (unlikely(!find_stamp(mbuf, measure->magic, &stamp))) {
		counter_add(&counters->foreign_frames, 1);
		return;
	}
	look->index = measure->index_of[stamp.id];
	if (unlikely(look->index == MEASURE_UNKNOWN)) {
		counter_add(&counters->strange_frames, 1);
		return;
	}
	look->stamped = true;
	look->id = stamp.id;
	look->sequence = stamp.sequence;
	look->latency = latency_of(clock, stamp.departure);
}

/* Have what a flow that is not the one before will need come near. */
static inline void
fetch_flow(const struct measure *measure, const struct look *look)
{
	const struct flow_state *flow = &measure->flows[look->index];
	const struct flow_counters *counters = &measure->counters[look->index];

	rte_prefetch0(flow);
	rte_prefetch0(&flow->seen[look->sequence % MEASURE_WINDOW / 64]);
	rte_prefetch0(counters);
	rte_prefetch0(&counters->latency_cycles[latency_bucket(look->latency)]);
}

/* Returns the number of frames that something is wrong with; `wrong` says what, frame by frame. */
static inline uint32_t
count_chunk(const struct measure *measure, const struct look *looks, struct rte_mbuf *const *mbufs,
	    uint32_t count, uint8_t *wrong)
{
	uint32_t index = MEASURE_UNKNOWN, bad = 0;
	struct tally tally = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct look *look = &looks[i];

		wrong[i] = look->damaged ? WRONG_DAMAGED : 0;
		if (likely(look->index != MEASURE_UNKNOWN)) {
			if (look->index != index) {
				if (index != MEASURE_UNKNOWN)
					end_tally(&tally);
				index = look->index;
				begin_tally(&tally, measure, look->index, look->clock);
			}
			tally.frames++;
			tally.octets += rte_pktmbuf_pkt_len(mbufs[i]) + FCS_OCTETS;
			tally.clock = look->clock;
			wrong[i] |= note_order(tally.flow, tally.counters, look->sequence);
			if (likely((wrong[i] & WRONG_DUPLICATE) == 0))
				note_latency(&tally, look->latency);
		}
		bad += wrong[i] != 0;
	}
	if (index != MEASURE_UNKNOWN)
		end_tally(&tally);
	return bad;
}

static void
keep_bad(const struct measure *measure, const struct look *looks, struct rte_mbuf *const *mbufs,
	 uint32_t count, const uint8_t *wrong)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct capture_note note = {looks[i].sequence, looks[i].id, wrong[i],
						  looks[i].stamped};

		if (wrong[i] != 0)
			capture_bad(measure->bad, mbufs[i], looks[i].clock, note);
	}
}

/* `timed` is a literal: nothing of a device's times is in the other loop. */
static __rte_always_inline void
measure_chunk(const struct measure *measure, struct rx_counters *counters,
	      struct rte_mbuf *const *mbufs, uint32_t count, uint64_t clock, const bool timed)
{
	struct clock_line line = {0, 0, 0};
	struct look looks[CHUNK];
	uint8_t wrong[CHUNK];
	uint16_t index = MEASURE_UNKNOWN;

	if (timed)
		clock_relation_read(measure->times.relation, &line);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t time = clock;

		if (i + PREFETCH_AHEAD < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], const void *));
		if (timed)
			time = rx_time_of(&measure->times, &line, mbufs[i], clock, counters);
		look_at(&looks[i], measure, counters, mbufs[i], time);
		if (looks[i].index != index && looks[i].index != MEASURE_UNKNOWN)
			fetch_flow(measure, &looks[i]);
		index = looks[i].index;
	}
	if (unlikely(count_chunk(measure, looks, mbufs, count, wrong) > 0 && measure->bad != NULL))
		keep_bad(measure, looks, mbufs, count, wrong);
}

void
rx_measure(const struct measure *measure, struct rx_counters *counters,
	   struct rte_mbuf *const *mbufs, uint16_t count, uint64_t clock)
{
	for (uint32_t from = 0; from < count; from += CHUNK) {
		uint32_t n = RTE_MIN(count - from, CHUNK);

		if (likely(measure->times.relation == NULL))
			measure_chunk(measure, counters, mbufs + from, n, clock, false);
		else
			measure_chunk(measure, counters, mbufs + from, n, clock, true);
	}
}
