/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of ready frames of one tx task: how long it is, whether it is walked, and rendering it into mbufs.
 */
#ifndef WR_PROGRAM_FRAME_RING_H
#define WR_PROGRAM_FRAME_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "base/error.h"
#include "program/frame_source.h"

/*
 * Beyond so many frames fields are walked. 8,192 frames of 64 octets (two lines of mbuf and one of data each) are what
 * a second-level cache of 1 to 2 MiB holds; writing a 5-tuple and its checksums costs less than fetching a frame from memory.
 */
#define RING_READY_FRAMES_MAX 8192u

struct ring_shape {
	uint32_t length; /* [frames] */
	bool walk;       /* fields and checksums are written before each burst */
};

struct frame_ring {
	struct rte_mbuf *
		*frames; /* length + burst pointers: the first `burst` are repeated at the end */
	uint64_t *octets_before; /* length + burst + 1 running sums of frame sizes with FCS */
	uint32_t length;
};

/*
 * The ring of one part: whole periods of what the part sends, at least a burst, and at least 64 frames so that a
 * device sees different mbufs within a burst; walked or stamped, it exceeds the `held` frames that the device may hold by a burst.
 */
struct ring_shape frame_ring_shape(const struct frame_source *source, uint32_t parts,
				   uint32_t burst, uint32_t held);

/* Octets (without FCS) of the frame in each of the ring's slots. */
void frame_ring_octets(const struct frame_source *source, const struct task_config *task,
		       uint32_t length, uint16_t *octets);

/* Render the ring's frames into mbufs[0…length), which become the ring's. Memory on NUMA node `socket`; -ENOMEM. */
int frame_ring_render(struct frame_ring *ring, const struct frame_source *source,
		      const struct task_config *task, uint32_t length, struct rte_mbuf **mbufs,
		      int socket, struct error *err);

void frame_ring_free(struct frame_ring *ring);

#endif
