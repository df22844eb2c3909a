/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP frames in mbufs, made and read octet by octet, for the tests of splitting and merging.
 *
 * Included by test_segment_split.c and test_segment_merge.c, once each.
 */
#ifndef WR_TESTS_SEGMENT_FIXTURE_H
#define WR_TESTS_SEGMENT_FIXTURE_H

#include "tests/eal_fixture.h"

#include "protocol/checksum.h"

#include "bridge/tcp_frame.h"

enum {
	POOL_MBUFS = 511,
	SEQUENCE = 0x7ffffff0, /* the upper half is reached in the first segment */
	FIRST_ID = 0xfffe,     /* wraps */
	TCP_OPTIONS = 12,
	PAYLOAD_MAX = 65000,
};

/* What a frame is like; zeros: no VLAN tag, IPv4, no TCP options. */
struct shape {
	uint32_t vlans;
	bool ipv6;
	uint32_t options;
	uint8_t flags; /* of TCP */
};

static struct rte_mempool *pool;

static int
pool_up(void **state)
{
	if (eal_up(state) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("segments", POOL_MBUFS, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int
pool_down(void **state)
{
	rte_mempool_free(pool);
	return eal_down(state);
}

static uint8_t
payload_octet(uint32_t at)
{
	return (uint8_t)(at * 2654435761u >> 13);
}

static void
put(uint8_t *to, uint32_t value, uint32_t octets)
{
	for (uint32_t i = 0; i < octets; i++)
		to[i] = (uint8_t)(value >> 8 * (octets - 1 - i));
}

static uint32_t
l2_of(const struct shape *shape)
{
	return 14 + 4 * shape->vlans;
}

static uint32_t
l3_of(const struct shape *shape)
{
	return shape->ipv6 ? 40 : 20;
}

static uint32_t
headers_of(const struct shape *shape)
{
	return l2_of(shape) + l3_of(shape) + 20 + shape->options;
}

/* The sum that a receiver makes over pseudo header and segment: 0 when its checksum is right. */
static uint16_t
tcp_sum(const struct shape *shape, const uint8_t *frame, uint32_t octets)
{
	uint32_t l4 = l2_of(shape) + l3_of(shape);
	const uint8_t *addresses = frame + l4 - (shape->ipv6 ? 32 : 8);
	uint64_t sum = checksum_sum(addresses, shape->ipv6 ? 32 : 8) + 6 + (octets - l4);

	return checksum_finish(sum + checksum_sum(frame + l4, octets - l4));
}

/* Headers of a frame with so much payload; checksums are right where the payload is in place. */
static void
write_frame(const struct shape *shape, uint8_t *frame, uint32_t offset, uint32_t payload)
{
	uint32_t l2 = l2_of(shape), l3 = l3_of(shape), headers = headers_of(shape);
	uint8_t *ip = frame + l2, *tcp = ip + l3;

	memset(frame, 0, headers);
	memset(frame, 0x52, 12);
	for (uint32_t i = 0; i < shape->vlans; i++)
		put(frame + 12 + 4 * i, 0x81000000 + 100 + i, 4);
	put(frame + l2 - 2, shape->ipv6 ? 0x86dd : 0x0800, 2);
	for (uint32_t i = 0; i < (shape->ipv6 ? 32u : 8u); i++)
		ip[l3 - (shape->ipv6 ? 32 : 8) + i] = (uint8_t)(0xc6 + i);
	if (shape->ipv6) {
		put(ip, 0x60212345, 4);
		put(ip + 4, 20 + shape->options + payload, 2);
		put(ip + 6, 0x0640, 2);
	} else {
		put(ip, 0x45100000 + 40 + shape->options + payload, 4);
		put(ip + 4, FIRST_ID, 2);
		put(ip + 6, 0x4000, 2);
		put(ip + 8, 0x4006, 2);
		put(ip + 10, checksum_finish(checksum_sum(ip, 20)), 2);
	}
	put(tcp, 0x12345678, 4);
	put(tcp + 4, SEQUENCE + offset, 4);
	put(tcp + 8, 0xabcdef01, 4);
	tcp[12] = (uint8_t)((20 + shape->options) / 4 << 4);
	tcp[13] = shape->flags;
	put(tcp + 14, 0x7210, 2);
	memset(tcp + 20, 1, shape->options);
}

/* A frame of a flow's payload from `offset` on, in mbufs of at most `room` octets each. */
static struct rte_mbuf *
make_frame(const struct shape *shape, uint32_t offset, uint32_t payload, uint32_t room)
{
	static uint8_t frame[PAYLOAD_MAX + 200];
	uint32_t octets = headers_of(shape) + payload, l4 = l2_of(shape) + l3_of(shape);
	struct rte_mbuf *first = NULL;

	write_frame(shape, frame, offset, payload);
	for (uint32_t i = 0; i < payload; i++)
		frame[headers_of(shape) + i] = payload_octet(offset + i);
	put(frame + l4 + 16, tcp_sum(shape, frame, octets), 2);
	for (uint32_t at = 0; at < octets; at += room) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		uint32_t n = RTE_MIN(room, octets - at);

		assert_non_null(mbuf);
		memcpy(rte_pktmbuf_append(mbuf, (uint16_t)n), frame + at, n);
		if (first == NULL)
			first = mbuf;
		else
			assert_int_equal(rte_pktmbuf_chain(first, mbuf), 0);
	}
	return first;
}

/* All octets of a frame, which has at most PAYLOAD_MAX + 200. */
static uint32_t
flatten(const struct rte_mbuf *mbuf, uint8_t *to)
{
	uint32_t octets = 0, segments = 0;

	for (const struct rte_mbuf *at = mbuf; at != NULL; at = at->next, segments++) {
		memcpy(to + octets, rte_pktmbuf_mtod(at, void *), at->data_len);
		octets += at->data_len;
	}
	assert_int_equal(octets, mbuf->pkt_len);
	assert_int_equal(segments, mbuf->nb_segs);
	return octets;
}

static void
assert_none_lost(void)
{
	assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS);
}

#endif
