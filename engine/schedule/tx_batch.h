/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. How many bursts a task that is not paced hands over between two readings of the clock: a batch.
 *
 * A reading, a histogram entry and the counters cost some 50 cycles, a burst of 32 ready frames 160 to 300. Only a worker
 * that does nothing but send unpaced has batches; whoever receives, answers or paces is not kept waiting. All tasks of a
 * worker have the same, so that they send equally often. A batch grows while a turn of all tasks is short, so that the
 * end of traffic is noticed as soon as before on a slow device, and ends where the device takes less than offered.
 */
#ifndef WR_SCHEDULE_TX_BATCH_H
#define WR_SCHEDULE_TX_BATCH_H

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "schedule/tx_schedule.h"

/*
 * The fastest slices of a bare loop's (bench/bare.py, AMD EPYC, DPDK 25.11, burst 32 and 64, constant frame and trace):
 * 0.88, 0.92, 0.89, 0.89 without batches; 1.01, 0.98, 0.99, 0.92 with 8; 1.03, 0.97, 1.03, 0.94 with 16 and with 32.
 */
#define TX_BATCH_BURSTS_MAX 16u
/* A turn of all tasks takes no longer, unless one burst of each does. */
#define TX_TURN_NS 5000ULL

struct tx_batch {
	uint32_t bursts;      /* of each task in this turn */
	uint32_t bursts_max;  /* 1: no batches */
	uint64_t turn_cycles; /* TX_TURN_NS */
	bool whole;           /* a task had a whole batch in this turn */
};

static inline void
tx_batch_init(struct tx_batch *batch, uint32_t bursts_max, uint64_t turn_cycles)
{
	*batch = (struct tx_batch){
		.bursts = 1, .bursts_max = bursts_max, .turn_cycles = turn_cycles};
}

/* Bursts that a task may send before the clock is read again. A ramp needs it for each; so does the end of traffic. */
static __rte_always_inline uint32_t
tx_batch_bursts(const struct tx_batch *batch, const struct tx_task *task,
		const struct tx_span *span, uint64_t now)
{
	if (batch == NULL || task->ramp.flows > 0 || span->stop - now <= batch->turn_cycles)
		return 1;
	return batch->bursts;
}

/* A task's batch is over; `full`: the device took less than offered. */
static __rte_always_inline void
tx_batch_end(struct tx_batch *batch, bool full)
{
	if (batch == NULL)
		return;
	if (unlikely(full))
		batch->bursts = 1;
	else
		batch->whole = true;
}

/* All tasks have had their turn, which took `cycles`. */
static inline void
tx_batch_turn(struct tx_batch *batch, uint64_t cycles)
{
	if (unlikely(cycles > batch->turn_cycles))
		batch->bursts =
			RTE_MAX((uint32_t)(batch->bursts * batch->turn_cycles / cycles), 1u);
	else if (batch->bursts < batch->bursts_max && batch->whole &&
		 2 * cycles <= batch->turn_cycles)
		batch->bursts = RTE_MIN(2 * batch->bursts, batch->bursts_max);
	batch->whole = false;
}

#endif
