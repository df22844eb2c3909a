/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/forward_task.h"

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

#include "base/random.h"
#include "base/units.h"
#include "worker/reply_task.h"
#include "worker/worker.h"

static inline uint32_t
in_line(const struct forward_task *task)
{
	return task->tail - task->head;
}

/* True with a probability of `chance` in 2^64. */
static inline bool
happens(struct forward_task *task, uint64_t chance)
{
	uint64_t z = splitmix64(task->random, 0);

	task->random += SPLITMIX64_GAMMA;
	return chance == UINT64_MAX || z < chance;
}

static inline void
enter_line(struct forward_task *task, struct rte_mbuf *mbuf, uint64_t now)
{
	if (unlikely(in_line(task) > task->line_mask)) {
		counter_add(&task->counters->overflowed, 1);
		rte_pktmbuf_free(mbuf);
		return;
	}
	task->line[task->tail++ & task->line_mask] =
		(struct delayed){mbuf, now + task->delay_cycles};
}

/* One more frame has gone before the one that is held. */
static inline void
let_pass(struct forward_task *task, uint64_t now)
{
	if (task->held == NULL || ++task->passed < FORWARD_HOLD_FRAMES)
		return;
	counter_add(&task->counters->reordered, 1);
	enter_line(task, task->held, now);
	task->held = NULL;
}

static void
duplicate_frame(struct forward_task *task, const struct rte_mbuf *mbuf, uint64_t now)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(mbuf, task->copies_pool, 0, UINT32_MAX);

	if (copy == NULL) {
		counter_add(&task->counters->overflowed, 1);
		return;
	}
	counter_add(&task->counters->duplicated, 1);
	enter_line(task, copy, now);
}

/* Drop, duplicate or hold back a frame; what is neither dropped nor held enters the line. */
static void
impair(struct forward_task *task, struct rte_mbuf *mbuf, uint64_t now)
{
	if (happens(task, task->drop)) {
		counter_add(&task->counters->dropped, 1);
		rte_pktmbuf_free(mbuf);
		return;
	}
	if (task->held == NULL && happens(task, task->reorder)) {
		task->held = mbuf;
		task->held_tsc = now;
		task->passed = 0;
		return;
	}
	enter_line(task, mbuf, now);
	if (happens(task, task->duplicate))
		duplicate_frame(task, mbuf, now);
	let_pass(task, now);
}

/* Nothing has followed for a while: the held frame goes on, in its place after all. */
static inline void
release_held(struct forward_task *task, uint64_t now)
{
	if (likely(task->held == NULL) || now - task->held_tsc < task->hold_cycles)
		return;
	if (task->passed > 0)
		counter_add(&task->counters->reordered, 1);
	enter_line(task, task->held, now);
	task->held = NULL;
}

/* Take out what asks something of the port. Returns how many are left. */
static inline uint16_t
take_requests(struct forward_task *task, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t left = 0;

	if (task->answers == NULL)
		return count;
	for (uint16_t i = 0; i < count; i++) {
		if (reply_to(task->answers, mbufs[i]))
			rte_pktmbuf_free(mbufs[i]);
		else
			mbufs[left++] = mbufs[i];
	}
	return left;
}

/* A device that does not send chains would send the first mbuf, and keep the others. Returns how many are left. */
static __rte_noinline uint16_t
lose_chains(const struct forward_task *task, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t left = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (mbufs[i]->nb_segs == 1)
			mbufs[left++] = mbufs[i];
		else
			rte_pktmbuf_free(mbufs[i]);
	}
	counter_add(&task->counters->not_taken, count - left);
	counter_add(&task->counters->chained, count - left);
	return left;
}

/* *now is the clock before, and when frames came the one after: the delay counts from there. */
static inline uint16_t
take_in(struct forward_task *task, uint64_t *now)
{
	struct rte_mbuf *mbufs[WORKER_BURST_MAX];
	struct forward_counters *counters = task->counters;
	uint16_t count = rte_eth_rx_burst(task->port_id, task->queue_id, mbufs, task->rx_burst),
		 left;
	uint64_t octets = (uint64_t)count * FCS_OCTETS, clock;
	uint16_t segments = 1;

	if (count == 0)
		return 0;
	clock = RTE_MAX(rte_rdtsc(), *now);
	for (uint16_t i = 0; i < count; i++) {
		octets += rte_pktmbuf_pkt_len(mbufs[i]);
		segments |= mbufs[i]->nb_segs;
	}
	counter_add(&counters->rx_frames, count);
	counter_add(&counters->rx_octets, octets);
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, clock);
	if (unlikely(task->captures != NULL))
		capture_burst(task->captures, mbufs, count, clock);
	if (unlikely(task->distinct != NULL))
		flow_table_note(task->distinct, mbufs, count, &counters->distinct_flows,
				&counters->distinct_overflow);
	left = take_requests(task, mbufs, count);
	if (unlikely(segments != 1 && !task->chains))
		left = lose_chains(task, mbufs, left);
	rewrite_frames(task->rewrite, mbufs, left);
	work_on_frames(task->work_cycles, clock, left);
	for (uint16_t i = 0; i < left; i++) {
		if (unlikely(task->impaired))
			impair(task, mbufs[i], clock);
		else
			enter_line(task, mbufs[i], clock);
	}
	*now = clock;
	return count;
}

/* Frames at the head of the line whose time has come, at most a burst. */
static inline uint16_t
gather_due(const struct forward_task *task, struct rte_mbuf **mbufs, uint64_t now)
{
	uint32_t count = RTE_MIN(in_line(task), (uint32_t)task->burst), i;

	for (i = 0; i < count; i++) {
		const struct delayed *next = &task->line[(task->head + i) & task->line_mask];

		if (next->due_tsc > now)
			break;
		mbufs[i] = next->mbuf;
	}
	return (uint16_t)i;
}

/* The device has taken nothing for too long: these frames are lost. */
static void
give_up(struct forward_task *task, struct rte_mbuf **mbufs, uint16_t count, uint64_t now)
{
	if (task->refused_since == 0) {
		task->refused_since = now;
		return;
	}
	if (now - task->refused_since <= task->window_cycles)
		return;
	rte_pktmbuf_free_bulk(mbufs, count);
	counter_add(&task->counters->not_taken, count);
	task->head += count;
	counter_set(&task->counters->held, in_line(task) + (task->held != NULL));
	task->refused_since = now;
}

static inline uint16_t
send_due(struct forward_task *task, uint64_t now)
{
	struct rte_mbuf *mbufs[WORKER_BURST_MAX];
	uint16_t due = gather_due(task, mbufs, now), sent;
	uint64_t octets = 0;

	if (due == 0)
		return 0;
	for (uint16_t i = 0; i < due; i++) /* before a driver frees them */
		octets += rte_pktmbuf_pkt_len(mbufs[i]) + FCS_OCTETS;
	sent = rte_eth_tx_burst(task->to_port_id, task->to_queue_id, mbufs, due);
	for (uint16_t i = sent; i < due; i++)
		octets -= rte_pktmbuf_pkt_len(mbufs[i]) + FCS_OCTETS;
	task->head += sent;
	counter_add(&task->counters->tx_frames, sent);
	counter_add(&task->counters->tx_octets, octets);
	if (sent > 0)
		task->refused_since = 0;
	else
		give_up(task, mbufs, due, now);
	return sent;
}

/* As many as may have come at once, so that sending in small bursts keeps up with receiving in large ones. */
static inline uint32_t
send_bursts(struct forward_task *task, uint64_t now)
{
	uint32_t all = 0;
	uint16_t sent;

	do {
		sent = send_due(task, now);
		all += sent;
	} while (sent == task->burst && all < task->rx_burst);
	return all;
}

uint64_t
forward_task_poll(struct forward_task *task, uint64_t now)
{
	struct forward_counters *counters = task->counters;
	uint64_t clock = now, after;
	uint16_t received;
	uint32_t sent;

	received = in_line(task) + task->rx_burst <= task->line_mask ? take_in(task, &clock) : 0;
	release_held(task, clock);
	sent = send_bursts(task, clock);
	if (received == 0 && sent == 0)
		return now;
	after = rte_rdtsc();
	counter_set(&counters->held, in_line(task) + (task->held != NULL));
	counter_add(&counters->busy_cycles, after - now);
	counter_set(&counters->last_tsc, after);
	return after;
}

void
forward_task_end(struct forward_task *task)
{
	while (in_line(task) > 0)
		rte_pktmbuf_free(task->line[task->head++ & task->line_mask].mbuf);
	rte_pktmbuf_free(task->held);
	task->held = NULL;
}
