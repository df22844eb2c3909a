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

/*
 * Frames of one flow that came one after the other, left in one burst and have consecutive numbers: nearly all of a
 * busy flow. What is known of one is known of all.
 */
struct run {
	uint64_t latency;
	uint64_t departure; /* 48 bits */
	uint64_t octets;    /* without FCS */
	uint64_t clock;
	uint32_t sequence; /* of the first */
	uint16_t index;    /* of its flow */
	uint16_t frames;
	uint16_t at; /* the first one's place in the chunk */
	bool damaged;
	bool impossible; /* it has not departed, or not in this run */
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

/* Cycles since the start of the traffic, the longest that a frame may have been under way. */
static inline uint64_t
longest_latency(const struct measure *measure, uint64_t clock)
{
	uint64_t start, longest = STAMP_TIME_MASK / 2;

	if (measure->start == NULL)
		return longest;
	start = atomic_load_explicit(measure->start, memory_order_relaxed);
	if (unlikely(start > clock))
		return 0;
	return RTE_MIN(clock - start + measure->skew_cycles, longest);
}

/* A latency longer than that: by a little less than nothing, as clocks differ, is nothing. */
static __rte_noinline void
judge_latency(const struct measure *measure, struct run *run)
{
	if (measure->start == NULL || STAMP_TIME_MASK - run->latency < measure->skew_cycles)
		run->latency = 0;
	else
		run->impossible = true;
}

/* A frame that continues no run: begins it one? Foreign, strange and damaged frames are counted here. */
static inline bool
begin_run(struct run *run, struct successor *expected, const struct measure *measure,
	  struct rx_counters *counters, const struct rte_mbuf *mbuf, uint64_t clock,
	  uint64_t longest)
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
	run->departure = stamp.departure;
	run->latency = (clock - stamp.departure) & STAMP_TIME_MASK;
	if (unlikely(run->latency > longest))
		judge_latency(measure, run);
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

/* What became of a run's frames. */
struct noted {
	uint32_t fresh;      /* of the others: no duplicates */
	uint32_t impossible; /* of all */
};

static inline void
note_fresh(const struct measure *measure, const struct flow_state *flow,
	   struct flow_counters *counters, uint64_t number, uint32_t count)
{
	if (unlikely(flow->copies != NULL))
		copies_note(measure->copies, flow->copies, counters, number, count);
}

/* The order of a run's frames. */
static inline struct noted
note_order(const struct measure *measure, const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct flow_state *flow = &measure->flows[run->index];
	struct flow_counters *counters = &measure->counters[run->index];
	struct noted noted = {0, 0};
	uint8_t wrong = run->damaged ? WRONG_DAMAGED : 0;

	for (uint32_t done = 0; done < run->frames; done++) {
		uint32_t sequence = run->sequence + done;
		uint64_t number = flow->next;

		if (likely((uint32_t)number == sequence && number != 0 && wrong == 0 &&
			   departed_in_order(flow->departure, run->departure))) {
			flow_mark_next(flow, run->frames - done);
			flow->departure = run->departure;
			note_fresh(measure, flow, counters, number, run->frames - done);
			noted.fresh += run->frames - done;
			break;
		}
		wrong |= flow_note_one(flow, counters, sequence, run->departure, &number);
		noted.impossible += (wrong & WRONG_IMPOSSIBLE) != 0;
		if (likely((wrong & (WRONG_DUPLICATE | WRONG_IMPOSSIBLE)) == 0)) {
			noted.fresh++;
			if (likely((wrong & WRONG_TOO_LATE) == 0))
				note_fresh(measure, flow, counters, number, 1);
		}
		if (unlikely(wrong != 0))
			keep_bad(measure, mbufs[run->at + done], wrong, run->clock);
		wrong = 0;
	}
	return noted;
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

/* Frames that are not what their stamps say: whatever damaged them is counted already. */
static __rte_noinline void
count_impossible(const struct measure *measure, const struct run *run, uint32_t frames)
{
	if (!run->damaged)
		counter_add(&measure->counters[run->index].impossible, frames);
}

/* A run of no flow, or of a time that cannot be. */
static __rte_noinline void
count_unbelieved(const struct measure *measure, const struct run *run,
		 struct rte_mbuf *const *mbufs)
{
	uint8_t wrong = run->damaged ? WRONG_DAMAGED : 0;

	if (run->index != MEASURE_UNKNOWN) {
		wrong |= WRONG_IMPOSSIBLE;
		count_impossible(measure, run, run->frames);
	}
	for (uint32_t i = 0; i < RTE_MAX(run->frames, 1u); i++)
		keep_bad(measure, mbufs[run->at + i], wrong, run->clock);
}

static inline void
count_run(const struct measure *measure, struct run *run, struct rte_mbuf *const *mbufs)
{
	struct flow_counters *counters;
	struct noted noted;

	if (unlikely(run->index == MEASURE_UNKNOWN || run->impossible)) {
		count_unbelieved(measure, run, mbufs);
		return;
	}
	counters = &measure->counters[run->index];
	noted = note_order(measure, run, mbufs);
	if (unlikely(noted.impossible > 0)) {
		count_impossible(measure, run, noted.impossible);
		if (noted.impossible == run->frames)
			return;
		run->octets -= run->octets / run->frames * noted.impossible;
		run->frames -= (uint16_t)noted.impossible;
	}
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, run->clock);
	counter_set(&counters->last_tsc, run->clock);
	counter_add(&counters->frames, run->frames);
	counter_add(&counters->octets, run->octets + run->frames * FCS_OCTETS);
	if (likely(noted.fresh > 0))
		note_latency(&measure->flows[run->index], counters, run->latency, noted.fresh);
}

/* `timed` is a literal: nothing of a device's times is in the other loop. Such frames are a run each. */
static __rte_always_inline void
measure_chunk(const struct measure *measure, struct rx_counters *counters,
	      struct rte_mbuf *const *mbufs, uint32_t count, uint64_t clock, const bool timed)
{
	struct successor expected = {NO_SUCCESSOR, 0};
	struct clock_line line = {0, 0, 0};
	const bool untimed = !timed && measure->times.relation != NULL;
	uint64_t longest = longest_latency(measure, clock);
	struct run runs[CHUNK];
	uint32_t n = 0;

	if (timed)
		clock_relation_read(measure->times.relation, &line);
	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];
		uint64_t time = clock;
		bool own = false;

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
			own = rx_time_of(&measure->times, measure->skew_cycles, &line, mbuf, clock,
					 &time);
		if (begin_run(&runs[n], &expected, measure, counters, mbuf, time, longest)) {
			runs[n].at = (uint16_t)i;
			if (runs[n].index != MEASURE_UNKNOWN) {
				fetch_flow(measure, &runs[n]);
				if (timed)
					counter_add(own ? &counters->own_times
							: &counters->bad_times,
						    1);
			}
			n++;
		}
	}
	for (uint32_t r = 0; r < n; r++) {
		if (unlikely(untimed)) /* a run of no flow has 0 frames */
			counter_add(&counters->bad_times, runs[r].frames);
		count_run(measure, &runs[r], mbufs);
	}
}

void
rx_measure(const struct measure *measure, struct rx_counters *counters,
	   struct rte_mbuf *const *mbufs, uint16_t count, uint64_t clock)
{
	for (uint32_t from = 0; from < count; from += CHUNK) {
		uint32_t n = RTE_MIN(count - from, CHUNK);

		if (unlikely(rx_times_are_used(&measure->times, counters)))
			measure_chunk(measure, counters, mbufs + from, n, clock, true);
		else
			measure_chunk(measure, counters, mbufs + from, n, clock, false);
	}
	if (unlikely(measure->copies != NULL) && measure->copies->bits != 0)
		copies_close(measure->copies);
}
