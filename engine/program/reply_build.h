/* SPDX-License-Identifier: BSD-3-Clause */
/* From reply tasks' configuration to the queues of answers of their ports, and to the tasks. Cold, control thread. */
#ifndef WR_PROGRAM_REPLY_BUILD_H
#define WR_PROGRAM_REPLY_BUILD_H

#include "answer/answer_queue.h"
#include "base/error.h"
#include "device/port.h"
#include "program/frame_pool.h"
#include "worker/reply_task.h"

/*
 * A queue for each port with a reply task, NULL for the others; queues[] has port_count entries. `number` makes names
 * unique within the session. -ENOMEM; reply_queues_free() frees what was made until then.
 */
int reply_queues_create(struct answer_queue **queues, const struct program_config *config,
			const struct port *ports, uint32_t port_count, uint32_t number,
			struct error *err);

/* A device may hold the queues' frames: not before reply_queue_take_frames(), or the ports are closed. */
void reply_queues_free(struct answer_queue **queues, uint32_t port_count);

/* The queue's frames, which are the caller's from now on; nothing may be sent from it any more. */
struct frame_pool *reply_queue_take_frames(struct answer_queue *queue);

/* hz is the TSC's. */
void reply_build(struct reply_task *task, const struct task_config *config, const struct port *port,
		 struct answer_queue *queue, struct reply_counters *counters, uint64_t hz);

#endif
