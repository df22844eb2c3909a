/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. Answers of a port: rx and forward tasks put them into its queue, the reply task sends them. */
#ifndef WR_WORKER_REPLY_TASK_H
#define WR_WORKER_REPLY_TASK_H

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "answer/answer_queue.h"
#include "measure/rx_measure.h"

struct reply_task {
	alignas(COUNTERS_ALIGN) struct answer_queue *answers;
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t burst;
	uint64_t window_cycles; /* how long the device may take nothing */
	uint64_t refused_since;
};

/* True when the frame asked something of the port; it is still the caller's. */
static inline bool
reply_to(struct answer_queue *answers, const struct rte_mbuf *mbuf)
{
	return unlikely(answer_is_candidate(rte_pktmbuf_mtod(mbuf, const uint8_t *),
					    rte_pktmbuf_data_len(mbuf))) &&
	       !rx_has_stamp(mbuf, answers->stamp_magic) && answer_queue_offer(answers, mbuf);
}

/* Returns the clock after the call, or `now` when there was nothing to do. */
static inline uint64_t
reply_task_poll(struct reply_task *task, uint64_t now)
{
	struct answer_queue *answers = task->answers;
	uint32_t first;
	uint64_t after;
	uint16_t sent;

	if (answers->filled == answers->sent) {
		if (likely(rte_ring_empty(answers->ring)))
			return now;
		answer_queue_fill(answers, task->burst);
		task->refused_since = now;
	}
	first = (uint32_t)(answers->sent % answers->frame_count);
	sent = rte_eth_tx_burst(task->port_id, task->queue_id, &answers->frames[first],
				(uint16_t)RTE_MIN(answers->filled - answers->sent,
						  (uint64_t)(answers->frame_count - first)));
	if (sent == 0) {
		if (now - task->refused_since > task->window_cycles)
			answer_queue_give_up(answers);
		return now;
	}
	answer_queue_note_sent(answers, sent);
	after = rte_rdtsc();
	task->refused_since = after;
	counter_add(&answers->counters->busy_cycles, after - now);
	return after;
}

#endif
