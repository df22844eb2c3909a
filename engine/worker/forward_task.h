/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. The other end of a measurement: receive, work, change, impair, send. docs/design/0005-measurement.md.
 *
 * Frames go from the device into a FIFO, the delay line, and leave it in order when their time has come (at once,
 * without a delay). What the device does not take stays in front.
 */
#ifndef WR_WORKER_FORWARD_TASK_H
#define WR_WORKER_FORWARD_TASK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "capture/capture_sink.h"
#include "counters/counters.h"
#include "flowtable/flow_table.h"
#include "worker/frame_work.h"

/* Frames that must have been sent after a held one before it follows. */
#define FORWARD_HOLD_FRAMES 3u

/* A frame in the delay line. */
struct delayed {
	struct rte_mbuf *mbuf;
	uint64_t due_tsc;
};

struct forward_task {
	alignas(COUNTERS_ALIGN) struct forward_counters *counters;
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t to_port_id;
	uint16_t to_queue_id;
	uint16_t rx_burst; /* frames asked for at a time, worker_rx_burst() */
	uint16_t burst;    /* frames sent at a time, at most */
	bool chains;       /* the device sends frames of several mbufs */
	enum frame_rewrite rewrite;
	uint64_t work_cycles; /* for each frame */
	bool impaired;        /* one of the three below is not 0 */
	uint64_t drop;        /* probabilities, times 2^64; UINT64_MAX: always */
	uint64_t duplicate;
	uint64_t reorder;
	uint64_t random; /* splitmix64's state */
	uint64_t delay_cycles;
	uint64_t window_cycles; /* how long the device may take nothing */
	uint64_t hold_cycles;   /* how long a frame is held when none follows */
	struct delayed *line;   /* of line_mask + 1 frames */
	uint32_t line_mask;
	uint32_t head;         /* next to leave; counts on, modulo 2^32 */
	uint32_t tail;         /* next free */
	struct rte_mbuf *held; /* reordered: waits for others to pass; NULL: none */
	uint32_t passed;       /* frames that did */
	uint64_t held_tsc;
	uint64_t refused_since;          /* 0: the device takes frames */
	struct rte_mempool *copies_pool; /* for duplicates */
	struct capture_sink *captures;   /* of frames as they come; NULL: none */
	struct answer_queue *answers;    /* NULL: nobody asks for any */
	struct flow_table *distinct;     /* NULL: 5-tuples are not counted */
};

/* Returns the clock after the call, or `now` when there was nothing to do. */
uint64_t forward_task_poll(struct forward_task *task, uint64_t now);

/* The worker ends: give all frames back. */
void forward_task_end(struct forward_task *task);

#endif
