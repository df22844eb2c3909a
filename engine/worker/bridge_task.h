/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Between a port, the kernel's port and the fast path: receive or take from a ring, tell apart, change, hand over.
 * docs/design/0009-kernel-path.md, "Engine".
 *
 * What a device does not take waits in a line of its Tx queue, in order, while other queues and the other way go on. A
 * ring that is full loses frames at once. rx = frames handed over + lost + held, after every call.
 */
#ifndef WR_WORKER_BRIDGE_TASK_H
#define WR_WORKER_BRIDGE_TASK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "bridge/address_set.h"
#include "bridge/segment_split.h"
#include "counters/counters.h"
#include "worker/frame_work.h"

#define BRIDGE_LINE_FRAMES 1024u /* a power of two */
/*
 * Large frames of a kernel become 45 of 1,514 octets each: these many, and a line that is a quarter full at most, so
 * that all of them have a place in it.
 */
#define BRIDGE_SPLIT_BURST 16u

enum way_end { WAY_SINK, WAY_PORT, WAY_RING };

/* A Tx queue, and the frames that wait for it. */
struct way_queue {
	uint16_t queue_id;
	uint32_t head;          /* next to leave; counts on, modulo 2^32 */
	uint32_t tail;          /* next free */
	uint64_t refused_since; /* 0: the device takes frames */
	struct rte_mbuf *line[BRIDGE_LINE_FRAMES];
};

struct bridge_way {
	enum way_end end;
	enum frame_rewrite rewrite;
	uint64_t work_cycles; /* for each frame */
	bool complete;        /* checksums */
	bool offload;         /* by the device */
	bool merges;          /* TCP segments, for a device that cuts them again */
	bool splits;          /* large frames, as `splitter` says */
	bool prepares;        /* the device is left something to do: rte_eth_tx_prepare() */
	struct segment_splitter splitter;
	uint16_t port_id;
	uint16_t burst;         /* of the device, at most */
	bool chains;            /* the device sends frames of several mbufs */
	uint64_t window_cycles; /* how long the device may take nothing */
	uint32_t queue_count;   /* 1… of a port */
	struct way_queue *queues;
	struct rte_ring *ring;
	uint64_t *frames; /* in the counters */
	uint64_t *octets;
	uint64_t *lost;
};

struct bridge_task {
	alignas(COUNTERS_ALIGN) struct bridge_counters *counters;
	struct rte_ring *ring; /* to take from; NULL: a port */
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t burst;
	const struct address_set *addresses; /* NULL: every frame is the kernel's */
	struct bridge_way kernel;
	struct bridge_way fast;
};

/* Returns the clock after the call, or `now` when there was nothing to do. */
uint64_t bridge_task_poll(struct bridge_task *task, uint64_t now);

/* The worker ends: give back the frames that wait for devices. They stay counted as held. */
void bridge_task_end(struct bridge_task *task);

/* All workers have ended: give back what is in the task's ring, counted as received and held. */
void bridge_task_drain(struct bridge_task *task);

#endif
