/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. The order of a flow's frames as one rx task receives them: which are late, which came before, and which cannot be,
 * since the sender, a tx task of this engine, has not sent them yet, or not then. docs/design/0005-measurement.md.
 *
 * A frame's number is its sequence, which is not wrapped at 2^32, plus FLOW_NUMBER_FIRST.
 */
#ifndef WR_MEASURE_FLOW_ORDER_H
#define WR_MEASURE_FLOW_ORDER_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "capture/capture_sink.h"
#include "counters/counters.h"
#include "measure/flow_copies.h"
#include "protocol/stamp.h"

#define MEASURE_WINDOW 65536u /* frames behind the highest of which it is known whether they came */
#define FLOW_NUMBER_FIRST (UINT64_C(1) << 32) /* room for lower ones than the first that arrives */

/* Who sends a flow. */
struct flow_sender {
	const struct tx_counters *counters; /* NULL: not known, so that stamps are believed */
	uint32_t burst;                     /* frames that may have left and are not counted yet */
};

/* One flow as one rx task sees it. */
struct flow_state {
	alignas(COUNTERS_ALIGN) uint64_t next; /* highest number + 1; 0 before the first frame */
	uint64_t departure;                    /* of the frame with the highest number, 48 bits */
	uint64_t sent; /* numbers below have been sent, as of the last look */
	uint64_t last_latency;
	struct copies_window *copies; /* NULL: no other task receives the flow */
	struct flow_sender sender;
	uint64_t seen[MEASURE_WINDOW / 64]; /* bit n modulo the window: number n has arrived */
};

/* Did `later` not depart before `earlier`? Both have 48 bits. */
static inline bool
departed_in_order(uint64_t earlier, uint64_t later)
{
	return ((later - earlier) & STAMP_TIME_MASK) <= STAMP_TIME_MASK / 2;
}

/* Forget what lies a window behind the numbers from…to, which are new. */
static inline void
flow_slide(struct flow_state *flow, uint64_t from, uint64_t to)
{
	if (to - from >= MEASURE_WINDOW) {
		memset(flow->seen, 0, sizeof(flow->seen));
		return;
	}
	for (; from < to; from++)
		flow->seen[from % MEASURE_WINDOW / 64] &= ~(UINT64_C(1) << from % 64);
}

static inline bool
flow_mark_seen(struct flow_state *flow, uint64_t number)
{
	uint64_t *word = &flow->seen[number % MEASURE_WINDOW / 64];
	uint64_t bit = UINT64_C(1) << number % 64;
	bool seen = (*word & bit) != 0;

	*word |= bit;
	return seen;
}

/* The next numbers take the bits of those a window before them, which are set unless these never came. */
static inline void
flow_mark_next(struct flow_state *flow, uint32_t count)
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

/* The number of a sequence by what has been sent, which is read anew: another lcore's cache line. */
static inline uint64_t
flow_number_by_sender(struct flow_state *flow, uint32_t sequence)
{
	const struct tx_counters *sender = flow->sender.counters;
	uint64_t done = __atomic_load_n(&sender->frames, __ATOMIC_RELAXED) +
			__atomic_load_n(&sender->frames_unsent, __ATOMIC_RELAXED);

	flow->sent = FLOW_NUMBER_FIRST + done + flow->sender.burst;
	return FLOW_NUMBER_FIRST + done + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)done);
}

/* Has the sender sent this number, and at a time between those of its neighbours? */
static inline bool
flow_may_have(const struct flow_state *flow, uint64_t number, uint64_t departure)
{
	if (flow->sender.counters == NULL)
		return true;
	if (number < FLOW_NUMBER_FIRST || number >= flow->sent)
		return false;
	if (flow->next == 0)
		return true;
	return number >= flow->next ? departed_in_order(flow->departure, departure)
				    : departed_in_order(departure, flow->departure);
}

/*
 * The number of a frame: the one next to the highest so far. Where that is the first, or too late, or cannot be, what has
 * been sent says more: any number of frames may have gone elsewhere. False where the frame cannot be.
 */
static inline bool
flow_number(struct flow_state *flow, uint32_t sequence, uint64_t departure, uint64_t *number)
{
	uint64_t next = flow->next;

	*number = next == 0 ? FLOW_NUMBER_FIRST | sequence
			    : next + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)next);
	if (likely(next != 0 && *number + MEASURE_WINDOW >= next &&
		   flow_may_have(flow, *number, departure)))
		return true;
	if (flow->sender.counters == NULL)
		return true;
	*number = flow_number_by_sender(flow, sequence);
	return flow_may_have(flow, *number, departure);
}

/*
 * One frame, in order or not. RFC 4737 section 3.3: reordered is what has a lower number than an earlier one.
 * What is wrong: enum frame_wrong. Of what is not impossible, *number is the number.
 */
static inline uint8_t
flow_note_one(struct flow_state *flow, struct flow_counters *counters, uint32_t sequence,
	      uint64_t departure, uint64_t *number)
{
	if (unlikely(!flow_number(flow, sequence, departure, number)))
		return WRONG_IMPOSSIBLE;
	if (*number >= flow->next) {
		flow_slide(flow, flow->next, *number + 1);
		flow->next = *number + 1;
		flow->departure = departure;
		flow_mark_seen(flow, *number);
		return 0;
	}
	if (flow->next - *number > MEASURE_WINDOW) {
		counter_add(&counters->reordered, 1);
		counter_add(&counters->too_late, 1);
		return WRONG_REORDERED | WRONG_TOO_LATE;
	}
	if (flow_mark_seen(flow, *number)) {
		counter_add(&counters->duplicates, 1);
		return WRONG_DUPLICATE;
	}
	counter_add(&counters->reordered, 1);
	return WRONG_REORDERED;
}

#endif
