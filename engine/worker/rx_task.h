/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. Receive a burst, count it, give the mbufs back. */
#ifndef WR_WORKER_RX_TASK_H
#define WR_WORKER_RX_TASK_H

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "base/units.h"
#include "capture/capture_sink.h"
#include "measure/rx_measure.h"
#include "worker/reply_task.h"
#include "worker/rx_free.h"
#include "worker/worker.h"

/* What tasks do that look at frames, not only count them. */
static inline void
rx_task_look(const struct rx_task *task, struct rte_mbuf *const *mbufs, uint16_t count)
{
	const uint64_t clock = rte_rdtsc();

	if (task->measure != NULL)
		rx_measure(task->measure, task->counters, mbufs, count, clock);
	if (task->captures != NULL)
		capture_burst(task->captures, mbufs, count, clock);
}

/* Returns the clock after the call; now is the clock before it. */
static inline uint64_t
rx_task_poll(struct rx_task *task, uint64_t now)
{
	struct rte_mbuf *mbufs[WORKER_BURST_MAX];
	struct rx_counters *counters = task->counters;
	uint16_t received = rte_eth_rx_burst(task->port_id, task->queue_id, mbufs, task->burst);
	uint64_t after, octets, foreign = counters->foreign_frames;

	if (received == 0)
		return now;
	if (task->measure != NULL || task->captures != NULL)
		rx_task_look(task, mbufs, received);
	if (task->distinct != NULL)
		flow_table_note(task->distinct, mbufs, received, &counters->distinct_flows,
				&counters->distinct_overflow);
	if (task->answers != NULL &&
	    (task->measure == NULL || counters->foreign_frames != foreign)) {
		for (uint16_t i = 0; i < received; i++)
			reply_to(task->answers, mbufs[i]);
	}
	octets = (uint64_t)received * FCS_OCTETS;
	for (uint16_t i = 0; i < received; i++)
		octets += rte_pktmbuf_pkt_len(mbufs[i]);
	rx_free(mbufs, received);
	after = rte_rdtsc();
	counter_add(&counters->frames, received);
	counter_add(&counters->octets, octets);
	counter_add(&counters->bursts, 1);
	counter_add(&counters->busy_cycles, after - now);
	if (unlikely(counters->first_tsc == 0)) {
		counter_set(&counters->first_tsc, after);
		counter_set(&counters->first_frames, received);
	}
	counter_set(&counters->last_tsc, after);
	return after;
}

#endif
