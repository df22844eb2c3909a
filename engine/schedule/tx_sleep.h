/* SPDX-License-Identifier: BSD-3-Clause */
/* For how long a tx task lets its worker sleep. */
#ifndef WR_SCHEDULE_TX_SLEEP_H
#define WR_SCHEDULE_TX_SLEEP_H

#include "schedule/tx_schedule.h"

/*
 * Clock until which the worker may sleep, as far as this task is concerned; at least `quantum` away, or `now`. A task
 * whose rate may change looks for a higher one after a quantum; the sleep before its next frame is a whole one.
 */
static inline uint64_t
tx_task_sleeps_until(const struct tx_task *task, const struct traffic *traffic, uint64_t now,
		     uint64_t quantum)
{
	const struct tx_span span = tx_task_span(task, traffic);
	uint64_t due;

	if (task->counters->state == TASK_DONE)
		return UINT64_MAX;
	if (task->retry_at > now)
		return task->retry_at;
	if (now < span.start)
		return RTE_MIN(span.start, span.stop);
	if (task->schedule == TX_UNPACED || task->counters->frames_due > task->done ||
	    now >= span.stop)
		return now;
	due = tx_task_next_due(task, &span);
	if (task->rate != NULL && due > now + quantum)
		due = RTE_MIN(due - quantum, now + quantum);
	else
		due = RTE_MAX(due, now + quantum);
	return RTE_MIN(due, span.stop);
}

#endif
