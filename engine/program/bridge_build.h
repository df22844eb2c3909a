/* SPDX-License-Identifier: BSD-3-Clause */
/* From bridge tasks' configuration to the tasks, and the rings between them. Cold, control thread. */
#ifndef WR_PROGRAM_BRIDGE_BUILD_H
#define WR_PROGRAM_BRIDGE_BUILD_H

#include "base/error.h"
#include "program/program.h"
#include "worker/bridge_task.h"

/*
 * Ports and queues are there, and the engine can do what the ways ask. `path` names the task in the parameters.
 * -EINVAL.
 */
int bridge_check(const struct task_config *task, const struct port *ports, uint32_t port_count,
		 const char *path, struct error *err);

/* All rings of the program; `number` makes names unique. -ENOMEM, and rings_free() is the caller's anyway. */
int rings_create(struct program *program, const struct program_config *config, uint32_t number,
		 struct error *err);

/* NULL and tasks that were never built are fine. Frames must have been drained. */
void rings_free(struct program *program);

/* Its rings exist; memory on NUMA node `socket`. -ENOMEM. */
int bridge_build(struct bridge_task *task, const struct task_config *config,
		 const struct program *program, struct bridge_counters *counters, int socket,
		 struct error *err);
void bridge_free(struct bridge_task *task);

/* All workers have ended: nothing stays in a ring. */
void bridges_drain(const struct program *program);

#endif
