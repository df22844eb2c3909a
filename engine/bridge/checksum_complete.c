/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/checksum_complete.h"

#include <netinet/in.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ip.h>

#include "protocol/layer3.h"

#define HEADERS_OCTETS 256u /* looked at, where a frame's first segment has not all of it */
#define IPV4_OCTETS_MIN 20u
#define IPV4_MORE_OR_OFFSET 0x3fffu /* "more fragments" and the fragment's offset */
#define IPV6_OCTETS 40u
#define EXTENSIONS_MAX 4u
#define TCP_OCTETS_MIN 20u
#define TCP_CHECKSUM_OFFSET 16u
#define UDP_OCTETS 8u
#define UDP_CHECKSUM_OFFSET 6u

/* The beginning of a frame, one octet behind the other. */
struct headers {
	const uint8_t *octets;
	uint32_t n;
	uint32_t frame; /* octets of the whole frame, without FCS */
};

/* What is to be summed. Offsets count from the frame's beginning. */
struct datagram {
	uint32_t l3;        /* where the IP header is */
	uint32_t l4;        /* where that of TCP or UDP is */
	uint32_t l4_octets; /* of that and what follows */
	uint8_t protocol;
	bool ipv6;
	bool plain; /* a device finds its way through: no IPv6 extension headers, lengths agree */
};

/* Both addresses, protocol and length: RFC 9293 section 3.1, RFC 8200 section 8.1. Not complemented, network order. */
static uint16_t
sum_pseudo_header(const struct datagram *d, const uint8_t *frame)
{
	uint32_t at = d->l3 + (d->ipv6 ? 8 : 12), octets = d->ipv6 ? 32 : 8;
	uint32_t sum = rte_raw_cksum(frame + at, octets);

	sum += rte_cpu_to_be_16(d->protocol);
	sum += rte_cpu_to_be_16((uint16_t)d->l4_octets);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static enum completion
find_in_ipv4(const struct headers *h, struct datagram *d)
{
	const uint8_t *packet = h->octets + d->l3;
	uint32_t header, total;

	if (h->n < d->l3 + IPV4_OCTETS_MIN)
		return COMPLETION_NONE;
	header = 4u * (packet[0] & 15);
	total = load_16(packet + 2);
	d->protocol = packet[9];
	if (packet[0] >> 4 != 4 || (d->protocol != IPPROTO_TCP && d->protocol != IPPROTO_UDP) ||
	    (load_16(packet + 6) & IPV4_MORE_OR_OFFSET) != 0)
		return COMPLETION_NONE;
	if (header < IPV4_OCTETS_MIN || total < header || d->l3 + total > h->frame)
		return COMPLETION_IMPOSSIBLE;
	d->l4 = d->l3 + header;
	d->l4_octets = total - header;
	d->plain = true;
	return COMPLETION_DONE;
}

/* Behind options for all hops and for the destination. A routing header hides the address that is summed. */
static enum completion
walk_extensions(const struct headers *h, struct datagram *d)
{
	for (uint32_t n = 0; n < EXTENSIONS_MAX; n++) {
		if (d->protocol == IPPROTO_TCP || d->protocol == IPPROTO_UDP)
			return COMPLETION_DONE;
		if (d->protocol == IPPROTO_ROUTING)
			return COMPLETION_IMPOSSIBLE;
		if (d->protocol != IPPROTO_HOPOPTS && d->protocol != IPPROTO_DSTOPTS)
			return COMPLETION_NONE;
		if (d->l4 + 8 > h->n)
			return COMPLETION_IMPOSSIBLE;
		d->plain = false;
		d->protocol = h->octets[d->l4];
		d->l4 += 8u + 8u * h->octets[d->l4 + 1];
	}
	return COMPLETION_IMPOSSIBLE;
}

static enum completion
find_in_ipv6(const struct headers *h, struct datagram *d)
{
	const uint8_t *packet = h->octets + d->l3;
	enum completion found;
	uint32_t end;

	if (h->n < d->l3 + IPV6_OCTETS || packet[0] >> 4 != 6)
		return COMPLETION_NONE;
	d->ipv6 = true;
	d->plain = true;
	d->protocol = packet[6];
	d->l4 = d->l3 + IPV6_OCTETS;
	end = d->l4 + load_16(packet + 4);
	found = walk_extensions(h, d);
	if (found != COMPLETION_DONE)
		return found;
	if (end > h->frame || d->l4 > end)
		return COMPLETION_IMPOSSIBLE;
	d->l4_octets = end - d->l4;
	return COMPLETION_DONE;
}

/* UDP has a length of its own, which may be less. */
static enum completion
check_udp(const struct headers *h, struct datagram *d)
{
	uint32_t octets;

	if (d->l4_octets < UDP_OCTETS || d->l4 + UDP_OCTETS > h->n)
		return COMPLETION_IMPOSSIBLE;
	if (!d->ipv6 && load_16(h->octets + d->l4 + UDP_CHECKSUM_OFFSET) == 0)
		return COMPLETION_NONE;
	octets = load_16(h->octets + d->l4 + 4);
	if (octets < UDP_OCTETS || octets > d->l4_octets)
		return COMPLETION_IMPOSSIBLE;
	d->plain &= octets == d->l4_octets;
	d->l4_octets = octets;
	return COMPLETION_DONE;
}

/* COMPLETION_DONE: *d says what is to be summed. */
static enum completion
find_datagram(const struct headers *h, struct datagram *d)
{
	enum completion found = COMPLETION_NONE;
	uint16_t type = 0;

	*d = (struct datagram){.l3 = layer3_of(h->octets, h->n, &type)};
	if (d->l3 == 0)
		return COMPLETION_NONE;
	if (type == ETHER_TYPE_IPV4)
		found = find_in_ipv4(h, d);
	else if (type == ETHER_TYPE_IPV6)
		found = find_in_ipv6(h, d);
	if (found != COMPLETION_DONE)
		return found;
	if (d->protocol == IPPROTO_UDP)
		return check_udp(h, d);
	return d->l4_octets < TCP_OCTETS_MIN || d->l4 + TCP_OCTETS_MIN > h->n
		       ? COMPLETION_IMPOSSIBLE
		       : COMPLETION_DONE;
}

/* Two octets at an offset, wherever segments end. */
static void
put_16(struct rte_mbuf *mbuf, uint32_t at, uint16_t value)
{
	const uint8_t *octets = (const uint8_t *)&value;

	for (uint32_t i = 0; i < 2; i++) {
		struct rte_mbuf *segment = mbuf;
		uint32_t offset = at + i;

		while (offset >= rte_pktmbuf_data_len(segment)) {
			offset -= rte_pktmbuf_data_len(segment);
			segment = segment->next;
		}
		*rte_pktmbuf_mtod_offset(segment, uint8_t *, offset) = octets[i];
	}
}

static void
ask_device(struct rte_mbuf *mbuf, const struct datagram *d)
{
	mbuf->tx_offload = 0;
	mbuf->l2_len = d->l3;
	mbuf->l3_len = d->l4 - d->l3;
	mbuf->ol_flags &= ~RTE_MBUF_F_TX_L4_MASK;
	mbuf->ol_flags |= d->ipv6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4;
	mbuf->ol_flags |=
		d->protocol == IPPROTO_TCP ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM;
}

/* Sum of octets in whatever segments, folded, not complemented, network order. They are there. */
static uint32_t
sum_segments(const struct rte_mbuf *segment, uint32_t at, uint32_t octets)
{
	uint32_t sum = 0, n;

	while (at >= rte_pktmbuf_data_len(segment)) {
		at -= rte_pktmbuf_data_len(segment);
		segment = segment->next;
	}
	for (uint32_t done = 0; done < octets; done += n, segment = segment->next, at = 0) {
		uint16_t part;

		n = RTE_MIN(octets - done, rte_pktmbuf_data_len(segment) - at);
		part = rte_raw_cksum(rte_pktmbuf_mtod_offset(segment, const void *, at), n);
		sum += (done & 1) != 0 ? rte_bswap16(part) : part;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* RFC 1071; a computed zero is sent as all ones by UDP (RFC 768), where zero says that there is none. */
static uint16_t
sum_datagram(const struct rte_mbuf *mbuf, const struct datagram *d, uint16_t pseudo)
{
	uint32_t sum = sum_segments(mbuf, d->l4, d->l4_octets) + pseudo;
	uint16_t checksum = (uint16_t)~((sum & 0xffff) + (sum >> 16));

	return checksum == 0 && d->protocol == IPPROTO_UDP ? 0xffff : checksum;
}

enum completion
checksum_complete(struct rte_mbuf *mbuf, bool offload)
{
	struct headers h = {.n = rte_pktmbuf_data_len(mbuf), .frame = rte_pktmbuf_pkt_len(mbuf)};
	uint8_t room[HEADERS_OCTETS];
	struct datagram d;
	enum completion found;
	uint32_t field;
	uint16_t pseudo;

	if ((mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD ||
	    (mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0) /* the device's with its segments */
		return COMPLETION_NONE;
	if (unlikely(h.n < HEADERS_OCTETS && h.n < h.frame))
		h.n = RTE_MIN(h.frame, HEADERS_OCTETS);
	h.octets = rte_pktmbuf_read(mbuf, 0, h.n, room);
	found = find_datagram(&h, &d);
	if (found != COMPLETION_DONE)
		return found;
	field = d.l4 + (d.protocol == IPPROTO_TCP ? TCP_CHECKSUM_OFFSET : UDP_CHECKSUM_OFFSET);
	pseudo = sum_pseudo_header(&d, h.octets);
	if (offload && d.plain) {
		put_16(mbuf, field, pseudo);
		ask_device(mbuf, &d);
		return COMPLETION_OFFLOADED;
	}
	put_16(mbuf, field, 0);
	put_16(mbuf, field, sum_datagram(mbuf, &d, pseudo));
	return COMPLETION_DONE;
}

void
checksum_complete_burst(struct rte_mbuf **mbufs, uint16_t count, bool offload,
			struct bridge_counters *counters)
{
	uint32_t completed = 0, untouchable = 0;

	for (uint16_t i = 0; i < count; i++) {
		enum completion result = checksum_complete(mbufs[i], offload);

		completed += result == COMPLETION_DONE || result == COMPLETION_OFFLOADED;
		untouchable += result == COMPLETION_IMPOSSIBLE;
	}
	counter_add(&counters->completed, completed);
	counter_add(&counters->untouchable, untouchable);
}
