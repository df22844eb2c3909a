/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer/answer.h"

#include "protocol/checksum.h"

enum {
	ARP_OCTETS = 28,
	ARP_REQUEST = 1,
	ARP_REPLY = 2,
	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	ECHO_HEADER = 8,
	ICMP_ECHO_REPLY = 0,
	ICMP_ECHO = 8,
	ICMPV6_ECHO = 128,
	ICMPV6_ECHO_REPLY = 129,
	ICMPV6_SOLICITATION = 135,
	ICMPV6_ADVERTISEMENT = 136,
	SOLICITATION = 24,  /* [octets] without options */
	ADVERTISEMENT = 32, /* with the target's link-layer address */
	OPTION_SOURCE_LINK = 1,
	OPTION_TARGET_LINK = 2,
	FLAG_SOLICITED = 0x40,
	FLAG_OVERRIDE = 0x20,
	HOP_LIMIT = 64, /* RFC 1700: the recommended default */
	HOP_LIMIT_NEIGHBOR = 255,
};

/* A frame that asks something of us. */
struct request {
	enum answer kind;
	uint32_t at;      /* offset of layer 3 */
	uint32_t message; /* offset of the ICMP or ICMPv6 message */
	const struct host_address *who;
};

static void
store_16(uint8_t *octets, uint32_t value)
{
	octets[0] = (uint8_t)(value >> 8);
	octets[1] = (uint8_t)value;
}

static void
find_arp(const struct answer_table *table, const uint8_t *frame, uint32_t octets,
	 struct request *request)
{
	static const uint8_t start[8] = {0, 1, 8, 0, MAC_OCTETS, IPV4_OCTETS, 0, ARP_REQUEST};
	const uint8_t *arp = frame + request->at, *from = arp + 14, *to = arp + 24;

	if (request->at + ARP_OCTETS > octets || memcmp(arp, start, sizeof(start)) != 0)
		return;
	if (mac_is_group(arp + 8)) /* an answer to a group is for nobody */
		return;
	if (memcmp(from, to, IPV4_OCTETS) == 0) /* announces an address, asks nothing (RFC 5227) */
		return;
	request->kind = ANSWER_ARP;
	request->who = answer_table_find(table, to, false);
}

/* RFC 791: any options but a source route, which would have to be reversed. */
static bool
options_are_plain(const uint8_t *header, uint32_t octets)
{
	for (uint32_t i = IPV4_HEADER; i < octets && header[i] != 0; i++) {
		if (header[i] == 1)
			continue;
		if (header[i] == 131 || header[i] == 137 || i + 1 >= octets || header[i + 1] < 2 ||
		    i + header[i + 1] > octets)
			return false;
		i += header[i + 1] - 1u;
	}
	return true;
}

static void
find_ipv4(const struct answer_table *table, const uint8_t *frame, uint32_t octets,
	  struct request *request)
{
	const uint8_t *ip = frame + request->at;
	uint32_t header;

	if (request->at + IPV4_HEADER > octets || ip[0] >> 4 != 4)
		return;
	header = 4u * (ip[0] & 15);
	if (header < IPV4_HEADER || request->at + header + ECHO_HEADER > octets)
		return;
	if ((load_16(ip + 6) & 0x3fff) != 0 || ip[9] != IP_PROTOCOL_ICMP) /* a fragment */
		return;
	if (ip[header] != ICMP_ECHO || ip[header + 1] != 0 || !options_are_plain(ip, header))
		return;
	if (!ipv4_is_hosts(ip + 12) || memcmp(ip + 12, ip + 16, IPV4_OCTETS) == 0)
		return;
	request->message = request->at + header;
	request->kind = ANSWER_ECHO;
	request->who = answer_table_find(table, ip + 16, false);
}

static void
find_ipv6(const struct answer_table *table, const uint8_t *frame, uint32_t octets,
	  struct request *request)
{
	const uint8_t *ip = frame + request->at, *message = ip + IPV6_HEADER;

	request->message = request->at + IPV6_HEADER;
	if (request->message + ECHO_HEADER > octets || ip[0] >> 4 != 6 ||
	    ip[6] != IP_PROTOCOL_ICMPV6 || message[1] != 0)
		return;
	if (message[0] == ICMPV6_ECHO) {
		if (!ipv6_is_hosts(ip + 8) || memcmp(ip + 8, ip + 24, IPV6_OCTETS) == 0)
			return;
		request->kind = ANSWER_ECHO;
		request->who = answer_table_find(table, ip + 24, true);
	} else if (message[0] == ICMPV6_SOLICITATION && ip[7] == HOP_LIMIT_NEIGHBOR &&
		   request->message + SOLICITATION <= octets) {
		if (!ipv6_is_hosts(ip + 8) && !ipv6_is_unspecified(ip + 8))
			return;
		request->kind = ANSWER_NEIGHBOR;
		request->who = answer_table_find(table, message + 8, true);
	}
}

/* False unless one of our addresses is asked, by an Ethernet address that reaches it. */
static bool
find_request(const struct answer_table *table, const uint8_t *frame, uint32_t octets,
	     struct request *request)
{
	uint16_t type = 0;

	*request = (struct request){.at = layer3_of(frame, octets, &type)};
	if (request->at == 0 || mac_is_group(frame + 6))
		return false;
	if (type == ETHER_TYPE_ARP)
		find_arp(table, frame, octets, request);
	else if (type == ETHER_TYPE_IPV4)
		find_ipv4(table, frame, octets, request);
	else if (type == ETHER_TYPE_IPV6)
		find_ipv6(table, frame, octets, request);
	return request->who != NULL &&
	       (mac_is_group(frame) || memcmp(frame, request->who->mac, MAC_OCTETS) == 0);
}

enum answer
answer_asked(const struct answer_table *table, const uint8_t *frame, uint32_t octets)
{
	struct request request;

	return find_request(table, frame, octets, &request) ? request.kind : ANSWER_NONE;
}

static void
address_frame(uint8_t *frame, const uint8_t *to, const uint8_t *from)
{
	memmove(frame, to, MAC_OCTETS);
	memcpy(frame + MAC_OCTETS, from, MAC_OCTETS);
}

/* The frame ends behind layer 3, or is filled up with zeros. */
static void
end_frame(uint8_t *frame, uint32_t end, uint32_t *octets)
{
	if (end < FRAME_OCTETS_MIN) {
		memset(frame + end, 0, FRAME_OCTETS_MIN - end);
		end = FRAME_OCTETS_MIN;
	}
	*octets = end;
}

/* RFC 826, "Packet Reception": swap the fields, put in our own address, send it to the new target. */
static bool
answer_arp(const struct request *request, uint8_t *frame, uint32_t *octets)
{
	uint8_t *arp = frame + request->at, ours[MAC_OCTETS + IPV4_OCTETS];

	memcpy(ours, request->who->mac, MAC_OCTETS);
	memcpy(ours + MAC_OCTETS, arp + 24, IPV4_OCTETS);
	address_frame(frame, arp + 8, request->who->mac);
	arp[7] = ARP_REPLY;
	memcpy(arp + 18, arp + 8, sizeof(ours));
	memcpy(arp + 8, ours, sizeof(ours));
	end_frame(frame, request->at + ARP_OCTETS, octets);
	return true;
}

static void
swap_addresses(uint8_t *addresses, uint32_t octets)
{
	uint8_t kept[IPV6_OCTETS];

	memcpy(kept, addresses, octets);
	memcpy(addresses, addresses + octets, octets);
	memcpy(addresses + octets, kept, octets);
}

static bool
answer_echo4(const struct request *request, uint8_t *frame, uint32_t *octets)
{
	uint8_t *ip = frame + request->at, *icmp = frame + request->message;
	uint32_t header = request->message - request->at, length = load_16(ip + 2);

	if (length < header + ECHO_HEADER || request->at + length > *octets)
		return false;
	if (checksum_finish(checksum_sum(ip, header)) != 0 ||
	    checksum_finish(checksum_sum(icmp, length - header)) != 0)
		return false;
	address_frame(frame, frame + MAC_OCTETS, request->who->mac);
	swap_addresses(ip + 12, IPV4_OCTETS);
	ip[8] = HOP_LIMIT;
	store_16(ip + 10, 0);
	store_16(ip + 10, checksum_finish(checksum_sum(ip, header)));
	icmp[0] = ICMP_ECHO_REPLY;
	store_16(icmp + 2, 0);
	store_16(icmp + 2, checksum_finish(checksum_sum(icmp, length - header)));
	end_frame(frame, request->at + length, octets);
	return true;
}

/* RFC 8200 section 8.1: over the addresses, the length, the next header and the message. 0 where it is right. */
static uint16_t
checksum_of_icmpv6(const uint8_t *ip, uint32_t length)
{
	return checksum_finish(checksum_sum(ip + 8, 2 * IPV6_OCTETS) + length + IP_PROTOCOL_ICMPV6 +
			       checksum_sum(ip + IPV6_HEADER, length));
}

static bool
answer_echo6(const struct request *request, uint8_t *frame, uint32_t *octets)
{
	uint8_t *ip = frame + request->at, *icmp = frame + request->message;
	uint32_t length = load_16(ip + 4);

	if (length < ECHO_HEADER || request->message + length > *octets ||
	    checksum_of_icmpv6(ip, length) != 0)
		return false;
	address_frame(frame, frame + MAC_OCTETS, request->who->mac);
	swap_addresses(ip + 8, IPV6_OCTETS);
	ip[7] = HOP_LIMIT;
	icmp[0] = ICMPV6_ECHO_REPLY;
	store_16(icmp + 2, 0);
	store_16(icmp + 2, checksum_of_icmpv6(ip, length));
	end_frame(frame, request->message + length, octets);
	return true;
}

/* RFC 4861 section 7.1.1: options have a length. *link is the source's link-layer address, NULL where there is none. */
static bool
read_options(const uint8_t *options, uint32_t octets, const uint8_t **link)
{
	*link = NULL;
	for (uint32_t i = 0; i < octets;) {
		uint32_t length;

		if (i + 2 > octets)
			return false;
		length = 8u * options[i + 1];
		if (length == 0 || i + length > octets)
			return false;
		if (options[i] == OPTION_SOURCE_LINK && length == 8)
			*link = options + i + 2;
		i += length;
	}
	return true;
}

/* RFC 4861 section 7.1.1: who looks for duplicates asks the solicited-node address, and gives no address of its own. */
static bool
is_duplicate_detection(const uint8_t *to, const uint8_t *target, const uint8_t *link)
{
	static const uint8_t solicited_node[13] = {0xff, 2, [11] = 1, 0xff};

	return link == NULL && memcmp(to, solicited_node, sizeof(solicited_node)) == 0 &&
	       memcmp(to + 13, target + 13, 3) == 0;
}

/* RFC 4861 section 7.2.4. `link` NULL: to all nodes. */
static void
write_advertisement(const struct request *request, uint8_t *frame, const uint8_t *link)
{
	static const uint8_t all_nodes[IPV6_OCTETS] = {0xff, 2, [15] = 1};
	static const uint8_t all_nodes_mac[MAC_OCTETS] = {0x33, 0x33, 0, 0, 0, 1};
	uint8_t *ip = frame + request->at, *message = frame + request->message;

	address_frame(frame, link != NULL ? link : all_nodes_mac, request->who->mac);
	store_16(ip, 0x6000);
	store_16(ip + 2, 0);
	store_16(ip + 4, ADVERTISEMENT);
	memcpy(ip + 24, link != NULL ? ip + 8 : all_nodes, IPV6_OCTETS);
	memcpy(ip + 8, request->who->ip, IPV6_OCTETS);
	memset(message, 0, 8);
	message[0] = ICMPV6_ADVERTISEMENT;
	message[4] = link != NULL ? FLAG_SOLICITED | FLAG_OVERRIDE : FLAG_OVERRIDE;
	message[24] = OPTION_TARGET_LINK;
	message[25] = 1;
	memcpy(message + 26, request->who->mac, MAC_OCTETS);
	store_16(message + 2, checksum_of_icmpv6(ip, ADVERTISEMENT));
}

static bool
answer_neighbor(const struct request *request, uint8_t *frame, uint32_t *octets, uint32_t room)
{
	const uint8_t *ip = frame + request->at, *message = frame + request->message, *link;
	uint32_t length = load_16(ip + 4), end = request->message + ADVERTISEMENT;
	uint8_t to[MAC_OCTETS];
	bool unspecified = ipv6_is_unspecified(ip + 8);

	if (length < SOLICITATION || request->message + length > *octets || end > room ||
	    checksum_of_icmpv6(ip, length) != 0 ||
	    !read_options(message + SOLICITATION, length - SOLICITATION, &link))
		return false;
	if (unspecified && !is_duplicate_detection(ip + 24, message + 8, link))
		return false;
	if (link != NULL && mac_is_group(link))
		return false;
	memcpy(to, link != NULL ? link : frame + MAC_OCTETS, MAC_OCTETS);
	write_advertisement(request, frame, unspecified ? NULL : to);
	*octets = end;
	return true;
}

enum answer
answer_make(const struct answer_table *table, uint8_t *frame, uint32_t *octets, uint32_t room)
{
	struct request request;
	bool made;

	if (room < FRAME_OCTETS_MIN || *octets > room ||
	    !find_request(table, frame, *octets, &request))
		return ANSWER_NONE;
	if (request.kind == ANSWER_ARP)
		made = answer_arp(&request, frame, octets);
	else if (request.kind == ANSWER_NEIGHBOR)
		made = answer_neighbor(&request, frame, octets, room);
	else if (request.who->ipv6)
		made = answer_echo6(&request, frame, octets);
	else
		made = answer_echo4(&request, frame, octets);
	return made ? request.kind : ANSWER_NONE;
}
