/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. Send a frame back to where it came from: addresses and ports change places, and no checksum changes. */
#ifndef WR_WORKER_REVERSE_H
#define WR_WORKER_REVERSE_H

#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#define REVERSE_VLANS_MAX 4u

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

/* Offset behind the EtherType that names layer 3, and that type; 0 when the frame is too short or has too many tags. */
static inline uint32_t
layer3_of(const uint8_t *frame, uint32_t octets, uint16_t *type)
{
	uint32_t at = 12;

	for (uint32_t tags = 0; tags <= REVERSE_VLANS_MAX && at + 2 <= octets; tags++) {
		*type = (uint16_t)(frame[at] << 8 | frame[at + 1]);
		if (*type != 0x8100 && *type != 0x88a8)
			return at + 2;
		at += 4;
	}
	return 0;
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
	if (type == 0x0800 && at + 20 <= octets) {
		uint32_t offset = (uint32_t)(frame[at + 6] & 0x1f) << 8 | frame[at + 7];

		swap_octets(frame + at + 12, frame + at + 16, 4);
		if (offset == 0)
			swap_ports(frame, octets, at + 4u * (frame[at] & 15), frame[at + 9]);
	} else if (type == 0x86dd && at + 40 <= octets) {
		swap_octets(frame + at + 8, frame + at + 24, 16);
		swap_ports(frame, octets, at + 40, frame[at + 6]);
	}
}

#endif
