/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/forward_build.h"

#include <errno.h>

#include <rte_malloc.h>

#include "base/units.h"
#include "program/flow_table_build.h"
#include "worker/worker.h"

#define LINE_FRAMES 4096u
#define LINE_FRAMES_DELAYED \
	262144u /* 18 ms of 64-octet frames at 10 Gbit/s, if there are mbufs for them */
#define HOLD_NS 1000000ULL

enum frame_rewrite
frame_rewrite_of(enum rewrite rewrite)
{
	static const enum frame_rewrite rewrites[] = {
		[REWRITE_NONE] = FRAME_AS_IS,
		[REWRITE_MAC_SWAP] = FRAME_MAC_SWAP,
		[REWRITE_REVERSE] = FRAME_REVERSE,
	};

	return rewrites[rewrite];
}

/* A probability as a share of 2^64; 1 is all of them. */
static uint64_t
share_of(double probability)
{
	return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 0x1p64);
}

int
forward_build(struct forward_task *task, const struct task_config *config, const struct port *from,
	      const struct port *to, uint32_t number, uint64_t hz, int socket, struct error *err)
{
	const struct forward_config *forward = &config->forward;
	uint32_t frames = forward->delay_ns > 0 ? LINE_FRAMES_DELAYED : LINE_FRAMES;

	task->port_id = from->port_id;
	task->queue_id = (uint16_t)config->queue;
	task->to_port_id = to->port_id;
	task->to_queue_id = (uint16_t)forward->to_queue;
	task->rx_burst = worker_rx_burst(config->burst);
	task->burst = (uint16_t)config->burst;
	task->chains = port_sends_chains(to);
	task->rewrite = frame_rewrite_of(forward->rewrite);
	task->work_cycles = forward->work_cycles;
	task->impaired = forward->drop > 0 || forward->duplicate > 0 || forward->reorder > 0;
	task->drop = share_of(forward->drop);
	task->duplicate = share_of(forward->duplicate);
	task->reorder = share_of(forward->reorder);
	task->random = forward->seed + number;
	task->delay_cycles = cycles_of_ns(forward->delay_ns, hz);
	task->window_cycles = cycles_of_ns(TX_WINDOW_NS, hz);
	task->hold_cycles = cycles_of_ns(HOLD_NS, hz);
	task->copies_pool = from->rx_pool;
	task->line_mask = frames - 1;
	task->line = rte_malloc_socket("delay line", frames * sizeof(task->line[0]),
				       RTE_CACHE_LINE_SIZE, socket);
	if (task->line == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for a delay line of %u frames",
				 frames);
	return 0;
}

void
forward_free(struct forward_task *task)
{
	rte_free(task->line);
	flow_table_free(task->distinct);
}
