/* SPDX-License-Identifier: BSD-3-Clause */
/* What is behind the wire of a device with source=N: a sender of numbered frames that looks at what is sent back. */
#include <string.h>

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "tests/strict/strict.h"

/* DPDK's names for these have changed between releases. RFC 792. */
#define ICMP_ECHO_REPLY 0
#define ICMP_ECHO_REQUEST 8
#define NUMBER_AT 42u /* behind Ethernet, IPv4 and UDP, or ICMP's echo: 14 + 20 + 8 */
#define PING_EVERY 4u
#define PORT_MAC "\x02\x57\x52\x00\x00\x00" /* what wirerate calls its port 0 */

static void
write_ip(struct rte_ipv4_hdr *ip, uint8_t protocol, uint32_t octets, uint32_t from, uint32_t to)
{
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(octets - RTE_ETHER_HDR_LEN)),
		.time_to_live = 64,
		.next_proto_id = protocol,
		.src_addr = rte_cpu_to_be_32(from),
		.dst_addr = rte_cpu_to_be_32(to),
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

struct strict_frame
strict_source_make(struct strict_device *device)
{
	struct strict_source *source = &device->source;
	uint8_t *octets = source->octets_of_frame;
	struct rte_ether_hdr *ether = (void *)octets;
	struct rte_ipv4_hdr *ip = (void *)(ether + 1);
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	struct rte_icmp_hdr *icmp = (void *)(ip + 1);
	uint16_t behind_ip = (uint16_t)(source->octets - RTE_ETHER_HDR_LEN - sizeof(*ip));
	bool ping = source->ping != 0 && source->made % PING_EVERY == 0;

	memcpy(&ether->dst_addr, PORT_MAC, RTE_ETHER_ADDR_LEN);
	memcpy(&ether->src_addr, "\x02\x00\x00\x00\x00\x99", RTE_ETHER_ADDR_LEN);
	ether->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	memcpy(octets + NUMBER_AT, &source->made, sizeof(source->made));
	if (ping) {
		write_ip(ip, IPPROTO_ICMP, source->octets, source->ping ^ 0xff, source->ping);
		*icmp = (struct rte_icmp_hdr){.icmp_type = ICMP_ECHO_REQUEST,
					      .icmp_ident = 1,
					      .icmp_seq_nb = (uint16_t)source->made};
		icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, behind_ip);
	} else {
		write_ip(ip, IPPROTO_UDP, source->octets, RTE_IPV4(10, 9, 0, source->made % 250),
			 RTE_IPV4(10, 9, 1, 1));
		*udp = (struct rte_udp_hdr){rte_cpu_to_be_16(1024), rte_cpu_to_be_16(9),
					    rte_cpu_to_be_16(behind_ip), 0};
	}
	return (struct strict_frame){octets, source->octets};
}

void
strict_source_take(struct strict_source *source, const struct rte_mbuf *mbuf)
{
	const uint8_t *octets = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const void *)(octets + RTE_ETHER_HDR_LEN);
	uint64_t number;

	if (mbuf->data_len < NUMBER_AT + sizeof(number) || octets[12] != 8 || octets[13] != 0)
		return;
	memcpy(&number, octets + NUMBER_AT, sizeof(number));
	if (ip->next_proto_id == IPPROTO_ICMP) {
		const struct rte_icmp_hdr *icmp = (const void *)(ip + 1);

		source->replies += icmp->icmp_type == ICMP_ECHO_REPLY &&
				   rte_raw_cksum(icmp, rte_be_to_cpu_16(ip->total_length) -
							       sizeof(*ip)) == 0xffff;
		return;
	}
	source->plain++;
	source->disordered += number < source->next;
	source->next = number + 1;
}
