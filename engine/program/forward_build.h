/* SPDX-License-Identifier: BSD-3-Clause */
/* From a forward task's configuration to the task. Cold, control thread. */
#ifndef WR_PROGRAM_FORWARD_BUILD_H
#define WR_PROGRAM_FORWARD_BUILD_H

#include "base/error.h"
#include "device/port.h"
#include "worker/forward_task.h"

enum frame_rewrite frame_rewrite_of(enum rewrite rewrite);

/* hz is the TSC's; memory on NUMA node `socket`; `number` tells tasks' random numbers apart. -ENOMEM. */
int forward_build(struct forward_task *task, const struct task_config *config,
		  const struct port *from, const struct port *to, uint32_t number, uint64_t hz,
		  int socket, struct error *err);
void forward_free(struct forward_task *task);

#endif
