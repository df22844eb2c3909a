/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT where a flow has several receivers. Which of its frames has another rx task received, too?
 *
 * All rx tasks that receive a flow have one window of it together. A word has the bits of 32 frames and the number of the
 * turn they belong to, so that a word of an earlier turn is an empty one, and none has to be cleared. A task collects
 * the bits of one word before it adds them, in one atomic operation.
 */
#ifndef WR_MEASURE_FLOW_COPIES_H
#define WR_MEASURE_FLOW_COPIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "counters/counters.h"

#define COPIES_WORD_FRAMES 32u

struct copies_window {
	uint32_t words;         /* a power of two */
	uint32_t turn_shift;    /* number >> turn_shift: the turn */
	_Atomic uint64_t *word; /* turn << 32 | bits */
};

/* Frames new to a task, all of one word, that it has not added yet. The task's own. */
struct copies_open {
	struct copies_window *window; /* NULL: none */
	struct flow_counters *counters;
	uint64_t number; /* of the word: a frame's divided by 32 */
	uint32_t bits;
};

/* Add them. Frames that were there already are copies; of those of an earlier turn it is not known. */
static inline void
copies_close(struct copies_open *open)
{
	const struct copies_window *window = open->window;
	_Atomic uint64_t *word = &window->word[open->number & (window->words - 1)];
	uint32_t turn = (uint32_t)(open->number * COPIES_WORD_FRAMES >> window->turn_shift);
	uint64_t before = atomic_load_explicit(word, memory_order_relaxed), after;
	uint32_t there;

	do {
		int32_t ahead = (int32_t)(turn - (uint32_t)(before >> 32));

		if (unlikely(ahead < 0)) {
			counter_add(&open->counters->too_late,
				    (uint64_t)__builtin_popcount(open->bits));
			open->bits = 0;
			return;
		}
		there = ahead == 0 ? (uint32_t)before : 0;
		after = (uint64_t)turn << 32 | there | open->bits;
	} while (unlikely(!atomic_compare_exchange_weak_explicit(
		word, &before, after, memory_order_relaxed, memory_order_relaxed)));
	there &= open->bits;
	if (unlikely(there != 0))
		counter_add(&open->counters->copies, (uint64_t)__builtin_popcount(there));
	open->bits = 0;
}

/* Frames number…number + count - 1 of a flow are new to the task. */
static inline void
copies_note(struct copies_open *open, struct copies_window *window, struct flow_counters *counters,
	    uint64_t number, uint32_t count)
{
	while (count > 0) {
		uint32_t bit = number % COPIES_WORD_FRAMES;
		uint32_t n = RTE_MIN(count, COPIES_WORD_FRAMES - bit);

		if (open->window != window || open->number != number / COPIES_WORD_FRAMES) {
			if (open->bits != 0)
				copies_close(open);
			open->window = window;
			open->counters = counters;
			open->number = number / COPIES_WORD_FRAMES;
		}
		open->bits |= UINT32_MAX >> (COPIES_WORD_FRAMES - n) << bit;
		number += n;
		count -= n;
	}
}

#endif
