/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames that a stream owns, as program/frame_pool.h makes them. */
#ifndef WR_EDIT_READY_FRAME_H
#define WR_EDIT_READY_FRAME_H

#include <stdint.h>

#include <rte_mbuf.h>

/* Where a ready frame begins: behind its mbuf and the headroom, known without looking into the mbuf. */
static inline uint8_t *
ready_frame_data(struct rte_mbuf *mbuf)
{
	return (uint8_t *)mbuf + sizeof(*mbuf) + RTE_PKTMBUF_HEADROOM;
}

#endif
