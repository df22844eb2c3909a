/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of programs that have ended, kept as long as a device may hold them.
 *
 * A NIC frees frames when it needs their descriptors, so that it holds the last ones handed to a queue until others
 * follow: after port_frames_held_max() more on each queue that a program used, its frames are home. So two programs'
 * frames are there at a time, however many are loaded one after the other. Control thread only.
 */
#ifndef WR_PROGRAM_KEPT_FRAMES_H
#define WR_PROGRAM_KEPT_FRAMES_H

#include "base/error.h"
#include "program/program.h"

struct kept_frames;

/* Of a halted program: take from it the pools that devices may still hold. It may be destroyed then. */
void kept_frames_take(struct kept_frames **kept, struct program *program);

/* Free the pools whose frames are home; `all`: whatever is kept, once all ports are closed. */
void kept_frames_release(struct kept_frames **kept, bool all);

/*
 * Memory is short: restart the ports that hold frames of kept pools, which gives them back, and free all that is kept.
 * Their links come up some time later. Fails as port_restart() does.
 */
int kept_frames_recall(struct kept_frames **kept, struct port *ports, uint32_t port_count,
		       struct error *err);

#endif
