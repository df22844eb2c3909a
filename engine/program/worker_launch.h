/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers up and down. Control thread. */
#ifndef WR_PROGRAM_WORKER_LAUNCH_H
#define WR_PROGRAM_WORKER_LAUNCH_H

#include <stdint.h>

#include "base/error.h"
#include "worker/worker.h"

/* Choose the loop for each worker's tasks and start them on their lcores. -EBUSY when an lcore is not idle. */
int worker_launch_all(struct worker *workers, uint32_t count, struct error *err);

/* Tell all to quit and wait until they have; their counters are final then. */
void worker_stop_all(struct worker *workers, uint32_t count);

#endif
