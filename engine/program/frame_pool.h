/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of mbufs that belong to streams for good.
 *
 * A ready frame is sent over and over from the same mbuf, so nobody needs it "back". Its pool's enqueue
 * operation takes no notice of what drivers free (a constant frame may be in flight many times at once:
 * nobody writes to it, and a free of an mbuf with reference count 1 writes nothing either). This saves the
 * allocation, the reset and the reference count per frame: on net_null 13 cycles per 64-octet frame, where fresh mbufs take
 * 17 and a shared reference count (a locked decrement per free) takes 20.
 *
 * Each mbuf has room for its own frame and no more, so that a trace of mixed sizes takes what its frames take.
 * The pool has no per-lcore cache: a cache would store every freed pointer only to throw it away.
 * Frames that are written between sendings need a bound on what the device holds: port_frames_held_max().
 */
#ifndef WR_PROGRAM_FRAME_POOL_H
#define WR_PROGRAM_FRAME_POOL_H

#include <stdint.h>

#include <rte_mbuf.h>

#include "base/error.h"

struct frame_pool;

/*
 * `count` mbufs on NUMA node `socket`; number i has room for octets[i] octets of frame (without FCS) behind the usual
 * headroom. Must not be destroyed while a device may still hold its mbufs. -ENOMEM, -EEXIST.
 */
int frame_pool_create(struct frame_pool **out, const char *name, const uint16_t *octets,
		      uint32_t count, int socket, struct error *err);
void frame_pool_destroy(struct frame_pool *pool);

/* The pool's mbufs, count of them, in the order of octets[]; owned by the pool. */
struct rte_mbuf **frame_pool_mbufs(const struct frame_pool *pool);

/* The NUMA nodes that hold its mbufs (memory_nodes_of_pool(), device/memory_node.h); NULL: none. */
uint64_t frame_pool_nodes(const struct frame_pool *pool);

/* Octets of memory that a frame takes, header and alignment included; no EAL needed. */
uint32_t frame_pool_stride(uint32_t octets);

#endif
