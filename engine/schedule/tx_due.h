/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. When a frame of a paced tx task is due, and how many are by now: by a rate, by bursts, by times of a trace. */
#ifndef WR_SCHEDULE_TX_DUE_H
#define WR_SCHEDULE_TX_DUE_H

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "schedule/tx_state.h"

/* Cycles after the task's start at which its frame k is due; 0 when it is not paced. */
static inline uint64_t
tx_task_due_cycle(const struct tx_task *task, uint64_t k)
{
	switch (task->schedule) {
	case TX_RATE:
		return pacing_due_cycle(&task->pacing, k);
	case TX_BURSTS:
		return (uint64_t)((double)(k / task->burst_frames) * task->burst_cycles) +
		       pacing_due_cycle(&task->pacing, k % task->burst_frames);
	case TX_TIMES:
		return (uint64_t)((double)(k / task->lap_frames) * task->lap_cycles) +
		       task->lap_times[k % task->lap_frames];
	default:
		return 0;
	}
}

static inline uint64_t
tx_task_due_of_bursts(const struct tx_task *task, uint64_t elapsed)
{
	uint64_t burst = (uint64_t)((double)elapsed / task->burst_cycles), begin, due;

	begin = (uint64_t)((double)burst * task->burst_cycles);
	if (unlikely(begin > elapsed)) { /* the division was rounded up */
		burst--;
		begin = (uint64_t)((double)burst * task->burst_cycles);
	}
	due = pacing_frames_due(&task->pacing, elapsed - begin);
	return burst * task->burst_frames + RTE_MIN(due, task->burst_frames);
}

/* Continues where the last look ended: each frame is passed once. */
static inline uint64_t
tx_task_due_of_times(struct tx_task *task, uint64_t elapsed)
{
	while (task->due < task->limit &&
	       task->lap_start + task->lap_times[task->lap_position] < elapsed) {
		task->due++;
		if (++task->lap_position < task->lap_frames)
			continue;
		task->lap_position = 0;
		task->lap_start = (uint64_t)((double)++task->lap * task->lap_cycles);
	}
	return task->due;
}

/* Frames due within the first `elapsed` cycles of the task. */
static __rte_always_inline uint64_t
tx_task_frames_due(struct tx_task *task, uint64_t elapsed)
{
	if (likely(task->schedule == TX_RATE))
		return pacing_frames_due(&task->pacing, elapsed);
	if (task->schedule == TX_BURSTS)
		return tx_task_due_of_bursts(task, elapsed);
	return tx_task_due_of_times(task, elapsed);
}

#endif
