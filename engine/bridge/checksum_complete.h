/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Write the TCP or UDP checksum of frames that come from the kernel without one: it leaves the sum of the
 * pseudo-header in the field, and the rest to the device. docs/design/0009-kernel-path.md, "Engine".
 *
 * Headers and payload may lie in any number of segments. What was in the field does not matter, so that a frame whose
 * checksum is right keeps it. Ethernet padding is not summed.
 */
#ifndef WR_BRIDGE_CHECKSUM_COMPLETE_H
#define WR_BRIDGE_CHECKSUM_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "counters/counters.h"

enum completion {
	COMPLETION_NONE, /* nothing to complete: neither TCP nor UDP, a fragment, zero, known to be good */
	COMPLETION_DONE, /* in software */
	COMPLETION_OFFLOADED, /* the device does it: the mbuf says what, the field has the pseudo-header's sum */
	COMPLETION_IMPOSSIBLE, /* TCP or UDP, but cut off, inconsistent, or behind headers that are not walked */
};

/* offload: the port computes Tx checksums, and rte_eth_tx_prepare() is called before the frame is sent. */
enum completion checksum_complete(struct rte_mbuf *mbuf, bool offload);

/* A burst; counts completed and untouchable. */
void checksum_complete_burst(struct rte_mbuf **mbufs, uint16_t count, bool offload,
			     struct bridge_counters *counters);

#endif
