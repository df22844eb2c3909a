/* SPDX-License-Identifier: BSD-3-Clause */
/* From a stream's fields and checksums to the walk that its tx task carries out. Cold, control thread. */
#ifndef WR_PROGRAM_WALK_BUILD_H
#define WR_PROGRAM_WALK_BUILD_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "edit/tx_walk.h"

/*
 * For a ring of `length` frames of the task's part. The stream may go afterwards.
 * -EINVAL where a field lies across the end of what a checksum covers; -ENOMEM. Memory on NUMA node `socket`.
 */
int walk_create(struct walk **out, const struct stream_config *stream,
		const struct task_config *task, uint32_t length, int socket, struct error *err);
void walk_free(struct walk *walk);

#endif
