/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/frame_verify.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "protocol/layer3.h"

#define IPV4_OCTETS_MIN 20u
#define IPV4_MORE_OR_OFFSET 0x3fffu /* "more fragments" and the fragment's offset */
#define IPV6_OCTETS 40u
#define IPV6_MORE_OR_OFFSET 0xfff9u
#define EXTENSIONS_MAX 8u

/* What lies behind the IP header or headers. */
struct payload {
	const uint8_t *octets;
	uint32_t n;
	uint8_t protocol;
	const uint8_t *addresses; /* both, one behind the other */
	uint32_t addresses_octets;
};

/*
 * RFC 1071: a sum of the words in the machine's byte order is right if it is in the network's; 32 at a time, since a
 * ones' complement sum of these folds to that of their halves. An odd last octet is followed by a zero.
 */
static uint64_t
sum_of(const uint8_t *octets, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		uint32_t word;

		memcpy(&word, octets + i, sizeof(word));
		sum += word;
	}
	if (i < n) {
		uint32_t word = 0;

		memcpy(&word, octets + i, n - i);
		sum += word;
	}
	return sum;
}

/* With the checksum in it, a right sum is all ones. */
static bool
adds_up(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* Sum of the first n octets of the payload and its pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1). */
static bool
adds_up_with_addresses(const struct payload *payload, uint32_t n)
{
	return adds_up(sum_of(payload->addresses, payload->addresses_octets) + htonl(n) +
		       htons(payload->protocol) + sum_of(payload->octets, n));
}

static bool
udp_is_right(const struct payload *payload)
{
	uint32_t n;

	if (payload->n < 8)
		return false;
	n = load_16(payload->octets + 4);
	if (n < 8 || n > payload->n)
		return false;
	if (load_16(payload->octets + 6) == 0)
		return payload->addresses_octets == 8; /* IPv4 */
	return adds_up_with_addresses(payload, n);
}

static bool
payload_is_right(const struct payload *payload)
{
	switch (payload->protocol) {
	case IPPROTO_UDP:
		return udp_is_right(payload);
	case IPPROTO_TCP:
		return payload->n >= 20 && adds_up_with_addresses(payload, payload->n);
	case IPPROTO_ICMP:
		if (payload->addresses_octets != 8)
			return true; /* means nothing behind IPv6 */
		return payload->n >= 4 && adds_up(sum_of(payload->octets, payload->n));
	case IPPROTO_ICMPV6:
		if (payload->addresses_octets == 8)
			return true;
		return payload->n >= 4 && adds_up_with_addresses(payload, payload->n);
	default:
		return true;
	}
}

static bool
ipv4_is_right(const uint8_t *packet, uint32_t octets)
{
	uint32_t header, length;
	struct payload payload;

	if (octets < IPV4_OCTETS_MIN || packet[0] >> 4 != 4)
		return false;
	header = (packet[0] & 0xfu) * 4;
	length = load_16(packet + 2);
	if (header < IPV4_OCTETS_MIN || length < header || length > octets ||
	    !adds_up(sum_of(packet, header)))
		return false;
	if ((load_16(packet + 6) & IPV4_MORE_OR_OFFSET) != 0)
		return true;
	payload = (struct payload){packet + header, length - header, packet[9], packet + 12, 8};
	return payload_is_right(&payload);
}

/* Go behind an extension header; false where what follows has no checksum to look at, or *whole is false. */
static bool
pass_extension(struct payload *payload, bool *whole)
{
	const uint8_t *header = payload->octets;
	uint32_t octets;

	if (payload->n < 8) {
		*whole = false;
		return false;
	}
	octets = 8 + header[1] * 8u;
	if (payload->protocol == IPPROTO_AH)
		octets = 8 + header[1] * 4u; /* RFC 4302 section 2.2 */
	else if (payload->protocol == IPPROTO_FRAGMENT)
		octets = 8;
	if (payload->protocol == IPPROTO_FRAGMENT &&
	    (load_16(header + 2) & IPV6_MORE_OR_OFFSET) != 0)
		return false;
	if (payload->protocol == IPPROTO_ROUTING && header[3] > 0) /* segments left */
		return false;
	*whole = octets <= payload->n;
	if (!*whole)
		return false;
	payload->protocol = header[0];
	payload->octets += octets;
	payload->n -= octets;
	return true;
}

static bool
ipv6_is_right(const uint8_t *packet, uint32_t octets)
{
	struct payload payload;
	bool whole = true;
	uint32_t length;

	if (octets < IPV6_OCTETS || packet[0] >> 4 != 6)
		return false;
	length = load_16(packet + 4);
	if (length == 0 && packet[6] == IPPROTO_HOPOPTS)
		return true; /* a jumbogram (RFC 2675) */
	if (IPV6_OCTETS + length > octets)
		return false;
	payload = (struct payload){packet + IPV6_OCTETS, length, packet[6], packet + 8, 32};
	for (uint32_t i = 0; i < EXTENSIONS_MAX; i++) {
		if (payload.protocol != IPPROTO_HOPOPTS && payload.protocol != IPPROTO_ROUTING &&
		    payload.protocol != IPPROTO_DSTOPTS && payload.protocol != IPPROTO_AH &&
		    payload.protocol != IPPROTO_FRAGMENT)
			return payload_is_right(&payload);
		if (!pass_extension(&payload, &whole))
			return whole;
	}
	return true;
}

bool
frame_is_right(const uint8_t *frame, uint32_t octets)
{
	uint16_t type = 0;
	uint32_t at = layer3_of(frame, octets, &type);

	if (at == 0)
		return true;
	if (type == ETHER_TYPE_IPV4)
		return ipv4_is_right(frame + at, octets - at);
	return type != ETHER_TYPE_IPV6 || ipv6_is_right(frame + at, octets - at);
}
