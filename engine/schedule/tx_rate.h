/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tx task takes another rate for its stream: rarely, but every poll of a paced task asks (one relaxed load of a line
 * that it reads anyway).
 *
 * The control thread says from which clock on the new rate holds, a millisecond ahead, and how the phase changes against
 * the one loaded (program/program_rate.h). A task that looks late, or has missed a change, still computes the same
 * schedule as all others: what is due does not depend on who looked when.
 */
#ifndef WR_SCHEDULE_TX_RATE_H
#define WR_SCHEDULE_TX_RATE_H

#include "schedule/tx_schedule.h"

static __rte_always_inline bool
tx_rate_changed(const struct tx_task *task, const struct traffic *traffic)
{
	return atomic_load_explicit(&traffic->rate_changes, memory_order_relaxed) !=
	       task->rate_changes;
}

/* A backlog beyond this is past its time: a window of schedule, and what waits for a whole burst. */
static inline uint64_t
tx_task_window(const struct tx_task *task)
{
	unsigned __int128 frames_q64 =
		(unsigned __int128)task->window_cycles * task->pacing.frames_per_cycle_q64;

	return (uint64_t)(frames_q64 >> 64) + 1 + task->hold_frames;
}

/* One consistent look at the stream's rate; false while it is being written. */
static inline bool
tx_rate_read(const struct traffic *traffic, const struct tx_rate *rate, uint64_t *changes,
	     uint64_t *from, uint64_t *frames_per_cycle_q64, unsigned __int128 *shift)
{
	uint64_t low, high;

	*changes = atomic_load_explicit(&traffic->rate_changes, memory_order_acquire);
	*from = atomic_load_explicit(&rate->from_tsc, memory_order_relaxed);
	*frames_per_cycle_q64 =
		atomic_load_explicit(&rate->frames_per_cycle_q64, memory_order_relaxed);
	low = atomic_load_explicit(&rate->shift_low, memory_order_relaxed);
	high = atomic_load_explicit(&rate->shift_high, memory_order_relaxed);
	*shift = (unsigned __int128)high << 64 | low;
	atomic_thread_fence(memory_order_acquire);
	return (*changes & 1) == 0 &&
	       atomic_load_explicit(&traffic->rate_changes, memory_order_relaxed) == *changes;
}

/*
 * The phase that a shift gives, counted from the task's own start, which is later than the stream's for some parts of a
 * ramp. What would have been due before that start is not, whatever the rate was.
 */
static inline unsigned __int128
tx_task_shifted(struct tx_task *task, uint64_t q64, unsigned __int128 shift, bool begun)
{
	unsigned __int128 phase =
		task->phase_loaded_q64 + shift + (unsigned __int128)task->ramp.lead_cycles * q64;

	if (begun || task->ramp.lead_cycles == 0)
		return phase;
	task->phase_loaded_q64 -= phase >> 64 << 64;
	return (uint64_t)phase;
}

/* Some rate has changed: this task's, too? A change that is ahead is looked for again at the next poll. */
static inline void
tx_task_take_rate(struct tx_task *task, const struct traffic *traffic, const struct tx_span *span,
		  uint64_t now)
{
	uint64_t changes, from, q64, counted = task->counters->frames_due;
	unsigned __int128 shift;

	if (task->rate == NULL) {
		task->rate_changes =
			atomic_load_explicit(&traffic->rate_changes, memory_order_relaxed);
		return;
	}
	if (!tx_rate_read(traffic, task->rate, &changes, &from, &q64, &shift))
		return;
	if (q64 != 0 && now < from)
		return;
	task->rate_changes = changes;
	if (q64 == 0 || from >= span->stop)
		return;
	pacing_set(&task->pacing, q64, tx_task_shifted(task, q64, shift, from > span->start));
	task->window_frames = tx_task_window(task);
	if (task->limit_cycles != UINT64_MAX)
		task->limit_cycles = tx_task_due_cycle(task, task->limit - 1);
	/* Told too late, a task may have counted frames that are due later now: it waits for them. */
	task->next_tsc = pacing_frames_due(&task->pacing, now - span->start) < counted
				 ? span->start + tx_task_due_cycle(task, counted)
				 : 0;
}

#endif
