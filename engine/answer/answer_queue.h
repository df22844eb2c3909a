/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers on their way: from the tasks of any worker that receive the requests of a port to the one task that sends.
 *
 * A request is copied into an mbuf of the port's receive pool and answered there. The sender copies the answer into a
 * frame of its own, whose free takes no notice (program/frame_pool.h): a device may free frames of a Tx queue as if all
 * were of one pool, and streams may send on the same queue. Requests are rare; nothing here is done for other frames.
 */
#ifndef WR_ANSWER_ANSWER_QUEUE_H
#define WR_ANSWER_ANSWER_QUEUE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "answer/answer.h"
#include "counters/counters.h"

#define ANSWER_QUEUE_FRAMES 1024u
#define ANSWER_BURST_MAX 512u

struct answer_queue {
	const struct answer_table *table;
	struct rte_mempool *pool;            /* for copies; NULL: the port does not receive */
	struct rte_ring *ring;               /* many producers, one consumer */
	uint32_t octets_max;                 /* of an answer, without FCS */
	uint16_t stamp_magic;                /* frames with such a stamp are not looked at */
	_Atomic uint64_t made[ANSWER_KINDS]; /* by kind; workers write, the sender reads */
	_Atomic uint64_t overflowed;         /* for want of room or of an mbuf */
	alignas(COUNTERS_ALIGN) struct rte_mbuf **frames; /* the sender's, frame_count of them */
	uint32_t frame_count; /* what the device may hold and a burst more */
	uint64_t filled;      /* sender only: frames so far; number n is frames[n % frame_count] */
	uint64_t sent;        /* of these, the device has taken or the sender has given up */
	struct reply_counters *counters; /* the sender's */
};

/*
 * Any worker: answer the request in mbuf, which stays the caller's and as it is. False when it is none, or not of us:
 * it is then to be treated as if there was nobody to answer.
 */
bool answer_queue_offer(struct answer_queue *queue, const struct rte_mbuf *mbuf);

/* The sender: fill at most `burst` (up to ANSWER_BURST_MAX) of its frames with answers. All earlier ones must be sent. */
void answer_queue_fill(struct answer_queue *queue, uint16_t burst);

/* The sender: the device has taken `count` more of its frames. */
void answer_queue_note_sent(struct answer_queue *queue, uint16_t count);

/* The sender: the device does not take what there is; forget it. */
void answer_queue_give_up(struct answer_queue *queue);

/* Control thread, when no worker uses the queue any more: give all mbufs back and make the counters final. */
void answer_queue_end(struct answer_queue *queue);

#endif
