/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. A tx task against its schedule: what is due, what is too late, when it is over. */
#ifndef WR_WORKER_TX_SCHEDULE_H
#define WR_WORKER_TX_SCHEDULE_H

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "worker/worker.h"

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
	tx_task_advance(task, frames);
	counter_add(&task->counters->frames_unsent, frames);
}

/* Frames to be handed over now, at most a burst; counts what is due and gives up what is too late. */
static __rte_always_inline uint16_t
tx_task_take_due(struct tx_task *task, const struct traffic *traffic, uint64_t now, bool paced)
{
	uint64_t start = atomic_load_explicit(&traffic->start_tsc, memory_order_relaxed);
	uint64_t stop = atomic_load_explicit(&traffic->stop_tsc, memory_order_relaxed);
	uint64_t due, backlog;

	if (paced) {
		due = pacing_frames_due(&task->pacing, RTE_MIN(now, stop) - start);
		/* A stop may lie before frames already sent: no frame becomes undue. */
		due = RTE_MAX(RTE_MIN(due, task->limit), task->done);
		if (due == task->done)
			return 0;
		counter_set(&task->counters->frames_due, due);
		backlog = due - task->done;
		if (unlikely(backlog > task->window_frames)) {
			tx_task_give_up(task, backlog - task->window_frames);
			backlog = task->window_frames;
		}
	} else {
		backlog = task->limit - task->done;
	}
	return (uint16_t)RTE_MIN(backlog, (uint64_t)task->burst);
}

/* The end, asked for or not: what was due by now and has not been sent, is unsent. */
static inline void
tx_task_finish(struct tx_task *task, const struct traffic *traffic, uint64_t now, bool paced)
{
	if (paced) {
		uint64_t start = atomic_load_explicit(&traffic->start_tsc, memory_order_relaxed);
		uint64_t stop = atomic_load_explicit(&traffic->stop_tsc, memory_order_relaxed);
		uint64_t due = pacing_frames_due(&task->pacing, RTE_MIN(now, stop) - start);

		due = RTE_MAX(RTE_MIN(due, task->limit), task->done);
		counter_set(&task->counters->frames_due, due);
		if (due > task->done)
			tx_task_give_up(task, due - task->done);
	} else {
		counter_set(&task->counters->frames_due, task->done);
	}
	counter_set(&task->counters->state, TASK_DONE);
}

/* True when the task has nothing left to do. Not paced it ends with the clock, paced when its backlog is sent. */
static __rte_always_inline bool
tx_task_is_over(const struct tx_task *task, const struct traffic *traffic, uint64_t now, bool paced)
{
	uint64_t stop = atomic_load_explicit(&traffic->stop_tsc, memory_order_relaxed);

	if (task->done == task->limit)
		return true;
	if (likely(now < stop))
		return false;
	return !paced || now - stop > task->window_cycles ||
	       task->done == task->counters->frames_due;
}

#endif
