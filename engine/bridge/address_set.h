/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. At most 64 IP addresses, and whether another one is among them: a hash says which of them it may be, a bit each,
 * nearly always one or none. Pure.
 */
#ifndef WR_BRIDGE_ADDRESS_SET_H
#define WR_BRIDGE_ADDRESS_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"
#include "protocol/host_address.h"

#define ADDRESS_SET_MAX 64u
#define ADDRESS_SET_BUCKETS 128u

/* 16 octets; behind an IPv4 address zeros. */
struct address_key {
	uint64_t halves[2];
};

/* All zeros: no address is in it. */
struct address_set {
	uint64_t candidates[ADDRESS_SET_BUCKETS]; /* by hash: bit i for keys[i] */
	uint64_t ipv6;                            /* bit i: keys[i] is an IPv6 address */
	struct address_key keys[ADDRESS_SET_MAX];
	uint32_t count;
};

/* ip has 16 octets, or 4. */
static inline struct address_key
address_key_of(const uint8_t *ip, bool ipv6)
{
	struct address_key key = {{0, 0}};

	memcpy(key.halves, ip, ipv6 ? IPV6_OCTETS : IPV4_OCTETS);
	return key;
}

static inline uint32_t
address_bucket_of(const struct address_key *key)
{
	return (uint32_t)(splitmix64(key->halves[0], key->halves[1]) % ADDRESS_SET_BUCKETS);
}

/* The set has room for it: fewer than ADDRESS_SET_MAX are in it. */
static inline void
address_set_add(struct address_set *set, const uint8_t *ip, bool ipv6)
{
	const struct address_key key = address_key_of(ip, ipv6);
	uint64_t bit = UINT64_C(1) << set->count;

	set->keys[set->count++] = key;
	set->candidates[address_bucket_of(&key)] |= bit;
	if (ipv6)
		set->ipv6 |= bit;
}

static inline bool
address_set_has(const struct address_set *set, const uint8_t *ip, bool ipv6)
{
	const struct address_key key = address_key_of(ip, ipv6);
	uint64_t left = set->candidates[address_bucket_of(&key)] & (ipv6 ? set->ipv6 : ~set->ipv6);

	for (; left != 0; left &= left - 1) {
		const struct address_key *other = &set->keys[__builtin_ctzll(left)];

		if (((other->halves[0] ^ key.halves[0]) | (other->halves[1] ^ key.halves[1])) == 0)
			return true;
	}
	return false;
}

#endif
