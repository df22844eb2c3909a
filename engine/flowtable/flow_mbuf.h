/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. The 5-tuple of a frame as a driver gives it, in however many segments, and a hash of it. */
#ifndef WR_FLOWTABLE_FLOW_MBUF_H
#define WR_FLOWTABLE_FLOW_MBUF_H

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "base/random.h"
#include "flowtable/flow_tuple.h"

#define TUPLE_HEADERS_OCTETS \
	256u /* of a frame in several segments: tags, IP, a few extensions, ports */

static inline uint64_t
tuple_hash(const struct flow_tuple *tuple)
{
	uint64_t hash = splitmix64(tuple->addresses[0], tuple->rest);

	if (likely(tuple_version(tuple) == TUPLE_IPV4))
		return hash;
	for (uint32_t i = 1; i < 4; i++)
		hash = splitmix64(hash ^ tuple->addresses[i], i);
	return hash;
}

static __rte_noinline bool
tuple_read_segments(struct flow_tuple *tuple, const struct rte_mbuf *mbuf)
{
	uint8_t copy[TUPLE_HEADERS_OCTETS];
	uint32_t octets = RTE_MIN(rte_pktmbuf_pkt_len(mbuf), TUPLE_HEADERS_OCTETS);
	const uint8_t *headers = rte_pktmbuf_read(mbuf, 0, octets, copy);

	return headers != NULL && tuple_read(tuple, headers, octets);
}

/* As tuple_read(). */
static inline bool
tuple_read_mbuf(struct flow_tuple *tuple, const struct rte_mbuf *mbuf)
{
	uint32_t octets = rte_pktmbuf_data_len(mbuf);

	if (unlikely(octets < TUPLE_HEADERS_OCTETS && octets < rte_pktmbuf_pkt_len(mbuf)))
		return tuple_read_segments(tuple, mbuf);
	return tuple_read(tuple, rte_pktmbuf_mtod(mbuf, const uint8_t *), octets);
}

#endif
