/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/segment_merge.h"

#include <string.h>

#include "bridge/tcp_frame.h"

#define FLOWS_MAX 8u /* that are open at a time; the oldest makes place */
#define MERGEABLE_FLAGS (RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG)
#define LAST_FLAGS (RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG)

/* Frames that are being merged into the first of them. */
struct merging {
	struct rte_mbuf *first; /* NULL: closed */
	struct rte_mbuf *last;  /* of its chain */
	struct tcp_frame frame; /* the first one's, payload of all */
	uint32_t next_sequence;
	uint16_t next_id;
	uint16_t segment; /* the first one's payload [octets] */
	uint16_t segments;
	uint8_t flags; /* of all */
};

struct flows {
	struct merging open[FLOWS_MAX];
	uint32_t next; /* takes the next new one */
};

static bool
ip_is_good(const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	if (frame->ipv6)
		return true;
	if (frame->l3 != sizeof(struct rte_ipv4_hdr))
		return false;
	if ((mbuf->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD)
		return true;
	return rte_raw_cksum(ipv4_of(mbuf, frame), frame->l3) == 0xffff;
}

static bool
tcp_is_good(const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	const struct rte_tcp_hdr *tcp = tcp_of(mbuf, frame);

	if ((mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD)
		return true;
	/* Over a segment with its checksum in place, the sum is all ones. */
	return (frame->ipv6 ? rte_ipv6_udptcp_cksum(ipv6_of(mbuf, frame), tcp)
			    : rte_ipv4_udptcp_cksum(ipv4_of(mbuf, frame), tcp)) == 0;
}

/* May it be a part of anything? */
static bool
is_mergeable(const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	uint8_t flags = tcp_of(mbuf, frame)->tcp_flags;

	return frame->payload > 0 && mbuf->nb_segs == 1 && (flags & RTE_TCP_ACK_FLAG) != 0 &&
	       (flags & ~MERGEABLE_FLAGS) == 0 && (mbuf->ol_flags & RTE_MBUF_F_RX_LRO) == 0 &&
	       ip_is_good(mbuf, frame) && tcp_is_good(mbuf, frame);
}

static bool
same_addresses(const struct rte_mbuf *a, const struct rte_mbuf *b, const struct tcp_frame *frame)
{
	const struct rte_ipv4_hdr *ip = ipv4_of(a, frame), *other = ipv4_of(b, frame);
	const struct rte_ipv6_hdr *ip6 = ipv6_of(a, frame), *other6 = ipv6_of(b, frame);

	if (frame->ipv6) /* an address is an array of octets, since DPDK 24.11 in a structure */
		return memcmp(&ip6->src_addr, &other6->src_addr, sizeof(ip6->src_addr)) == 0 &&
		       memcmp(&ip6->dst_addr, &other6->dst_addr, sizeof(ip6->dst_addr)) == 0;
	return ip->src_addr == other->src_addr && ip->dst_addr == other->dst_addr;
}

/* Of one flow, whatever else differs: such frames must not overtake each other. */
static bool
is_of_flow(const struct merging *flow, const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	const struct rte_tcp_hdr *tcp, *other;

	if (flow->first == NULL || flow->frame.l2 != frame->l2 || flow->frame.l3 != frame->l3 ||
	    flow->frame.ipv6 != frame->ipv6)
		return false;
	tcp = tcp_of(flow->first, frame);
	other = tcp_of(mbuf, frame);
	return tcp->src_port == other->src_port && tcp->dst_port == other->dst_port &&
	       same_addresses(flow->first, mbuf, frame);
}

static bool
same_ip(const struct merging *flow, const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	const struct rte_ipv4_hdr *a = ipv4_of(flow->first, frame), *b = ipv4_of(mbuf, frame);

	if (frame->ipv6)
		return ipv6_of(flow->first, frame)->vtc_flow == ipv6_of(mbuf, frame)->vtc_flow &&
		       ipv6_of(flow->first, frame)->hop_limits == ipv6_of(mbuf, frame)->hop_limits;
	return a->type_of_service == b->type_of_service && a->time_to_live == b->time_to_live &&
	       a->fragment_offset == b->fragment_offset &&
	       rte_be_to_cpu_16(b->packet_id) == flow->next_id;
}

static bool
same_tcp(const struct merging *flow, const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	const struct rte_tcp_hdr *a = tcp_of(flow->first, frame), *b = tcp_of(mbuf, frame);

	return flow->frame.l4 == frame->l4 && a->recv_ack == b->recv_ack &&
	       a->rx_win == b->rx_win && memcmp(a + 1, b + 1, frame->l4 - sizeof(*a)) == 0;
}

static bool
continues(const struct merging *flow, const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	return (flow->flags & LAST_FLAGS) == 0 && frame->payload <= flow->segment &&
	       flow->frame.payload % flow->segment == 0 &&
	       (uint32_t)frame->l3 + frame->l4 + flow->frame.payload + frame->payload <=
		       IP_OCTETS_MAX &&
	       rte_be_to_cpu_32(tcp_of(mbuf, frame)->sent_seq) == flow->next_sequence &&
	       same_ip(flow, mbuf, frame) && same_tcp(flow, mbuf, frame) &&
	       memcmp(rte_pktmbuf_mtod(flow->first, void *), rte_pktmbuf_mtod(mbuf, void *),
		      frame->l2) == 0;
}

/* What a following segment should have. */
static void
expect(struct merging *flow, const struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	const struct rte_tcp_hdr *tcp = tcp_of(mbuf, frame);

	flow->next_sequence = rte_be_to_cpu_32(tcp->sent_seq) + frame->payload;
	flow->flags |= tcp->tcp_flags;
	flow->segments++;
	if (!frame->ipv6)
		flow->next_id = (uint16_t)(rte_be_to_cpu_16(ipv4_of(mbuf, frame)->packet_id) + 1u);
}

/* What pads a short frame is none of the payload. */
static void
trim(struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	mbuf->data_len = (uint16_t)(tcp_frame_headers(frame) + frame->payload);
	mbuf->pkt_len = mbuf->data_len;
}

static void
append(struct merging *flow, struct rte_mbuf *mbuf, const struct tcp_frame *frame)
{
	expect(flow, mbuf, frame);
	trim(mbuf, frame);
	rte_pktmbuf_adj(mbuf, (uint16_t)tcp_frame_headers(frame));
	if (flow->segments == 2)
		trim(flow->first, &flow->frame);
	flow->last->next = mbuf;
	flow->last = mbuf;
	flow->first->nb_segs++;
	flow->first->pkt_len += frame->payload;
	flow->frame.payload += frame->payload;
}

/* Make the headers of the large frame right. */
static void
close_flow(struct merging *flow, struct bridge_counters *counters)
{
	if (flow->first != NULL && flow->segments > 1) {
		tcp_of(flow->first, &flow->frame)->tcp_flags = flow->flags;
		tcp_frame_set_length(flow->first, &flow->frame, flow->frame.payload);
		tcp_frame_ask_tso(flow->first, &flow->frame, flow->segment);
		counter_add(&counters->merged, flow->segments);
	}
	flow->first = NULL;
}

static void
begin(struct flows *flows, struct rte_mbuf *mbuf, const struct tcp_frame *frame,
      struct bridge_counters *counters)
{
	struct merging *flow = &flows->open[flows->next++ % FLOWS_MAX];

	close_flow(flow, counters);
	*flow = (struct merging){
		.first = mbuf, .last = mbuf, .frame = *frame, .segment = (uint16_t)frame->payload};
	expect(flow, mbuf, frame);
}

/* True: the frame went into an earlier one. */
static bool
merge(struct flows *flows, struct rte_mbuf *mbuf, struct bridge_counters *counters)
{
	struct merging *flow = NULL;
	struct tcp_frame frame;
	bool mergeable;

	if (!tcp_frame_read(mbuf, &frame))
		return false;
	for (uint32_t i = 0; i < FLOWS_MAX && flow == NULL; i++)
		if (is_of_flow(&flows->open[i], mbuf, &frame))
			flow = &flows->open[i];
	mergeable = is_mergeable(mbuf, &frame);
	if (mergeable && flow != NULL && continues(flow, mbuf, &frame)) {
		append(flow, mbuf, &frame);
		return true;
	}
	if (flow != NULL)
		close_flow(flow, counters);
	if (mergeable)
		begin(flows, mbuf, &frame, counters);
	return false;
}

uint16_t
segment_merge(struct rte_mbuf **mbufs, uint16_t count, struct bridge_counters *counters)
{
	struct flows flows = {.next = 0};
	uint16_t left = 0;

	for (uint16_t i = 0; i < count; i++)
		if (!merge(&flows, mbufs[i], counters))
			mbufs[left++] = mbufs[i];
	for (uint32_t i = 0; i < FLOWS_MAX; i++)
		close_flow(&flows.open[i], counters);
	return left;
}
