/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer/answer_queue.h"

#include "base/units.h"

static void
count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* The copy, answered and on its way; else it is freed. */
static enum answer
answer_copy(struct answer_queue *queue, struct rte_mbuf *copy)
{
	uint32_t octets = rte_pktmbuf_pkt_len(copy);
	enum answer kind = ANSWER_NONE;

	if (rte_pktmbuf_is_contiguous(copy))
		kind = answer_make(queue->table, rte_pktmbuf_mtod(copy, uint8_t *), &octets,
				   RTE_MIN(queue->octets_max, octets + rte_pktmbuf_tailroom(copy)));
	if (kind == ANSWER_NONE) {
		rte_pktmbuf_free(copy);
		return kind;
	}
	copy->data_len = (uint16_t)octets;
	copy->pkt_len = octets;
	if (rte_ring_enqueue(queue->ring, copy) == 0) {
		count(&queue->made[kind]);
	} else {
		count(&queue->overflowed);
		rte_pktmbuf_free(copy);
	}
	return kind;
}

bool
answer_queue_offer(struct answer_queue *queue, const struct rte_mbuf *mbuf)
{
	struct rte_mbuf *copy;

	if (rte_pktmbuf_pkt_len(mbuf) > queue->octets_max ||
	    answer_asked(queue->table, rte_pktmbuf_mtod(mbuf, const uint8_t *),
			 rte_pktmbuf_data_len(mbuf)) == ANSWER_NONE)
		return false;
	copy = rte_pktmbuf_copy(mbuf, queue->pool, 0, UINT32_MAX);
	if (copy == NULL) {
		count(&queue->overflowed);
		return true;
	}
	return answer_copy(queue, copy) != ANSWER_NONE;
}

void
answer_queue_fill(struct answer_queue *queue, uint16_t burst)
{
	struct rte_mbuf *copies[ANSWER_BURST_MAX];
	unsigned int n = rte_ring_dequeue_burst(queue->ring, (void **)copies, burst, NULL);

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *frame = queue->frames[queue->filled++ % queue->frame_count];

		frame->data_len = rte_pktmbuf_data_len(copies[i]);
		frame->pkt_len = frame->data_len;
		memcpy(rte_pktmbuf_mtod(frame, void *), rte_pktmbuf_mtod(copies[i], const void *),
		       frame->data_len);
	}
	rte_pktmbuf_free_bulk(copies, n);
}

/* What the receiving workers have counted. */
static void
publish(struct answer_queue *queue)
{
	struct reply_counters *counters = queue->counters;
	uint64_t made[ANSWER_KINDS];

	for (uint32_t kind = 0; kind < ANSWER_KINDS; kind++)
		made[kind] = atomic_load_explicit(&queue->made[kind], memory_order_relaxed);
	counter_set(&counters->arp, made[ANSWER_ARP]);
	counter_set(&counters->neighbors, made[ANSWER_NEIGHBOR]);
	counter_set(&counters->echoes, made[ANSWER_ECHO]);
	counter_set(&counters->overflowed,
		    atomic_load_explicit(&queue->overflowed, memory_order_relaxed));
}

void
answer_queue_note_sent(struct answer_queue *queue, uint16_t count)
{
	uint64_t octets = 0;

	for (uint16_t i = 0; i < count; i++) /* a driver's free has left them as they were */
		octets += FCS_OCTETS +
			  rte_pktmbuf_pkt_len(queue->frames[queue->sent++ % queue->frame_count]);
	counter_add(&queue->counters->frames, count);
	counter_add(&queue->counters->octets, octets);
	publish(queue);
}

void
answer_queue_give_up(struct answer_queue *queue)
{
	counter_add(&queue->counters->not_taken, queue->filled - queue->sent);
	queue->sent = queue->filled;
}

void
answer_queue_end(struct answer_queue *queue)
{
	struct rte_mbuf *copies[ANSWER_BURST_MAX];
	unsigned int n;

	answer_queue_give_up(queue);
	while ((n = rte_ring_dequeue_burst(queue->ring, (void **)copies, ANSWER_BURST_MAX, NULL)) >
	       0) {
		rte_pktmbuf_free_bulk(copies, n);
		counter_add(&queue->counters->not_taken, n);
	}
	publish(queue);
}
