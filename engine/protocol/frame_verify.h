/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Is a frame as whole as its headers say? For measuring receivers with `verify`. Pure functions.
 * Sources: RFC 791, 8200 (lengths, IPv4's checksum, pseudo-header), 768, 9293, 792, 4443, 1071.
 */
#ifndef WR_PROTOCOL_FRAME_VERIFY_H
#define WR_PROTOCOL_FRAME_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * False when something is wrong with the first IP packet behind the VLAN tags: the version, IPv4's header checksum, a
 * length that goes beyond the frame (padding behind is fine), the checksum of UDP, TCP, ICMP or ICMPv6. True for frames
 * without IP and for whatever has no such checksum: other protocols, fragments, UDP with 0 over IPv4 (RFC 768; not over
 * IPv6, RFC 8200 section 8.1), packets underway on a source route of IPv6 (their pseudo-header names another address).
 * `octets` are the whole frame's, without FCS.
 */
bool frame_is_right(const uint8_t *frame, uint32_t octets);

#endif
