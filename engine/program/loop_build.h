/* SPDX-License-Identifier: BSD-3-Clause */
/* From a tx task to a loop task. Cold, control thread. */
#ifndef WR_PROGRAM_LOOP_BUILD_H
#define WR_PROGRAM_LOOP_BUILD_H

#include "base/error.h"
#include "config/config.h"
#include "device/port.h"
#include "worker/loop_task.h"

/*
 * task->tx is built (tx_build.h): the rest, but for the device's ring, which is taken when the program runs. -EINVAL
 * where the stream does not repeat after as many frames as the port was opened for.
 */
int loop_task_settle(struct loop_task *task, const struct task_config *config,
		     const struct port *port, uint64_t hz, struct error *err);

#endif
