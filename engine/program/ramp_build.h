/* SPDX-License-Identifier: BSD-3-Clause */
/* From a stream's ramp to when a part of it sends. Cold, control thread. */
#ifndef WR_PROGRAM_RAMP_BUILD_H
#define WR_PROGRAM_RAMP_BUILD_H

#include "config/config.h"
#include "worker/worker.h"

/*
 * Give a task whose schedule is set its part of the ramp: it begins when its first flow becomes active and ends when its
 * last one no longer is. Its frames are due when those of a part that had always had flows would be. `hz` as in tx_parts.
 */
void ramp_build(struct tx_task *task, const struct ramp_config *ramp,
		const struct task_config *config, uint64_t hz);

#endif
