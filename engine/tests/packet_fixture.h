/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames with IP and what it carries, whose checksums are right.
 *
 * Included by tests of what looks at such frames, once each. Checksums are made by checksum.h, which sums otherwise than
 * what is tested.
 */
#ifndef WR_TESTS_PACKET_FIXTURE_H
#define WR_TESTS_PACKET_FIXTURE_H

#include "tests/test_support.h"

#include <stdbool.h>

#include "protocol/checksum.h"

enum { FRAME_MAX = 2000, UDP = 17, TCP = 6, ICMP = 1, ICMPV6 = 58, GRE = 47 };

struct packet {
	uint8_t octets[FRAME_MAX];
	uint32_t n;         /* of the frame */
	uint32_t ip;        /* offset */
	uint32_t transport; /* offset */
	uint32_t checksum;  /* offset of the transport's; 0: has none */
	bool ipv6;
};

static inline void
store_16(uint8_t *octets, uint32_t value)
{
	octets[0] = (uint8_t)(value >> 8);
	octets[1] = (uint8_t)value;
}

static inline void
close_ipv4(struct packet *packet)
{
	uint8_t *ip = packet->octets + packet->ip;

	store_16(ip + 10, 0);
	store_16(ip + 10, checksum_finish(checksum_sum(ip, (ip[0] & 0xf) * 4u)));
}

static inline void
close_transport(struct packet *packet, uint8_t protocol)
{
	uint8_t *ip = packet->octets + packet->ip, *at = packet->octets + packet->checksum;
	uint32_t n = packet->n - packet->transport;
	uint64_t sum = 0;

	if (packet->checksum == 0)
		return;
	store_16(at, 0);
	if (protocol != ICMP)
		sum = protocol + n +
		      (packet->ipv6 ? checksum_sum(ip + 8, 32) : checksum_sum(ip + 12, 8));
	sum += checksum_sum(packet->octets + packet->transport, n);
	store_16(at, checksum_finish(sum) != 0 || protocol != UDP ? checksum_finish(sum) : 0xffff);
}

/* Where the checksum stands in the header, and how long that is. */
static inline uint32_t
checksum_offset(uint8_t protocol)
{
	switch (protocol) {
	case UDP:
		return 6;
	case TCP:
		return 16;
	case ICMP:
	case ICMPV6:
		return 2;
	default:
		return 0;
	}
}

/* `tags` VLAN tags, IP with `extra` octets of options or extension headers (multiples of 8), payload of noise. */
static inline struct packet
make_packet(bool ipv6, uint32_t tags, uint32_t extra, uint8_t protocol, uint32_t payload)
{
	struct packet packet = {.ipv6 = ipv6, .ip = 14 + 4 * tags};
	uint32_t header = (ipv6 ? 40 : 20) + extra, end;
	uint64_t seed = payload;
	uint8_t *ip = packet.octets + packet.ip;

	for (uint32_t i = 0; i < FRAME_MAX; i++)
		packet.octets[i] = (uint8_t)random_next(&seed);
	for (uint32_t i = 0; i < tags; i++)
		store_16(packet.octets + 12 + 4 * i, i + 1 < tags ? 0x88a8 : 0x8100);
	store_16(ip - 2, ipv6 ? 0x86dd : 0x0800);
	packet.transport = packet.ip + header;
	packet.n = end = packet.transport + payload;
	if (ipv6) {
		ip[0] = 0x60;
		store_16(ip + 4, end - packet.ip - 40);
		ip[6] = extra > 0 ? 60 : protocol; /* destination options */
		ip[40] = extra > 0 ? protocol : ip[40];
		ip[41] = extra > 0 ? (uint8_t)(extra / 8 - 1) : ip[41];
	} else {
		ip[0] = (uint8_t)(0x40 | header / 4);
		store_16(ip + 2, end - packet.ip);
		store_16(ip + 6, 0x4000);
		ip[9] = protocol;
		close_ipv4(&packet);
	}
	if (protocol == UDP)
		store_16(packet.octets + packet.transport + 4, payload);
	if (checksum_offset(protocol) != 0)
		packet.checksum = packet.transport + checksum_offset(protocol);
	close_transport(&packet, protocol);
	return packet;
}

#endif
