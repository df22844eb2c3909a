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

#include "capture/capture_sink.h"
#include "counters/counters.h"
#include "counters/cpu_time.h"
#include "flowtable/flow_table.h"
#include "schedule/tx_batch.h"
#include "schedule/tx_state.h"

#define WORKER_BURST_MAX 512
/*
 * Frames asked for at a time, at least, however few a task sends at once. Vector Rx of drivers rounds the number down to
 * a multiple of 4 or 8 (DPDK: RTE_ALIGN_FLOOR(nb_pkts, RTE_I40E_DESCS_PER_LOOP) in i40e, and likewise in ixgbe, ice,
 * iavf, bnxt, virtio): asked for less, it never receives anything.
 */
#define WORKER_RX_BURST_MIN 32

static inline uint16_t
worker_rx_burst(uint32_t burst)
{
	return (uint16_t)(burst > WORKER_RX_BURST_MIN ? burst : WORKER_RX_BURST_MIN);
}

struct rx_task {
	alignas(COUNTERS_ALIGN) struct rx_counters *counters;
	const struct measure *measure; /* NULL: no stamps are looked for */
	struct capture_sink *captures; /* but those of bad frames; NULL: none */
	struct answer_queue *answers;  /* NULL: nobody asks for any */
	struct flow_table *distinct;   /* NULL: 5-tuples are not counted */
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t burst;
};

struct worker {
	alignas(COUNTERS_ALIGN) _Atomic bool quit; /* control thread: leave the loop */
	const struct traffic *traffic;
	struct tx_task *tx;
	struct rx_task *rx;
	struct forward_task *forward;
	uint32_t tx_count;
	uint32_t rx_count;
	uint32_t forward_count;
	struct reply_task *reply;
	uint32_t reply_count;
	struct loop_task *loop;
	uint32_t loop_count;
	struct bridge_task *bridge;
	uint32_t bridge_count;
	uint32_t lcore;
	struct tx_batch batch; /* of all its tx tasks */
	uint64_t stall_cycles; /* a gap longer than this is a stall */
	uint64_t sleep_cycles; /* how long to sleep when nothing is due; 0: never */
	double ns_per_cycle;
	struct cpu_time cpu;
	struct worker_counters *counters;
};

#define STALL_NS 100000ULL

#endif
