/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. What a forwarder does with frames between receiving and sending: rewrite them, and take its time. */
#ifndef WR_WORKER_FRAME_WORK_H
#define WR_WORKER_FRAME_WORK_H

#include <stdint.h>

#include <rte_cycles.h>

#include "edit/reverse.h"

enum frame_rewrite { FRAME_AS_IS, FRAME_MAC_SWAP, FRAME_REVERSE };

static inline void
rewrite_frames(enum frame_rewrite rewrite, struct rte_mbuf **mbufs, uint16_t count)
{
	if (rewrite == FRAME_AS_IS)
		return;
	for (uint16_t i = 0; i < count; i++) {
		if (rewrite == FRAME_REVERSE)
			reverse(mbufs[i]);
		else
			swap_macs(mbufs[i]);
	}
}

/* The work of all frames of a burst: the clock is too coarse for that of one. */
static inline void
work_on_frames(uint64_t cycles_each, uint64_t from, uint16_t count)
{
	uint64_t until = from + count * cycles_each;

	if (cycles_each == 0)
		return;
	while (rte_rdtsc() < until)
		;
}

#endif
