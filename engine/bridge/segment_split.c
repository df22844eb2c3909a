/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/segment_split.h"

#include <rte_memcpy.h>

#include "bridge/tcp_frame.h"

#define FLAGS_OF_LAST (RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG)
#define GOOD (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)

/* Where in a chain of mbufs the payload is read. */
struct payload_reader {
	const struct rte_mbuf *segment;
	uint32_t at;
};

static void
read_payload(struct payload_reader *reader, uint8_t *to, uint32_t octets)
{
	while (octets > 0) {
		uint32_t n = RTE_MIN(octets, reader->segment->data_len - reader->at);

		rte_memcpy(to, rte_pktmbuf_mtod_offset(reader->segment, void *, reader->at), n);
		to += n;
		octets -= n;
		reader->at += n;
		if (reader->at == reader->segment->data_len) {
			reader->segment = reader->segment->next;
			reader->at = 0;
		}
	}
}

/* What differs from the large frame's headers in part `number`. */
static void
write_headers(struct rte_mbuf *part, const struct tcp_frame *frame, uint32_t number,
	      uint32_t segment, uint32_t payload, bool last)
{
	struct rte_tcp_hdr *tcp = tcp_of(part, frame);

	tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + number * segment);
	if (!last)
		tcp->tcp_flags &= (uint8_t)~FLAGS_OF_LAST;
	if (number > 0) /* RFC 3168, 6.1.2: said once */
		tcp->tcp_flags &= (uint8_t)~RTE_TCP_CWR_FLAG;
	if (!frame->ipv6) {
		struct rte_ipv4_hdr *ip = ipv4_of(part, frame);

		ip->packet_id =
			rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(ip->packet_id) + number));
	}
	tcp_frame_set_length(part, frame, payload);
	tcp->cksum = 0;
	tcp->cksum = frame->ipv6 ? rte_ipv6_udptcp_cksum(ipv6_of(part, frame), tcp)
				 : rte_ipv4_udptcp_cksum(ipv4_of(part, frame), tcp);
}

/* Fill parts, which are fresh mbufs; `large` is freed. */
static void
fill_parts(struct rte_mbuf *large, const struct tcp_frame *frame, uint32_t segment,
	   struct rte_mbuf **parts, uint32_t n)
{
	uint32_t headers = tcp_frame_headers(frame), left = frame->payload;
	struct payload_reader reader = {large, headers};

	if (headers == large->data_len)
		reader = (struct payload_reader){large->next, 0};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t payload = RTE_MIN(left, segment);
		struct rte_mbuf *part = parts[i];
		uint8_t *octets = rte_pktmbuf_mtod(part, uint8_t *);

		part->port = large->port;
		part->packet_type = large->packet_type;
		part->ol_flags = GOOD;
		part->data_len = (uint16_t)(headers + payload);
		part->pkt_len = headers + payload;
		rte_memcpy(octets, rte_pktmbuf_mtod(large, void *), headers);
		read_payload(&reader, octets + headers, payload);
		write_headers(part, frame, i, segment, payload, i + 1 == n);
		left -= payload;
	}
	rte_pktmbuf_free(large);
}

/* Octets of payload in each part, 0 when there is no way to cut. */
static uint32_t
segment_of(const struct segment_splitter *splitter, const struct rte_mbuf *mbuf,
	   const struct tcp_frame *frame)
{
	uint32_t headers = (uint32_t)frame->l3 + frame->l4;
	uint32_t most = splitter->mtu > headers ? splitter->mtu - headers : 0;
	uint32_t asked = mbuf->tso_segsz;

	return asked > 0 ? RTE_MIN(most, asked) : most;
}

/* What is to become of a large frame. */
struct cut {
	struct tcp_frame frame;
	uint32_t segment; /* octets of payload in each part */
	uint32_t parts;   /* 0: it cannot be cut */
};

static struct cut
plan_cut(const struct segment_splitter *splitter, const struct rte_mbuf *large)
{
	struct cut cut = {.parts = 0};

	if (!tcp_frame_read(large, &cut.frame))
		return cut;
	cut.segment = segment_of(splitter, large, &cut.frame);
	if (cut.segment > 0)
		cut.parts = (cut.frame.payload + cut.segment - 1) / cut.segment;
	if (cut.parts > SPLIT_PARTS_MAX)
		cut.parts = 0;
	return cut;
}

/* Returns how many frames are at `out` now; 0: there is none, and the large frame is as it was. */
static uint32_t
carry_out(const struct cut *cut, bool tso, struct rte_mbuf *large, struct rte_mbuf **out)
{
	if (cut->parts == 0)
		return 0;
	if (tso) {
		tcp_frame_ask_tso(large, &cut->frame, (uint16_t)cut->segment);
		out[0] = large;
		return 1;
	}
	if (rte_pktmbuf_alloc_bulk(large->pool, out, cut->parts) != 0)
		return 0;
	if (rte_pktmbuf_tailroom(out[0]) < tcp_frame_headers(&cut->frame) + cut->segment) {
		rte_pktmbuf_free_bulk(out, cut->parts);
		return 0;
	}
	fill_parts(large, &cut->frame, cut->segment, out, cut->parts);
	return cut->parts;
}

static bool
is_too_long(const struct segment_splitter *splitter, const struct rte_mbuf *mbuf)
{
	uint32_t octets = rte_pktmbuf_pkt_len(mbuf);
	uint16_t type;

	if ((mbuf->ol_flags & RTE_MBUF_F_RX_LRO) == 0 || octets <= splitter->mtu)
		return false;
	/* VLAN tags do not count. */
	return octets - layer3_of(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len, &type) >
	       splitter->mtu;
}

/* Cut a frame, or pass it as it is. Returns how many frames are at `out` now; 0: there is no room for all of them. */
static uint32_t
split_one(const struct segment_splitter *splitter, struct rte_mbuf *large, struct rte_mbuf **out,
	  uint32_t room, struct bridge_counters *counters)
{
	const struct cut cut = plan_cut(splitter, large);
	uint32_t made;

	if ((splitter->tso ? 1 : cut.parts) > room)
		return 0;
	made = carry_out(&cut, splitter->tso, large, out);
	if (made == 0) {
		counter_add(&counters->untouchable, 1);
		out[0] = large;
		return 1;
	}
	counter_add(&counters->split, 1);
	counter_add(&counters->parts, cut.parts);
	return made;
}

uint16_t
segment_split(const struct segment_splitter *splitter, struct rte_mbuf **in, uint16_t count,
	      uint16_t *taken, struct rte_mbuf **out, uint16_t room,
	      struct bridge_counters *counters)
{
	uint32_t used = 0;
	uint16_t i;

	for (i = 0; i < count && used < room; i++) {
		uint32_t made = 1;

		if (unlikely(is_too_long(splitter, in[i])))
			made = split_one(splitter, in[i], out + used, room - used, counters);
		else
			out[used] = in[i];
		if (made == 0)
			break;
		used += made;
	}
	*taken = i;
	return (uint16_t)used;
}
