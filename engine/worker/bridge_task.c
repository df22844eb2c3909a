/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/bridge_task.h"

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "base/units.h"
#include "bridge/checksum_complete.h"
#include "bridge/frame_kind.h"
#include "bridge/segment_merge.h"
#include "flowtable/flow_mbuf.h"
#include "worker/rx_free.h"
#include "worker/worker.h"

#define LINE_MASK (BRIDGE_LINE_FRAMES - 1)

static inline uint64_t
octets_of(struct rte_mbuf *const *mbufs, uint16_t count)
{
	uint64_t octets = (uint64_t)count * FCS_OCTETS;

	for (uint16_t i = 0; i < count; i++)
		octets += rte_pktmbuf_pkt_len(mbufs[i]);
	return octets;
}

static inline uint32_t
waiting(const struct way_queue *queue)
{
	return queue->tail - queue->head;
}

static inline void
way_lose(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count)
{
	rte_pktmbuf_free_bulk(mbufs, count);
	counter_add(way->lost, count);
}

/* Offer frames to the device; returns how many it took. */
static inline uint16_t
queue_offer(const struct bridge_way *way, struct way_queue *queue, struct rte_mbuf **mbufs,
	    uint16_t count)
{
	uint64_t octets = octets_of(mbufs, count); /* before a driver frees them */
	uint16_t sent = rte_eth_tx_burst(way->port_id, queue->queue_id, mbufs, count);

	counter_add(way->frames, sent);
	counter_add(way->octets, octets - octets_of(mbufs + sent, count - sent));
	if (sent > 0)
		queue->refused_since = 0;
	return sent;
}

/* What has waited too long at the head is lost. Returns how many frames left the line. */
static inline uint16_t
queue_flush(const struct bridge_way *way, struct way_queue *queue, uint64_t now)
{
	struct rte_mbuf *mbufs[WORKER_BURST_MAX];
	uint16_t count = (uint16_t)RTE_MIN(waiting(queue), way->burst), gone;

	for (uint16_t i = 0; i < count; i++)
		mbufs[i] = queue->line[(queue->head + i) & LINE_MASK];
	gone = queue_offer(way, queue, mbufs, count);
	if (unlikely(gone == 0)) {
		if (queue->refused_since == 0)
			queue->refused_since = now;
		if (now - queue->refused_since <= way->window_cycles)
			return 0;
		way_lose(way, mbufs, count);
		queue->refused_since = now;
		gone = count;
	}
	queue->head += gone;
	return gone;
}

/* The frames that waited, before any new one. */
static inline uint32_t
way_flush(const struct bridge_way *way, uint64_t now)
{
	uint32_t gone = 0;

	for (uint32_t q = 0; q < way->queue_count; q++) {
		if (unlikely(waiting(&way->queues[q]) > 0))
			gone += queue_flush(way, &way->queues[q], now);
	}
	return gone;
}

/* A device that does not send chains would send the first mbuf, and keep the others. Returns how many can be sent. */
static inline uint16_t
queue_whole(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t whole = 0;

	if (likely(way->chains))
		return count;
	for (uint16_t i = 0; i < count; i++) {
		if (likely(mbufs[i]->nb_segs == 1))
			mbufs[whole++] = mbufs[i];
		else
			way_lose(way, &mbufs[i], 1);
	}
	return whole;
}

/*
 * What a device is to compute is made ready for it, once for each frame. Returns how many can be sent; one that the
 * device cannot do is lost.
 */
static inline uint16_t
queue_prepare(const struct bridge_way *way, const struct way_queue *queue, struct rte_mbuf **mbufs,
	      uint16_t count)
{
	uint16_t ready = 0, kept = 0;

	if (likely(!way->prepares))
		return count;
	while (ready < count) {
		uint16_t n = rte_eth_tx_prepare(way->port_id, queue->queue_id, mbufs + ready,
						count - ready);

		for (uint16_t i = 0; i < n; i++)
			mbufs[kept++] = mbufs[ready++];
		if (ready < count)
			way_lose(way, &mbufs[ready++], 1);
	}
	return kept;
}

/* New frames for a queue: to the device, or behind those that wait. */
static inline void
queue_put(const struct bridge_way *way, struct way_queue *queue, struct rte_mbuf **mbufs,
	  uint16_t count)
{
	uint16_t sent = 0, room;

	count = queue_whole(way, mbufs, count);
	count = queue_prepare(way, queue, mbufs, count);
	if (count > 0 && waiting(queue) == 0)
		sent = queue_offer(way, queue, mbufs, count);
	mbufs += sent;
	count -= sent;
	room = (uint16_t)RTE_MIN(BRIDGE_LINE_FRAMES - waiting(queue), count);
	for (uint16_t i = 0; i < room; i++)
		queue->line[queue->tail++ & LINE_MASK] = mbufs[i];
	if (unlikely(room < count))
		way_lose(way, mbufs + room, count - room);
}

/* Frames of one 5-tuple stay on one queue. */
static inline uint32_t
queue_number_of(const struct rte_mbuf *mbuf, uint32_t queues)
{
	struct flow_tuple tuple;

	if (!tuple_read_mbuf(&tuple, mbuf))
		return 0;
	return (uint32_t)((tuple_hash(&tuple) >> 32) * queues >> 32);
}

/* At most WORKER_BURST_MAX frames, shared out over the queues. */
static void
way_share_out(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count)
{
	uint8_t numbers[WORKER_BURST_MAX];
	struct rte_mbuf *some[WORKER_BURST_MAX];

	for (uint16_t i = 0; i < count; i++)
		numbers[i] = (uint8_t)queue_number_of(mbufs[i], way->queue_count);
	for (uint32_t q = 0; q < way->queue_count; q++) {
		uint16_t n = 0;

		for (uint16_t i = 0; i < count; i++) {
			if (numbers[i] == q)
				some[n++] = mbufs[i];
		}
		if (n > 0)
			queue_put(way, &way->queues[q], some, n);
	}
}

static inline void
way_send(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t n;

	if (likely(way->queue_count == 1)) {
		queue_put(way, &way->queues[0], mbufs, count);
		return;
	}
	for (; count > 0; mbufs += n, count -= n) {
		n = RTE_MIN(count, WORKER_BURST_MAX);
		way_share_out(way, mbufs, n);
	}
}

static inline void
way_enqueue(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count)
{
	uint64_t octets = octets_of(mbufs, count); /* before another worker frees them */
	uint16_t put = (uint16_t)rte_ring_enqueue_burst(way->ring, (void **)mbufs, count, NULL);

	counter_add(way->frames, put);
	counter_add(way->octets, octets - octets_of(mbufs + put, count - put));
	if (unlikely(put < count))
		way_lose(way, mbufs + put, count - put);
}

static inline void
way_swallow(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count)
{
	counter_add(way->frames, count);
	counter_add(way->octets, octets_of(mbufs, count));
	rx_free(mbufs, count);
}

static inline void
way_hand_over(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count,
	      struct bridge_counters *counters)
{
	if (way->complete)
		checksum_complete_burst(mbufs, count, way->offload, counters);
	if (way->end == WAY_PORT)
		way_send(way, mbufs, count);
	else if (way->end == WAY_RING)
		way_enqueue(way, mbufs, count);
	else
		way_swallow(way, mbufs, count);
}

/* Parts at a time that a burst's array holds. */
static void
way_split(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count,
	  struct bridge_counters *counters)
{
	struct rte_mbuf *parts[WORKER_BURST_MAX];
	uint16_t taken;

	static_assert(WORKER_BURST_MAX >= SPLIT_PARTS_MAX, "each call takes a frame at least");
	for (; count > 0; mbufs += taken, count -= taken) {
		uint16_t made = segment_split(&way->splitter, mbufs, count, &taken, parts,
					      WORKER_BURST_MAX, counters);

		way_hand_over(way, parts, made, counters);
	}
}

static inline void
way_pass(const struct bridge_way *way, struct rte_mbuf **mbufs, uint16_t count,
	 struct bridge_counters *counters)
{
	if (count == 0)
		return;
	rewrite_frames(way->rewrite, mbufs, count);
	if (way->work_cycles != 0)
		work_on_frames(way->work_cycles, rte_rdtsc(), count);
	if (way->splits) {
		way_split(way, mbufs, count, counters);
		return;
	}
	if (way->merges)
		count = segment_merge(mbufs, count, counters);
	way_hand_over(way, mbufs, count, counters);
}

/* Parts of large frames would be lost: the kernel rather waits, whose sockets then send less. */
static inline bool
way_is_crowded(const struct bridge_way *way)
{
	bool crowded = false;

	for (uint32_t q = 0; way->splits && q < way->queue_count; q++)
		crowded |= waiting(&way->queues[q]) > BRIDGE_LINE_FRAMES / 4;
	return crowded;
}

static inline uint16_t
take_in(const struct bridge_task *task, struct rte_mbuf **mbufs)
{
	uint32_t found;

	if (unlikely(way_is_crowded(&task->kernel) || way_is_crowded(&task->fast)))
		return 0;
	if (task->ring == NULL)
		return rte_eth_rx_burst(task->port_id, task->queue_id, mbufs, task->burst);
	found = rte_ring_count(task->ring);
	if (found == 0)
		return 0;
	counter_max(&task->counters->held_max, found);
	return (uint16_t)rte_ring_dequeue_burst(task->ring, (void **)mbufs, task->burst, NULL);
}

/* The fast path's frames go to fast, the kernel's stay, in order. Returns how many stay. */
static inline uint16_t
tell_apart(const struct bridge_task *task, struct rte_mbuf **mbufs, uint16_t count,
	   struct rte_mbuf **fast)
{
	uint16_t kernel = 0, others = 0, addressed = 0;

	if (task->addresses == NULL)
		return count;
	for (uint16_t i = 0; i < count; i++) {
		enum frame_kind kind = kind_of_frame(task->addresses, mbufs[i]);

		addressed += kind == KIND_ADDRESSED;
		if (kind == KIND_FAST)
			fast[others++] = mbufs[i];
		else
			mbufs[kernel++] = mbufs[i];
	}
	counter_add(&task->counters->addressed, addressed);
	return kernel;
}

static inline void
pass_on(const struct bridge_task *task, struct rte_mbuf **mbufs, uint16_t count)
{
	struct rte_mbuf *fast[WORKER_BURST_MAX];
	struct bridge_counters *counters = task->counters;
	uint16_t kernel;

	counter_add(&counters->rx_frames, count);
	counter_add(&counters->rx_octets, octets_of(mbufs, count));
	kernel = tell_apart(task, mbufs, count, fast);
	way_pass(&task->kernel, mbufs, kernel, counters);
	way_pass(&task->fast, fast, count - kernel, counters);
}

static uint64_t
waiting_in(const struct bridge_way *way)
{
	uint64_t frames = 0;

	for (uint32_t q = 0; q < way->queue_count; q++)
		frames += waiting(&way->queues[q]);
	return frames;
}

uint64_t
bridge_task_poll(struct bridge_task *task, uint64_t now)
{
	struct rte_mbuf *mbufs[WORKER_BURST_MAX];
	struct bridge_counters *counters = task->counters;
	uint32_t gone = way_flush(&task->kernel, now) + way_flush(&task->fast, now);
	uint16_t count = take_in(task, mbufs);
	uint64_t after;

	if (count == 0 && gone == 0)
		return now;
	if (count > 0)
		pass_on(task, mbufs, count);
	after = RTE_MAX(rte_rdtsc(), now);
	counter_set(&counters->held, waiting_in(&task->kernel) + waiting_in(&task->fast));
	counter_add(&counters->busy_cycles, after - now);
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, after);
	counter_set(&counters->last_tsc, after);
	return after;
}

static void
way_end(struct bridge_way *way)
{
	for (uint32_t q = 0; q < way->queue_count; q++) {
		struct way_queue *queue = &way->queues[q];

		while (waiting(queue) > 0)
			rte_pktmbuf_free(queue->line[queue->head++ & LINE_MASK]);
	}
}

void
bridge_task_end(struct bridge_task *task)
{
	way_end(&task->kernel);
	way_end(&task->fast);
}

void
bridge_task_drain(struct bridge_task *task)
{
	struct bridge_counters *counters = task->counters;
	struct rte_mbuf *mbuf;

	while (task->ring != NULL && rte_ring_dequeue(task->ring, (void **)&mbuf) == 0) {
		counter_add(&counters->rx_frames, 1);
		counter_add(&counters->rx_octets, octets_of(&mbuf, 1));
		counter_add(&counters->held, 1);
		rte_pktmbuf_free(mbuf);
	}
}
