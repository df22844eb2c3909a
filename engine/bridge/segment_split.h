/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Large TCP frames, as a kernel hands them to a device that says it cuts them, are cut to what the wire takes.
 *
 * Cut is what the driver marks as large receive (RTE_MBUF_F_RX_LRO, with the segment size in tso_segsz; so net_virtio
 * does with frames of the kernel) and what is longer than the MTU, TCP over IPv4 and IPv6. The parts are whole frames in
 * one mbuf each, copied into the pool that the large one came from: they go to any device, also to one that takes no
 * chains or frees without looking (RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE), which DPDK's GSO library has no answer to.
 * Any worker; nothing is kept between calls.
 */
#ifndef WR_BRIDGE_SEGMENT_SPLIT_H
#define WR_BRIDGE_SEGMENT_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "counters/counters.h"

/* Parts of one frame at most: more are not made, an MSS below 512 octets comes from nobody who wants to be fast. */
#define SPLIT_PARTS_MAX 128u

/* What the frames are for. */
struct segment_splitter {
	uint16_t mtu; /* of the destination [octets], without Ethernet header and FCS */
	bool tso;     /* its device cuts: frames are only marked for it */
};

/*
 * Frames in order from in[0…count) to out[0…room), which are different arrays; returns how many are in `out`. Of `in`
 * so many are taken as have room with all their parts, at least one, for room >= SPLIT_PARTS_MAX: *taken. What cannot be
 * cut, for want of mbufs too, is passed as it is and counted as untouchable. Parts have complete checksums and are
 * marked so (RTE_MBUF_F_RX_L4_CKSUM_GOOD). With `tso` the caller calls rte_eth_tx_prepare() before it sends.
 */
uint16_t segment_split(const struct segment_splitter *splitter, struct rte_mbuf **in,
		       uint16_t count, uint16_t *taken, struct rte_mbuf **out, uint16_t room,
		       struct bridge_counters *counters);

#endif
