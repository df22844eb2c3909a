/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Send what is due of one stream on one queue: due -> give up what is too late -> send -> account.
 *
 * The clock is read once per burst (36 cycles on the machine of the first measurements, a 64-octet frame costs 13), or
 * once for several (schedule/tx_batch.h): the reading after a burst is the reading before the next.
 */
#ifndef WR_WORKER_TX_TASK_H
#define WR_WORKER_TX_TASK_H

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "schedule/tx_batch.h"
#include "schedule/tx_rate.h"
#include "schedule/tx_schedule.h"
#include "worker/worker.h"

/* What a task's calls have brought since the last reading of the clock. */
struct tx_sent {
	uint64_t first;  /* number of the first frame */
	uint64_t octets; /* with FCS */
	uint64_t bursts; /* calls that sent something */
};

static __rte_always_inline void
tx_task_account(struct tx_task *task, const struct tx_span *span, const struct tx_sent *sent,
		uint64_t now, uint64_t after, bool paced)
{
	struct tx_counters *counters = task->counters;
	uint64_t mean = after - now;

	if (!paced && sent->bursts > 1)
		mean /= (uint32_t)sent->bursts;
	counter_add(&counters->frames, task->done - sent->first);
	counter_add(&counters->octets, sent->octets);
	counter_add(&counters->bursts, sent->bursts);
	counter_add(&counters->busy_cycles, after - now);
	counter_set(&counters->last_tsc, after);
	counter_add(&counters->burst_cycles[histogram_bucket(mean)], sent->bursts);
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, now);
	if (paced) {
		uint64_t due = span->start + tx_task_due_cycle(task, sent->first);
		uint64_t lateness = now > due ? now - due : 0;

		histogram_add(counters->lateness_cycles, lateness);
		counter_max(&counters->lateness_max_cycles, lateness);
	}
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

/* One call of the device; the task goes on by what was taken. */
static __rte_always_inline uint16_t
tx_task_send(struct tx_task *task, uint64_t elapsed, uint16_t count, struct tx_sent *sums)
{
	uint32_t first = task->position;
	uint16_t sent;

	if (task->prefetch)
		tx_task_prefetch(task);
	if (task->walk != NULL)
		tx_task_write(task, elapsed, count);
	if (task->stamped)
		tx_stamp_write(&task->stamp, &task->frames[first], task->done, count, rte_rdtsc());
	sent = rte_eth_tx_burst(task->port_id, task->queue_id,
				(struct rte_mbuf **)(uintptr_t)&task->frames[first], count);
	if (unlikely(sent == 0))
		return 0;
	sums->octets += task->octets_before[first + sent] - task->octets_before[first];
	sums->bursts++;
	tx_task_advance(task, sent);
	if (task->ramp.flows > 0)
		tx_ramp_advance(&task->ramp, sent);
	return sent;
}

/*
 * Returns the clock after the calls; now is the clock before them, not before the traffic's start. batch: of a worker
 * that has batches, not paced; NULL: a burst per reading of the clock.
 */
static __rte_always_inline uint64_t
tx_task_poll(struct tx_task *task, const struct traffic *traffic, uint64_t now, bool paced,
	     struct tx_batch *batch)
{
	const struct tx_span span = tx_task_span(task, traffic);
	struct tx_sent sums = {0, 0, 0};
	uint32_t bursts;
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
	sums.first = task->done;
	bursts = tx_batch_bursts(batch, task, &span, now);
	sent = tx_task_send(task, now - span.start, count, &sums);
	while (!paced && sent == count && --bursts > 0) {
		count = (uint16_t)RTE_MIN(task->limit - task->done, (uint64_t)task->burst);
		if (unlikely(count == 0))
			break;
		sent = tx_task_send(task, now - span.start, count, &sums);
	}
	after = rte_rdtsc();
	if (sums.bursts > 0) {
		tx_task_account(task, &span, &sums, now, after, paced);
		task->refused_since = 0;
	}
	if (!paced && unlikely(sent == 0))
		tx_task_refused(task, count, sums.bursts > 0 ? after : now);
	if (unlikely(sent < count))
		tx_task_full(task, after);
	tx_batch_end(batch, sent < count);
	return after;
}

#endif
