/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. Has a received frame been damaged on its way? What the device says of it, or what its octets say. */
#ifndef WR_PROTOCOL_FRAME_DAMAGE_H
#define WR_PROTOCOL_FRAME_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "protocol/frame_verify.h"

#define DAMAGE_CHAIN_OCTETS_MAX 16384u /* what any port can be opened for */

/* A frame in several mbufs; one that is longer than any port takes is let pass. */
static inline bool
chain_is_right(const struct rte_mbuf *mbuf)
{
	const uint32_t octets = rte_pktmbuf_pkt_len(mbuf);
	uint8_t copy[DAMAGE_CHAIN_OCTETS_MAX];
	const void *frame;

	if (octets > sizeof(copy))
		return true;
	frame = rte_pktmbuf_read(mbuf, 0, octets, copy);
	return frame == NULL || frame_is_right(frame, octets);
}

/* Is there a reason to look closer? The device's word, or that frames are to be verified. */
static inline bool
frame_is_suspect(const struct rte_mbuf *mbuf, bool verify)
{
	return verify ||
	       (mbuf->ol_flags & (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)) != 0;
}

/* verify: look at lengths and checksums; else take the device's word, where it has one. */
static __rte_noinline bool
frame_is_damaged(const struct rte_mbuf *mbuf, bool verify)
{
	const uint64_t ip = mbuf->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK,
		       transport = mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	if (!verify)
		return ip == RTE_MBUF_F_RX_IP_CKSUM_BAD || transport == RTE_MBUF_F_RX_L4_CKSUM_BAD;
	if (unlikely(mbuf->nb_segs > 1))
		return !chain_is_right(mbuf);
	return !frame_is_right(rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));
}

#endif
