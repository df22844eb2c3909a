/* SPDX-License-Identifier: BSD-3-Clause */
/* From tasks to the loop that has just what they need, and off to the lcores. */
#include "program/worker_launch.h"

#include <rte_launch.h>
#include <rte_lcore.h>

#include "program/worker_grace.h"
#include "worker/worker_loop.h"

static uint32_t
needs_of(const struct worker *worker)
{
	uint32_t needs = worker->rx_count > 0 ? LOOP_RX : 0;

	for (uint32_t i = 0; i < worker->tx_count; i++)
		needs |= worker->tx[i].schedule != TX_UNPACED ? LOOP_TX_PACED : LOOP_TX_UNPACED;
	return needs | (worker->loop_count > 0 ? LOOP_RINGS : 0);
}

/* Who only sends, as fast as it can, reads the clock for several bursts at a time. */
static void
set_batch(struct worker *worker)
{
	bool sends_only = needs_of(worker) == LOOP_TX_UNPACED && worker->forward_count == 0 &&
			  worker->bridge_count == 0 && worker->reply_count == 0;

	tx_batch_init(&worker->batch, sends_only ? TX_BATCH_BURSTS_MAX : 1,
		      (uint64_t)((double)TX_TURN_NS / worker->ns_per_cycle));
}

int
worker_launch_all(struct worker *workers, uint32_t count, struct error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct worker *worker = &workers[i];
		int code;

		atomic_store_explicit(&worker->quit, false, memory_order_relaxed);
		set_batch(worker);
		code = rte_eal_remote_launch(worker_loops[needs_of(worker)], worker, worker->lcore);
		if (code != 0) {
			worker_stop_all(workers, i);
			return error_set(err, code, NULL, "lcore %u is busy", worker->lcore);
		}
	}
	worker_grace_watch(workers, count);
	return 0;
}

void
worker_stop_all(struct worker *workers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		atomic_store_explicit(&workers[i].quit, true, memory_order_relaxed);
	for (uint32_t i = 0; i < count; i++)
		rte_eal_wait_lcore(workers[i].lcore);
	worker_grace_watch(NULL, 0);
}
