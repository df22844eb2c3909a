/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Whose is a frame: the kernel's or the fast path's? docs/design/0009-kernel-path.md, "Engine".
 *
 * The kernel gets what is for everybody, what is no whole IP header below at most two VLAN tags, what is for an address
 * of the set, and what is for a link-local IPv6 address: no router passes that on, and neighbour discovery answers there.
 * Reads octets that anybody may have sent.
 */
#ifndef WR_BRIDGE_FRAME_KIND_H
#define WR_BRIDGE_FRAME_KIND_H

#include <rte_mbuf.h>

#include "bridge/address_set.h"
#include "protocol/layer3.h"

#define KIND_VLANS_MAX 2u
#define KIND_OCTETS (ETHER_TYPE_OFFSET + 2u + KIND_VLANS_MAX * VLAN_OCTETS + 40u) /* decide */

enum frame_kind {
	KIND_FAST,
	KIND_KERNEL,
	KIND_ADDRESSED, /* the kernel's: its destination is in the set */
};

static inline enum frame_kind
kind_of_ipv4(const struct address_set *set, const uint8_t *packet, uint32_t octets)
{
	if (octets < 20 || packet[0] >> 4 != 4 || (packet[0] & 15) < 5)
		return KIND_KERNEL;
	return address_set_has(set, packet + 16, false) ? KIND_ADDRESSED : KIND_FAST;
}

static inline enum frame_kind
kind_of_ipv6(const struct address_set *set, const uint8_t *packet, uint32_t octets)
{
	if (octets < 40 || packet[0] >> 4 != 6)
		return KIND_KERNEL;
	if (address_set_has(set, packet + 24, true))
		return KIND_ADDRESSED;
	return packet[24] == 0xfe && (packet[25] & 0xc0) == 0x80 ? KIND_KERNEL : KIND_FAST;
}

/* Of a frame of which the first KIND_OCTETS are known, or all that there are. */
static inline enum frame_kind
kind_of_octets(const struct address_set *set, const uint8_t *frame, uint32_t octets)
{
	uint16_t type = 0;
	uint32_t at = layer3_of(frame, octets, &type);

	if (at == 0 || at > ETHER_TYPE_OFFSET + 2 + KIND_VLANS_MAX * VLAN_OCTETS ||
	    mac_is_group(frame))
		return KIND_KERNEL;
	if (type == ETHER_TYPE_IPV4)
		return kind_of_ipv4(set, frame + at, octets - at);
	return type == ETHER_TYPE_IPV6 ? kind_of_ipv6(set, frame + at, octets - at) : KIND_KERNEL;
}

static inline enum frame_kind
kind_of_frame(const struct address_set *set, const struct rte_mbuf *mbuf)
{
	uint32_t octets = rte_pktmbuf_data_len(mbuf);
	uint8_t room[KIND_OCTETS];

	if (likely(octets >= KIND_OCTETS || mbuf->nb_segs == 1))
		return kind_of_octets(set, rte_pktmbuf_mtod(mbuf, const uint8_t *), octets);
	octets = RTE_MIN(rte_pktmbuf_pkt_len(mbuf), KIND_OCTETS);
	return kind_of_octets(set, rte_pktmbuf_read(mbuf, 0, octets, room), octets);
}

#endif
