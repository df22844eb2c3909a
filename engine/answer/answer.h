/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host says of its own accord: ARP replies (RFC 826), neighbour advertisements (RFC 4861), echo replies of ICMP
 * (RFC 792) and ICMPv6 (RFC 4443). Pure functions on a frame in memory, without FCS, behind VLAN tags or not.
 * docs/design/0005-measurement.md, "Answering".
 */
#ifndef WR_ANSWER_ANSWER_H
#define WR_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "answer/answer_table.h"
#include "protocol/layer3.h"

#define ETHER_TYPE_ARP 0x0806
#define IP_PROTOCOL_ICMP 1
#define IP_PROTOCOL_ICMPV6 58
#define FRAME_OCTETS_MIN 60u

enum answer {
	ANSWER_NONE, /* not asked of us, or not rightly */
	ANSWER_ARP,
	ANSWER_NEIGHBOR,
	ANSWER_ECHO,
};
#define ANSWER_KINDS 4u

/* HOT. False for nearly every frame of a measurement: it is neither ARP nor ICMP. `octets` may be of a first segment. */
static inline bool
answer_is_candidate(const uint8_t *frame, uint32_t octets)
{
	uint16_t type = 0;
	uint32_t at = layer3_of(frame, octets, &type);

	if (at == 0)
		return false;
	if (type == ETHER_TYPE_IPV4)
		return at + 20 <= octets && frame[at + 9] == IP_PROTOCOL_ICMP;
	if (type == ETHER_TYPE_IPV6)
		return at + 40 <= octets && frame[at + 6] == IP_PROTOCOL_ICMPV6;
	return type == ETHER_TYPE_ARP;
}

/*
 * Whether the headers ask one of our addresses for something, and which kind of answer that would be. Lengths and
 * checksums are not looked at: the first segment of a frame is enough.
 */
enum answer answer_asked(const struct answer_table *table, const uint8_t *frame, uint32_t octets);

/*
 * Turn a whole frame of *octets into its answer, in place, and *octets into the answer's length (at least 60). There
 * is room for `room` octets; an answer that needs more is none. ANSWER_NONE: whatever is wrong with the request, the
 * frame has not been changed.
 */
enum answer answer_make(const struct answer_table *table, uint8_t *frame, uint32_t *octets,
			uint32_t room);

#endif
