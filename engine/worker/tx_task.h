/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Send what is due of one stream on one queue: due -> give up what is too late -> send -> account.
 *
 * The clock is read once per burst (36 cycles on the machine of the first measurements, a 64-octet frame costs 13):
 * the reading after a burst is the reading before the next.
 */
#ifndef WR_WORKER_TX_TASK_H
#define WR_WORKER_TX_TASK_H

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "schedule/tx_rate.h"
#include "schedule/tx_schedule.h"
#include "worker/worker.h"

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

static __rte_always_inline void
tx_task_account(struct tx_task *task, const struct tx_span *span, uint16_t sent, uint64_t now,
		uint64_t after, bool paced)
{
	struct tx_counters *counters = task->counters;
	uint32_t first = task->position;

	counter_add(&counters->frames, sent);
	counter_add(&counters->octets,
		    task->octets_before[first + sent] - task->octets_before[first]);
	counter_add(&counters->bursts, 1);
	counter_add(&counters->busy_cycles, after - now);
	counter_set(&counters->last_tsc, after);
	histogram_add(counters->burst_cycles, after - now);
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, now);
	if (paced) {
		uint64_t due = span->start + tx_task_due_cycle(task, task->done);
		uint64_t lateness = now > due ? now - due : 0;

		histogram_add(counters->lateness_cycles, lateness);
		counter_max(&counters->lateness_max_cycles, lateness);
	}
	tx_task_advance(task, sent);
}

static inline void
tx_task_prefetch(const struct tx_task *task)
{
	uint32_t next = task->position + task->burst;

	if (next >= task->ring_length)
		next -= task->ring_length;
	for (uint16_t i = 0; i < task->burst; i++) {
		rte_prefetch0(task->frames[next + i]);
		rte_prefetch0((const char *)task->frames[next + i] + RTE_CACHE_LINE_SIZE);
	}
}

/* Write into the next `count` frames what varies, as of `elapsed` cycles after the task's start. */
static __rte_always_inline void
tx_task_write(struct tx_task *task, uint64_t elapsed, uint16_t count)
{
	struct rte_mbuf *const *mbufs = &task->frames[task->position];
	uint64_t first = task->done, turn = WALK_NO_TURN;

	if (task->ramp.flows > 0) {
		tx_ramp_look(&task->ramp, elapsed);
		counter_set(&task->counters->active_flows, task->ramp.turn);
		first = task->ramp.next;
		turn = task->ramp.turn;
	}
	tx_walk_write(task->walk, mbufs, task->position, first, turn, count);
}

/* Returns the clock after the call; now is the clock before it, not before the traffic's start. */
static __rte_always_inline uint64_t
tx_task_poll(struct tx_task *task, const struct traffic *traffic, uint64_t now, bool paced)
{
	const struct tx_span span = tx_task_span(task, traffic);
	uint16_t count, sent;
	uint64_t after;

	if (unlikely(now < span.start && now < span.stop))
		return now;
	if (paced && unlikely(tx_rate_changed(task, traffic)))
		tx_task_take_rate(task, traffic, &span, now);
	if (paced && now < task->next_tsc && now < span.stop)
		return now;
	count = tx_task_take_due(task, &span, now, paced);
	if (unlikely(tx_task_is_over(task, &span, now, paced))) {
		tx_task_finish(task, &span, now, paced);
		if (task->ramp.flows > 0 && now > span.start)
			counter_set(&task->counters->active_flows,
				    tx_ramp_own_after(&task->ramp, now - span.start));
		return now;
	}
	if (count == 0) {
		tx_task_wait(task, &span);
		return now;
	}
	if (unlikely(now < task->retry_at))
		return now;
	if (task->prefetch)
		tx_task_prefetch(task);
	if (task->walk != NULL)
		tx_task_write(task, now - span.start, count);
	if (task->stamped)
		tx_stamp_write(&task->stamp, &task->frames[task->position], task->done, count,
			       rte_rdtsc());
	sent = rte_eth_tx_burst(task->port_id, task->queue_id,
				(struct rte_mbuf **)(uintptr_t)&task->frames[task->position],
				count);
	after = rte_rdtsc();
	if (sent > 0) {
		tx_task_account(task, &span, sent, now, after, paced);
		if (task->ramp.flows > 0)
			tx_ramp_advance(&task->ramp, sent);
		task->refused_since = 0;
	} else if (!paced) {
		tx_task_refused(task, count, now);
	}
	if (unlikely(sent < count))
		tx_task_full(task, after);
	return after;
}

#endif
