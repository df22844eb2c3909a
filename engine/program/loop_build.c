/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/loop_build.h"

#include <errno.h>

#include "base/units.h"

/*
 * A sleep takes some 60 us more than asked of the kernel's timers: a ring that lasts less than that is looked after
 * awake.
 */
#define PAUSE_MIN_NS 30000ULL
#define PAUSE_MAX_NS 20000000ULL /* four times the longest quantum of a worker's sleep */

int
loop_task_settle(struct loop_task *task, const struct task_config *config, const struct port *port,
		 uint64_t hz, struct error *err)
{
	if (task->tx.ring_length != port->config.tx_loop_frames)
		return error_set(err, -EINVAL, NULL,
				 "stream %s repeats after %u frames, port %s was opened for a loop "
				 "of %u (tx_loop_frames)",
				 config->stream, task->tx.ring_length, port->config.name,
				 port->config.tx_loop_frames);
	task->standstill_cycles = cycles_of_ns(TX_STANDSTILL_NS, hz);
	task->pause_cycles_min = cycles_of_ns(PAUSE_MIN_NS, hz);
	task->pause_cycles_max = cycles_of_ns(PAUSE_MAX_NS, hz);
	return 0;
}
