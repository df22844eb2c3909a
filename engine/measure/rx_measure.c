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
static bool
stamp_before(const struct rte_mbuf *mbuf, uint32_t end, uint16_t magic, struct stamp *stamp)
{
	uint8_t copy[STAMP_OCTETS];
	const uint8_t *octets;

	if (end < STAMP_OCTETS || end > rte_pktmbuf_pkt_len(mbuf))
		return false;
	octets = rte_pktmbuf_read(mbuf, end - STAMP_OCTETS, STAMP_OCTETS, copy);
	return octets != NULL && stamp_read(octets, magic, stamp);
}

/* In several mbufs, or before padding. */
static __rte_noinline bool
find_stamp_elsewhere(const struct rte_mbuf *mbuf, uint16_t magic, struct stamp *stamp)
{
	uint32_t end = ip_end(rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));

	return stamp_before(mbuf, rte_pktmbuf_pkt_len(mbuf), magic, stamp) ||
	       stamp_before(mbuf, end, magic, stamp);
}

static inline bool
find_stamp(const struct rte_mbuf *mbuf, uint16_t magic, struct stamp *stamp)
{
	uint32_t octets = rte_pktmbuf_data_len(mbuf);
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	if (likely(octets == rte_pktmbuf_pkt_len(mbuf) && octets >= STAMP_OCTETS &&
		   stamp_read(frame + octets - STAMP_OCTETS, magic, stamp)))
		return true;
	return find_stamp_elsewhere(mbuf, magic, stamp);
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
note_one(struct flow_state *flow, struct flow_counters *counters, uint32_t sequence)
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

/* The next numbers take the bits of those a window before them, which are set unless these never came. */
static inline void
mark_next(struct flow_state *flow, uint32_t count)
{
	uint64_t next = flow->next;

	flow->next += count;
	while (count > 0) {
		uint32_t bit = next % 64, n = RTE_MIN(count, 64 - bit);

		flow->seen[next % MEASURE_WINDOW / 64] |= (UINT64_MAX >> (64 - n)) << bit;
		next += n;
		count -= n;
	}
}

/*
 * Frames of one flow that came one after the other, left in one burst and have consecutive numbers: nearly all of a
 * busy flow. What is known of one is known of all.
 */
struct run {
	uint64_t latency;
	uint64_t octets; /* without FCS */
	uint64_t clock;
	uint32_t sequence; /* of the first */
	uint16_t index;    /* of its flow */
	uint16_t frames;
	uint16_t at; /* the first one's place in the chunk */
	bool damaged;
};

/* What the stamp of a frame must be for it to belong to the run before it. */
struct successor {
	uint64_t first; /* but for the compensator */
	uint64_t second;
};

#define SEQUENCE_STEP (UINT64_C(1) << STAMP_TIME_BITS)
#define NO_SUCCESSOR UINT64_MAX

static inline void
expect_next(struct successor *expected)
{
	expected->second += SEQUENCE_STEP;
	if (unlikely(expected->second < SEQUENCE_STEP)) /* the upper half of the number changes */
		expected->first = NO_SUCCESSOR;
}

static inline bool
is_successor(const struct successor *expected, const struct rte_mbuf *mbuf)
{
	uint32_t octets = rte_pktmbuf_data_len(mbuf);
	const uint8_t *tail = rte_pktmbuf_mtod(mbuf, const uint8_t *) + octets - STAMP_OCTETS;
	uint64_t first, second;

	if (unlikely(octets != rte_pktmbuf_pkt_len(mbuf) || octets < STAMP_OCTETS))
		return false;
	first = stamp_load_half(tail);
	second = stamp_load_half(tail + 8);
	return (first & STAMP_TIME_MASK) == expected->first && second == expected->second &&
	       stamp_adds_up(first, second);
}

/* Clocks of two sockets may differ by some cycles: less than nothing is nothing. */
static inline uint64_t
latency_of(uint64_t clock, uint64_t departure)
{
	uint64_t latency = (clock - departure) & STAMP_TIME_MASK;

	return latency > STAMP_TIME_MASK / 2 ? 0 : latency;
}

/* A frame that continues no run: begins it one? Foreign, strange and damaged frames are counted here. */
static inline bool
begin_run(struct run *run, struct successor *expected, const struct measure *measure,
	  struct rx_counters *counters, const struct rte_mbuf *mbuf, uint64_t clock)
{
	struct stamp stamp;
	bool stamped = find_stamp(mbuf, measure->magic, &stamp);

	*run = (struct run){
		.clock = clock, .octets = rte_pktmbuf_pkt_len(mbuf), .index = MEASURE_UNKNOWN};
	expected->first = NO_SUCCESSOR;
	if (unlikely(frame_is_suspect(mbuf, measure->verify)) &&
	    frame_is_damaged(mbuf, measure->verify)) {
		counter_add(&counters->damaged_frames, 1);
		run->damaged = true;
	}
	if (likely(stamped))
		run->index = measure->index_of[stamp.id];
	if (unlikely(run->index == MEASURE_UNKNOWN)) {
		if (stamped)
			counter_add(&counters->strange_frames, 1);
		else if (!run->damaged) /* which may have been anybody's */
			counter_add(&counters->foreign_frames, 1);
		return run->damaged;
	}
	run->sequence = stamp.sequence;
	run->latency = latency_of(clock, stamp.departure);
	run->frames = 1;
	if (likely(!run->damaged)) {
		stamp_pack(&stamp, &expected->first, &expected->second);
		expected->first &= STAMP_TIME_MASK;
		expect_next(expected);
	}
	return true;
}

/* Have what the flow of a run will need come near. */
static inline void
fetch_flow(const struct measure *measure, const struct run *run)
{
	const struct flow_state *flow = &measure->flows[run->index];
	const struct flow_counters *counters = &measure->counters[run->index];

	rte_prefetch0(flow);
	rte_prefetch0(&flow->seen[run->sequence % MEASURE_WINDOW / 64]);
	rte_prefetch0(counters);
	rte_prefetch0(&counters->latency_cycles[latency_bucket(run->latency)]);
}

/* Keep a frame that something is wrong with, if anybody wants it. */
static __rte_noinline void
keep_bad(const struct measure *measure, const struct rte_mbuf *mbuf, uint8_t wrong, uint64_t clock)
{
	struct capture_note note = {.wrong = wrong};
	struct stamp stamp;

	if (measure->bad == NULL)
		return;
	note.stamped = find_stamp(mbuf, measure->magic, &stamp) &&
		       measure->index_of[stamp.id] != MEASURE_UNKNOWN;
	if (note.stamped) {
		note.id = stamp.id;
		note.sequence = stamp.sequence;
	}
	capture_bad(measure->bad, mbuf, clock, note);
}

/* The order of a run's frames. Returns how many of them are no duplicates. */
static inline uint32_t
note_order(const struct measure *measure, const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct flow_state *flow = &measure->flows[run->index];
	uint32_t done = 0, fresh = run->frames;
	uint8_t wrong = run->damaged ? WRONG_DAMAGED : 0;

	while (done < run->frames) {
		uint32_t sequence = run->sequence + done;

		if (likely((uint32_t)flow->next == sequence && flow->next != 0 && wrong == 0)) {
			mark_next(flow, run->frames - done);
			break;
		}
		wrong |= note_one(flow, &measure->counters[run->index], sequence);
		fresh -= (wrong & WRONG_DUPLICATE) != 0;
		if (unlikely(wrong != 0))
			keep_bad(measure, mbufs[run->at + done], wrong, run->clock);
		wrong = 0;
		done++;
	}
	return fresh;
}

static inline void
note_latency(struct flow_state *flow, struct flow_counters *counters, uint64_t latency,
	     uint32_t frames)
{
	uint64_t before = flow->last_latency;

	counter_add(&counters->latency_cycles[latency_bucket(latency)], frames);
	counter_add(&counters->latency_sum_cycles, frames * latency);
	if (unlikely(counters->latency_count == 0)) {
		counter_set(&counters->latency_min_cycles, latency);
		before = latency;
	}
	counter_add(&counters->ipdv_sum_cycles,
		    latency > before ? latency - before : before - latency);
	counter_add(&counters->latency_count, frames);
	if (latency < counters->latency_min_cycles)
		counter_set(&counters->latency_min_cycles, latency);
	counter_max(&counters->latency_max_cycles, latency);
	flow->last_latency = latency;
}

static inline void
count_run(const struct measure *measure, const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct flow_counters *counters;
	uint32_t fresh;

	if (unlikely(run->index == MEASURE_UNKNOWN)) {
		keep_bad(measure, mbufs[run->at], WRONG_DAMAGED, run->clock);
		return;
	}
	counters = &measure->counters[run->index];
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, run->clock);
	counter_set(&counters->last_tsc, run->clock);
	counter_add(&counters->frames, run->frames);
	counter_add(&counters->octets, run->octets + run->frames * FCS_OCTETS);
	fresh = note_order(measure, run, mbufs);
	if (likely(fresh > 0))
		note_latency(&measure->flows[run->index], counters, run->latency, fresh);
}

/* `timed` is a literal: nothing of a device's times is in the other loop. Such frames are a run each. */
static __rte_always_inline void
measure_chunk(const struct measure *measure, struct rx_counters *counters,
	      struct rte_mbuf *const *mbufs, uint32_t count, uint64_t clock, const bool timed)
{
	struct successor expected = {NO_SUCCESSOR, 0};
	struct clock_line line = {0, 0, 0};
	struct run runs[CHUNK];
	uint32_t n = 0;

	if (timed)
		clock_relation_read(measure->times.relation, &line);
	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];
		uint64_t time = clock;

		if (i + 2 * PREFETCH_AHEAD < count)
			rte_prefetch0(mbufs[i + 2 * PREFETCH_AHEAD]);
		if (i + PREFETCH_AHEAD < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], const void *));
		if (!timed && likely(is_successor(&expected, mbuf)) &&
		    likely(!frame_is_suspect(mbuf, measure->verify))) {
			runs[n - 1].frames++;
			runs[n - 1].octets += rte_pktmbuf_pkt_len(mbuf);
			expect_next(&expected);
			continue;
		}
		if (timed)
			time = rx_time_of(&measure->times, &line, mbuf, clock, counters);
		if (begin_run(&runs[n], &expected, measure, counters, mbuf, time)) {
			runs[n].at = (uint16_t)i;
			if (runs[n].index != MEASURE_UNKNOWN)
				fetch_flow(measure, &runs[n]);
			n++;
		}
	}
	for (uint32_t r = 0; r < n; r++)
		count_run(measure, &runs[r], mbufs);
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
