/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. The 5-tuple of a received frame: addresses, protocol and ports. Reads octets that anybody may have sent.
 *
 * What follows an IPv6 header is looked for behind extension headers (RFC 8200 section 4). Ports are those of UDP and
 * TCP; they are 0 for other protocols, for fragments (of which only the first has any), and where the frame ends before.
 */
#ifndef WR_FLOWTABLE_FLOW_TUPLE_H
#define WR_FLOWTABLE_FLOW_TUPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "protocol/layer3.h"

#define TUPLE_IPV4 4u
#define TUPLE_IPV6 6u
#define TUPLE_EXTENSIONS_MAX 8u

/* Two are equal where all of it is; there is no padding. */
struct flow_tuple {
	uint64_t rest;         /* ports in the upper half, protocol above the version of IP below */
	uint64_t addresses[4]; /* IPv4: both in the first, the others 0 */
};

static inline uint64_t
tuple_version(const struct flow_tuple *tuple)
{
	return tuple->rest & 0xff;
}

static inline void
tuple_set_rest(struct flow_tuple *tuple, const uint8_t *frame, uint32_t octets, uint32_t ports_at,
	       uint8_t protocol, uint32_t version)
{
	uint32_t ports = 0;

	if ((protocol == 6 || protocol == 17) && ports_at + 4 <= octets)
		memcpy(&ports, frame + ports_at, sizeof(ports));
	tuple->rest = (uint64_t)ports << 32 | (uint64_t)protocol << 8 | version;
}

static inline bool
tuple_read_ipv4(struct flow_tuple *tuple, const uint8_t *frame, uint32_t octets, uint32_t at)
{
	uint32_t header = at + 20 <= octets ? 4u * (frame[at] & 15) : 0;
	bool fragment;

	if (header < 20 || frame[at] >> 4 != 4)
		return false;
	fragment = (load_16(frame + at + 6) & 0x3fff) != 0; /* more to come, or an offset */
	memcpy(tuple->addresses, frame + at + 12, 8);
	memset(&tuple->addresses[1], 0, 24);
	tuple_set_rest(tuple, frame, octets, fragment ? octets : at + header, frame[at + 9],
		       TUPLE_IPV4);
	return true;
}

/* Behind the extension headers from `at` on: where that is (`octets` for a fragment), and its protocol. */
static inline uint32_t
tuple_skip_extensions(const uint8_t *frame, uint32_t octets, uint32_t at, uint8_t *protocol)
{
	for (uint32_t n = 0; n < TUPLE_EXTENSIONS_MAX && at + 8 <= octets; n++) {
		uint8_t header = *protocol;

		if (header != 0 && header != 43 && header != 44 && header != 60)
			break;
		*protocol = frame[at];
		if (header != 44)
			at += 8u + 8u * frame[at + 1];
		else if ((load_16(frame + at + 2) & 0xfff9) == 0)
			at += 8; /* RFC 6946: the only fragment is no fragment */
		else
			return octets;
	}
	return at;
}

static inline bool
tuple_read_ipv6(struct flow_tuple *tuple, const uint8_t *frame, uint32_t octets, uint32_t at)
{
	uint8_t protocol;
	uint32_t behind;

	if (at + 40 > octets || frame[at] >> 4 != 6)
		return false;
	protocol = frame[at + 6];
	behind = tuple_skip_extensions(frame, octets, at + 40, &protocol);
	memcpy(tuple->addresses, frame + at + 8, 32);
	tuple_set_rest(tuple, frame, octets, behind, protocol, TUPLE_IPV6);
	return true;
}

/* The tuple of a frame of `octets` octets; false where there is none: no whole IP header behind at most 4 VLAN tags. */
static inline bool
tuple_read(struct flow_tuple *tuple, const uint8_t *frame, uint32_t octets)
{
	uint16_t type = 0;
	uint32_t at = layer3_of(frame, octets, &type);

	if (at == 0)
		return false;
	if (type == ETHER_TYPE_IPV4)
		return tuple_read_ipv4(tuple, frame, octets, at);
	return type == ETHER_TYPE_IPV6 && tuple_read_ipv6(tuple, frame, octets, at);
}

#endif
