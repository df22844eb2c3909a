/* SPDX-License-Identifier: BSD-3-Clause */
/* An address of layer 3 and the Ethernet address that belongs to it. Pure. */
#ifndef WR_PROTOCOL_HOST_ADDRESS_H
#define WR_PROTOCOL_HOST_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAC_OCTETS 6u
#define IPV4_OCTETS 4u
#define IPV6_OCTETS 16u

struct host_address {
	uint8_t mac[MAC_OCTETS];
	bool ipv6;               /* else IPv4 */
	uint8_t ip[IPV6_OCTETS]; /* in network order; behind an IPv4 address zeros */
};

/* Multicast or broadcast (IEEE 802.3 section 3.2.3). */
static inline bool
mac_is_group(const uint8_t *mac)
{
	return (mac[0] & 1) != 0;
}

/* An IPv4 address that a host may have (RFC 1122 section 3.2.1.3): not 0/8, 127/8, nor from 224 on. */
static inline bool
ipv4_is_hosts(const uint8_t *ip)
{
	return ip[0] != 0 && ip[0] != 127 && ip[0] < 224;
}

static inline bool
ipv6_is_unspecified(const uint8_t *ip)
{
	static const uint8_t zeros[IPV6_OCTETS];

	return memcmp(ip, zeros, IPV6_OCTETS) == 0;
}

/* An IPv6 address that a host may have (RFC 4291 section 2.4): neither ::, ::1 nor multicast. */
static inline bool
ipv6_is_hosts(const uint8_t *ip)
{
	static const uint8_t loopback[IPV6_OCTETS] = {[IPV6_OCTETS - 1] = 1};

	return ip[0] != 0xff && !ipv6_is_unspecified(ip) && memcmp(ip, loopback, IPV6_OCTETS) != 0;
}

#endif
