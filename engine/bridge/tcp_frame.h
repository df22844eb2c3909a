/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. A frame seen as TCP over IPv4 or IPv6: where its headers and its payload are, and its checksums made right.
 *
 * Reads octets that anybody may have sent; writes to an mbuf that nobody else holds.
 * Sources: RFC 791, 8200 and 9293; docs/design/0009-kernel-path.md.
 */
#ifndef WR_BRIDGE_TCP_FRAME_H
#define WR_BRIDGE_TCP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "protocol/layer3.h"

#define IP_OCTETS_MAX 65535u  /* RFC 791; IPv6 without jumbograms has 40 more */
#define IPV4_FRAGMENT 0x3fffu /* more fragments, and the offset */

struct tcp_frame {
	uint16_t l2; /* octets of each layer's header */
	uint16_t l3;
	uint16_t l4;
	bool ipv6;
	uint32_t payload; /* [octets], by the IP header: what pads a short frame is none of it */
};

static inline uint32_t
tcp_frame_headers(const struct tcp_frame *frame)
{
	return (uint32_t)frame->l2 + frame->l3 + frame->l4;
}

static inline struct rte_tcp_hdr *
tcp_of(const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	return rte_pktmbuf_mtod_offset(mbuf, struct rte_tcp_hdr *, frame->l2 + frame->l3);
}

static inline struct rte_ipv4_hdr *
ipv4_of(const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	return rte_pktmbuf_mtod_offset(mbuf, struct rte_ipv4_hdr *, frame->l2);
}

static inline struct rte_ipv6_hdr *
ipv6_of(const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	return rte_pktmbuf_mtod_offset(mbuf, struct rte_ipv6_hdr *, frame->l2);
}

/* Octets of the IP packet as its header tells them, 0 when it is no whole TCP packet. Sets frame->l3. */
static inline uint32_t
tcp_packet_octets(const struct rte_mbuf *mbuf, struct tcp_frame *frame, uint32_t there)
{
	if (frame->ipv6) {
		const struct rte_ipv6_hdr *ip = ipv6_of(mbuf, frame);

		frame->l3 = sizeof(*ip);
		if (there < sizeof(*ip) || ip->proto != IPPROTO_TCP)
			return 0;
		return (uint32_t)sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);
	}
	const struct rte_ipv4_hdr *ip = ipv4_of(mbuf, frame);

	if (there < sizeof(*ip) || ip->next_proto_id != IPPROTO_TCP ||
	    (ip->fragment_offset & rte_cpu_to_be_16(IPV4_FRAGMENT)) != 0)
		return 0;
	frame->l3 = (uint16_t)((ip->version_ihl & 15u) * 4u);
	return frame->l3 < sizeof(*ip) ? 0 : rte_be_to_cpu_16(ip->total_length);
}

/*
 * False: no TCP over IP, a fragment, IPv6 with extension headers, a header that is not whole in the first mbuf, or a
 * frame that ends before its header says. *frame is of no use then.
 */
static inline bool
tcp_frame_read(const struct rte_mbuf *mbuf, struct tcp_frame *frame)
{
	uint32_t there = rte_pktmbuf_data_len(mbuf), octets, headers;
	uint16_t type = 0;
	uint32_t l2 = layer3_of(rte_pktmbuf_mtod(mbuf, const uint8_t *), there, &type);

	*frame = (struct tcp_frame){.l2 = (uint16_t)l2, .ipv6 = type == ETHER_TYPE_IPV6};
	if (l2 == 0 || (type != ETHER_TYPE_IPV4 && type != ETHER_TYPE_IPV6))
		return false;
	octets = tcp_packet_octets(mbuf, frame, there - l2);
	if (octets == 0 || l2 + frame->l3 + sizeof(struct rte_tcp_hdr) > there)
		return false;
	frame->l4 = (uint16_t)((tcp_of(mbuf, frame)->data_off >> 4) * 4u);
	headers = (uint32_t)frame->l3 + frame->l4;
	if (frame->l4 < sizeof(struct rte_tcp_hdr) || l2 + headers > there || headers > octets ||
	    l2 + octets > rte_pktmbuf_pkt_len(mbuf))
		return false;
	frame->payload = octets - headers;
	return true;
}

/* The IP header's length field, and with IPv4 its checksum, for so many octets of payload. */
static inline void
tcp_frame_set_length(struct rte_mbuf *mbuf, const struct tcp_frame *frame, uint32_t payload)
{
	uint16_t octets = (uint16_t)(frame->l4 + payload);

	if (frame->ipv6) {
		ipv6_of(mbuf, frame)->payload_len = rte_cpu_to_be_16(octets);
		return;
	}
	ipv4_of(mbuf, frame)->total_length = rte_cpu_to_be_16((uint16_t)(frame->l3 + octets));
	ipv4_of(mbuf, frame)->hdr_checksum = 0;
	ipv4_of(mbuf, frame)->hdr_checksum =
		(uint16_t)~rte_raw_cksum(ipv4_of(mbuf, frame), frame->l3);
}

/*
 * Leave cutting into segments of `segment` octets, and their checksums, to the device. The TCP checksum is that of the
 * pseudo header without a length, as rte_mbuf_core.h wants it; rte_eth_tx_prepare() makes of it what a device wants.
 */
static inline void
tcp_frame_ask_tso(struct rte_mbuf *mbuf, const struct tcp_frame *frame, uint16_t segment)
{
	mbuf->l2_len = frame->l2;
	mbuf->l3_len = frame->l3;
	mbuf->l4_len = frame->l4;
	mbuf->tso_segsz = segment;
	mbuf->ol_flags =
		RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM |
		(frame->ipv6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM);
	tcp_of(mbuf, frame)->cksum =
		frame->ipv6 ? rte_ipv6_phdr_cksum(ipv6_of(mbuf, frame), mbuf->ol_flags)
			    : rte_ipv4_phdr_cksum(ipv4_of(mbuf, frame), mbuf->ol_flags);
}

#endif
