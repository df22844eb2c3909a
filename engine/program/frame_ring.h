/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of ready frames of one tx task: how long it is, and rendering it into mbufs.
 */
#ifndef WR_PROGRAM_FRAME_RING_H
#define WR_PROGRAM_FRAME_RING_H

#include <stdint.h>

#include <rte_mbuf.h>

#include "base/error.h"
#include "config/config.h"

struct frame_ring {
	struct rte_mbuf *
		*frames; /* length + burst pointers: the first `burst` are repeated at the end */
	uint64_t *octets_before; /* length + burst + 1 running sums of frame sizes with FCS */
	uint32_t length;
};

/*
 * Frames of the ring of one part: whole periods of what the part sends, at least a burst, and at least 64 so that a
 * device sees different mbufs within a burst.
 */
uint32_t frame_ring_length(const struct stream_config *stream, uint32_t parts, uint32_t burst);

/*
 * Render ring frames into mbufs[0…length), which become the ring's. Memory on NUMA node `socket`; -ENOMEM.
 */
int frame_ring_render(struct frame_ring *ring, const struct stream_config *stream,
		      const struct task_config *task, struct rte_mbuf **mbufs, int socket,
		      struct error *err);

void frame_ring_free(struct frame_ring *ring);

#endif
