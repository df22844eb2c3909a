/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. A tx task against its schedule: what is due, what is too late, when it is over. */
#ifndef WR_SCHEDULE_TX_SCHEDULE_H
#define WR_SCHEDULE_TX_SCHEDULE_H

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "schedule/tx_due.h"
#include "schedule/tx_state.h"

/* The task's own start and end of transmission, as clock readings. */
struct tx_span {
	uint64_t start;
	uint64_t stop;
};

static __rte_always_inline struct tx_span
tx_task_span(const struct tx_task *task, const struct traffic *traffic)
{
	uint64_t start = atomic_load_explicit(&traffic->start_tsc, memory_order_relaxed);
	uint64_t stop = atomic_load_explicit(&traffic->stop_tsc, memory_order_relaxed);
	struct tx_span span = {start + task->delay_cycles, stop};

	if (task->duration_cycles != UINT64_MAX)
		span.stop = RTE_MIN(stop, span.start + task->duration_cycles);
	return span;
}

static inline void
tx_task_advance(struct tx_task *task, uint64_t frames)
{
	uint64_t position = task->position + frames;

	if (unlikely(position >= task->ring_length)) {
		position -= task->ring_length;
		if (unlikely(position >= task->ring_length))
			position %= task->ring_length;
	}
	task->position = (uint32_t)position;
	task->done += frames;
}

/* Frames whose time is past are not sent any more, but counted. */
static inline void
tx_task_give_up(struct tx_task *task, uint64_t frames)
{
	if (task->written)
		task->done += frames;
	else
		tx_task_advance(task, frames);
	counter_add(&task->counters->frames_unsent, frames);
}

/* Not paced: a burst that the device has refused for a whole window is given up, the next one gets its turn. */
static inline void
tx_task_refused(struct tx_task *task, uint16_t count, uint64_t now)
{
	if (task->refused_since == 0) {
		task->refused_since = now;
	} else if (now - task->refused_since > task->window_cycles) {
		tx_task_give_up(task, count);
		task->refused_since = now;
	}
}

/*
 * The device took less than offered: it is full. Where asking again at once disturbs whoever empties it (worker.h), it
 * is left in peace until refill_frames are free, by the rate at which it took frames since it was full last. A pause
 * that was too long shortens the next: the device has then taken a whole ring in that time.
 */
static inline void
tx_task_full(struct tx_task *task, uint64_t now)
{
	uint64_t frames = task->done - task->full_done, cycles = now - task->full_tsc;
	uint64_t pause = task->pause_cycles_max;

	counter_add(&task->counters->bursts_short, 1);
	if (task->refill_frames == 0)
		return;
	if (frames > 0 && cycles < 64 * pause)
		pause = RTE_MIN(pause, cycles * task->refill_frames / frames);
	task->retry_at = now + pause;
	task->full_done = task->done;
	task->full_tsc = now;
}

/* How many of the frames done…due are past their time. */
static __rte_always_inline uint64_t
tx_task_too_late(const struct tx_task *task, uint64_t due, uint64_t elapsed)
{
	uint64_t late = 0;

	if (likely(task->schedule != TX_TIMES))
		return due - task->done > task->window_frames
			       ? due - task->done - task->window_frames
			       : 0;
	while (task->done + late < due &&
	       tx_task_due_cycle(task, task->done + late) + task->window_cycles < elapsed)
		late++;
	return late;
}

/* Frames due at `now`, those already handled included; never fewer than handled: a stop may lie before frames sent. */
static __rte_always_inline uint64_t
tx_task_due_now(struct tx_task *task, const struct tx_span *span, uint64_t now)
{
	uint64_t end = RTE_MIN(now, span->stop);
	uint64_t due = end > span->start ? tx_task_frames_due(task, end - span->start) : 0;

	return RTE_MAX(RTE_MIN(due, task->limit), task->done);
}

/* No whole burst is due: the rest goes when no more will be. */
static inline bool
tx_task_holds(const struct tx_task *task, const struct tx_span *span, uint64_t due, uint64_t now)
{
	return due == task->done || (due < task->limit && now < span->stop);
}

/* Frames to be handed over now, at most a burst; counts what is due and gives up what is too late. */
static __rte_always_inline uint16_t
tx_task_take_due(struct tx_task *task, const struct tx_span *span, uint64_t now, bool paced)
{
	uint64_t backlog;

	if (paced) {
		uint64_t due = tx_task_due_now(task, span, now), late;

		if (due - task->done <= task->hold_frames && tx_task_holds(task, span, due, now))
			return 0;
		counter_set(&task->counters->frames_due, due);
		late = tx_task_too_late(task, due, now - span->start);
		if (unlikely(late > 0))
			tx_task_give_up(task, late);
		backlog = due - task->done;
	} else {
		backlog = task->limit - task->done;
	}
	return (uint16_t)RTE_MIN(backlog, (uint64_t)task->burst);
}

/* Clock at which something is to be sent, when nothing is now; there are frames left. */
static inline uint64_t
tx_task_next_due(const struct tx_task *task, const struct tx_span *span)
{
	uint64_t k = RTE_MIN(task->done + task->hold_frames, task->limit - 1);

	return span->start + tx_task_due_cycle(task, k);
}

static inline void
tx_task_wait(struct tx_task *task, const struct tx_span *span)
{
	task->next_tsc = task->done < task->limit ? tx_task_next_due(task, span) : 0;
}

/* The end, asked for or not: what was due by now and has not been sent, is unsent. */
static inline void
tx_task_finish(struct tx_task *task, const struct tx_span *span, uint64_t now, bool paced)
{
	if (paced) {
		uint64_t due = tx_task_due_now(task, span, now);

		counter_set(&task->counters->frames_due, due);
		if (due > task->done)
			tx_task_give_up(task, due - task->done);
	} else {
		counter_set(&task->counters->frames_due, task->done);
	}
	counter_set(&task->counters->state, TASK_DONE);
}

/*
 * True when the task has nothing left to do. Not paced it ends with the clock, paced when its backlog is sent, or when
 * the last frame that will ever be due is past its time.
 */
static __rte_always_inline bool
tx_task_is_over(const struct tx_task *task, const struct tx_span *span, uint64_t now, bool paced)
{
	uint64_t end = span->stop;

	if (task->done == task->limit)
		return true;
	if (paced && unlikely(task->limit_cycles != UINT64_MAX))
		end = RTE_MIN(end, span->start + task->limit_cycles);
	if (likely(now < end))
		return false;
	return !paced || now - end > task->window_cycles ||
	       (now >= span->stop && task->done == task->counters->frames_due);
}

#endif
