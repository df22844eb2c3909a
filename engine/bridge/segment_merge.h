/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. TCP segments of one flow that follow each other in a burst become one large frame, for a device that takes such
 * frames (TSO): the kernel's stack sees one packet where there were forty.
 *
 * What is merged is what Linux merges (net/ipv4/tcp_offload.c, tcp_gro_receive): the same headers but for length, IP
 * identification, sequence number, checksums, FIN and PSH; the next sequence number; no segment longer than the first;
 * a shorter one, or one with FIN or PSH, is the last. Besides: no IP options, no fragments, and both checksums good,
 * by the driver's word or by our own sum, for the large frame's are made anew. Frames of a flow keep their order, which
 * DPDK's GRO library does not promise: it moves what it cannot merge to the burst's end.
 * Any worker; nothing is kept between calls.
 */
#ifndef WR_BRIDGE_SEGMENT_MERGE_H
#define WR_BRIDGE_SEGMENT_MERGE_H

#include <stdint.h>

#include <rte_mbuf.h>

#include "counters/counters.h"

/*
 * Merge in place; returns how many frames are left, in order of their first segments. Those that were made ask for TSO
 * with the first one's payload as segment size: the caller calls rte_eth_tx_prepare() before it sends them.
 * `merged` counts segments that are in a larger frame now, with the first.
 */
uint16_t segment_merge(struct rte_mbuf **mbufs, uint16_t count, struct bridge_counters *counters);

#endif
