/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A period of grace: what workers may have in hand is not taken from under them.
 *
 * net_memif, told by its control thread that a peer has left, marks the port as not connected and then unmaps the
 * peer's rings, while a worker may be in the middle of a burst. The engine's own munmap(), which the linker prefers to
 * the C library's, waits until every running worker has begun a new loop and so has seen the mark.
 */
#ifndef WR_PROGRAM_WORKER_GRACE_H
#define WR_PROGRAM_WORKER_GRACE_H

#include <stdint.h>

#include "worker/worker.h"

/* These run now; NULL, 0: none does. Control thread. */
void worker_grace_watch(const struct worker *workers, uint32_t count);

/* Wait until each of them has finished the loop that it is in, for two seconds at most. Not from a worker. */
void worker_grace_wait(void);

#endif
