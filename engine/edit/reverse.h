/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. Send a frame back to where it came from: addresses and ports change places, and no checksum changes. */
#ifndef WR_EDIT_REVERSE_H
#define WR_EDIT_REVERSE_H

#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#include "protocol/layer3.h"

static inline void
swap_octets(uint8_t *a, uint8_t *b, uint32_t octets)
{
	uint8_t kept[16];

	memcpy(kept, a, octets);
	memcpy(a, b, octets);
	memcpy(b, kept, octets);
}

static inline void
swap_macs(struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	if (rte_pktmbuf_data_len(mbuf) >= 12)
		swap_octets(frame, frame + 6, 6);
}

static inline void
swap_ports(uint8_t *frame, uint32_t octets, uint32_t at, uint8_t protocol)
{
	if ((protocol == 6 || protocol == 17) && at + 4 <= octets)
		swap_octets(frame + at, frame + at + 2, 2);
}

/* Ethernet, then IPv4 or IPv6, then UDP or TCP, as far as the first segment has them. Fragments keep their ports. */
static inline void
reverse(struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t octets = rte_pktmbuf_data_len(mbuf), at;
	uint16_t type = 0;

	swap_macs(mbuf);
	at = layer3_of(frame, octets, &type);
	if (at == 0)
		return;
	if (type == ETHER_TYPE_IPV4 && at + 20 <= octets) {
		uint32_t offset = (uint32_t)(frame[at + 6] & 0x1f) << 8 | frame[at + 7];

		swap_octets(frame + at + 12, frame + at + 16, 4);
		if (offset == 0)
			swap_ports(frame, octets, at + 4u * (frame[at] & 15), frame[at + 9]);
	} else if (type == ETHER_TYPE_IPV6 && at + 40 <= octets) {
		swap_octets(frame + at + 8, frame + at + 24, 16);
		swap_ports(frame, octets, at + 40, frame[at + 6]);
	}
}

#endif
