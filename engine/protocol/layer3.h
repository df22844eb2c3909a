/* SPDX-License-Identifier: BSD-3-Clause */
/* Where layer 3 begins in an Ethernet frame, behind VLAN tags (IEEE 802.1Q). Pure. */
#ifndef WR_PROTOCOL_LAYER3_H
#define WR_PROTOCOL_LAYER3_H

#include <stdint.h>

#define ETHER_TYPE_OFFSET 12u
#define ETHER_TYPE_IPV4 0x0800
#define ETHER_TYPE_IPV6 0x86dd
#define ETHER_TYPE_VLAN 0x8100
#define ETHER_TYPE_QINQ 0x88a8
#define VLAN_OCTETS 4u
#define VLANS_MAX 4u

static inline uint16_t
load_16(const uint8_t *octets)
{
	return (uint16_t)(octets[0] << 8 | octets[1]);
}

/* Offset behind the EtherType that names layer 3, and that type; 0 when the frame is too short or has too many tags. */
static inline uint32_t
layer3_of(const uint8_t *frame, uint32_t octets, uint16_t *type)
{
	uint32_t at = ETHER_TYPE_OFFSET;

	for (uint32_t tags = 0; tags <= VLANS_MAX && at + 2 <= octets; tags++) {
		*type = load_16(frame + at);
		if (*type != ETHER_TYPE_VLAN && *type != ETHER_TYPE_QINQ)
			return at + 2;
		at += VLAN_OCTETS;
	}
	return 0;
}

#endif
