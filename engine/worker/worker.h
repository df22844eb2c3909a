/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one lcore that runs a short list of tasks until it is told to quit.
 *
 * Everything here is prepared by program/ before the worker is launched and frozen from then on; the words that
 * change while frames move are the worker's own (position, done, …) and the few atomics of struct traffic, which the
 * control thread writes and workers read once per loop.
 */
#ifndef WR_WORKER_WORKER_H
#define WR_WORKER_WORKER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "base/error.h"
#include "counters/counters.h"
#include "worker/pacing.h"

#define WORKER_BURST_MAX 512
#define TRAFFIC_NOT_STARTED UINT64_MAX

/* When transmission starts and ends; one writer, the control thread. */
struct traffic {
	alignas(COUNTERS_ALIGN) _Atomic uint64_t start_tsc; /* TRAFFIC_NOT_STARTED until started */
	_Atomic uint64_t stop_tsc;                          /* UINT64_MAX: until stopped */
};

/*
 * Sends the ready frames of one stream on one queue, in order, over and over.
 * frames[0…ring_length) is the ring; its first `burst` entries are repeated behind it, so that a burst is always
 * one run of pointers. octets_before[i] sums the frame sizes (with FCS) of frames[0…i).
 * The mbufs belong to the stream for good: a driver's free gives them back to a pool that takes no notice
 * (program/frame_pool.h), so that nothing is allocated, reset or counted per frame.
 */
struct tx_task {
	alignas(COUNTERS_ALIGN) struct rte_mbuf *const *frames;
	const uint64_t *octets_before;
	uint32_t ring_length;
	uint32_t position; /* of the next frame in the ring */
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t burst;
	bool prefetch; /* the ring's mbufs exceed the second-level cache */
	struct pacing pacing;
	uint64_t limit;         /* frames to send in all; UINT64_MAX: no limit */
	uint64_t done;          /* frames sent or given up */
	uint64_t window_frames; /* a backlog beyond this is past its time */
	uint64_t
		window_cycles; /* paced: the same as time; else how long a device may take nothing */
	uint64_t refill_frames;    /* free ones before a full device is asked again; 0: at once */
	uint64_t pause_cycles_max; /* a full device is left in peace for so long at most */
	uint64_t retry_at;         /* clock before which it is not asked again */
	uint64_t full_tsc;         /* clock when it was full last */
	uint64_t full_done;        /* done, then */
	uint64_t
		refused_since; /* not paced: clock since which the device takes nothing; 0: it does */
	struct tx_counters *counters;
};

struct rx_task {
	alignas(COUNTERS_ALIGN) struct rx_counters *counters;
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t burst;
};

struct worker {
	alignas(COUNTERS_ALIGN) _Atomic bool quit; /* control thread: leave the loop */
	const struct traffic *traffic;
	struct tx_task *tx;
	struct rx_task *rx;
	uint32_t tx_count;
	uint32_t rx_count;
	uint32_t lcore;
	uint64_t stall_cycles; /* a gap longer than this is a stall */
	struct worker_counters *counters;
};

/*
 * How long a frame that the device does not take is offered again before it counts as unsent. Paced: 10 ms of schedule
 * are made up for after a pause. Not paced, nothing is late, so only a device that stands still is noticed.
 */
#define TX_WINDOW_NS 10000000ULL
#define TX_STANDSTILL_NS 100000000ULL
/*
 * memif: producer and consumer write the same cache lines. With a full ring, a producer that asks again at once follows
 * the consumer frame by frame; filling three quarters of the ring at a time gave 1.33 times the rate (half 1.21, a
 * quarter 1.04; medians of 50 slices, testpmd receiving). vhost: no difference, so not there.
 */
#define TX_PAUSE_MAX_NS 50000ULL
#define STALL_NS 100000ULL

/* Choose the loop for each worker's tasks and start them on their lcores. -EBUSY when an lcore is not idle. */
int worker_launch_all(struct worker *workers, uint32_t count, struct error *err);

/* Tell all to quit and wait until they have; their counters are final then. */
void worker_stop_all(struct worker *workers, uint32_t count);

#endif
