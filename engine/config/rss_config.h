/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of a device that spreads what it receives over queues; part of config.h. No DPDK and no jansson here.
 * Source: docs/design/0006-descriptor-loop.md, "RSS" and "Steering".
 */
#ifndef WR_CONFIG_RSS_CONFIG_H
#define WR_CONFIG_RSS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config_limits.h"
#include "protocol/host_address.h"

/* What of a packet is hashed: the addresses of any packet of IP, and the ports of UDP or TCP besides. */
enum rss_field {
	RSS_IPV4 = 1 << 0,
	RSS_IPV4_UDP = 1 << 1,
	RSS_IPV4_TCP = 1 << 2,
	RSS_IPV6 = 1 << 3,
	RSS_IPV6_UDP = 1 << 4,
	RSS_IPV6_TCP = 1 << 5,
};
#define RSS_FIELDS 6u

/* The name of field number i (1 << i), "ipv4-udp" say. */
const char *rss_field_name(uint32_t i);

struct rss_config {
	bool asked;          /* false: as a port has it that nobody asks */
	uint32_t fields;     /* of rss_field, 0: the device's */
	uint32_t key_octets; /* 0: the device's key */
	uint32_t n_reta;     /* 0: the device's table */
	uint8_t key[CONFIG_RSS_KEY_OCTETS_MAX];
	uint16_t reta[CONFIG_RETA_MAX]; /* each below the port's Rx queues */
};

/* What rss.hash asks for. */
struct hash_config {
	uint8_t *key;
	uint32_t key_octets; /* at least 4 more than each input */
	struct hash_input {
		uint8_t *octets;
		uint32_t n_octets; /* 8, 12, 32 or 36 */
	} *inputs;
	uint32_t n_inputs; /* 0…CONFIG_HASH_INPUTS_MAX */
};

/* What goes to an address, and to a port of UDP there if there is one, is to be received on a queue. */
struct steer_rule {
	bool ipv6;
	bool has_udp;
	uint32_t udp_dst;        /* 0…65535 */
	uint32_t queue;          /* 0…1023 */
	uint8_t ip[IPV6_OCTETS]; /* in network order; behind an IPv4 address zeros */
};

/* What ports.steer asks for. */
struct steer_config {
	char port[CONFIG_NAME_SIZE]; /* not resolved */
	struct steer_rule *rules;
	uint32_t n_rules; /* 0…CONFIG_RULES_MAX */
};

#endif
