/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stamp: the last 16 octets of each frame of a measured stream. docs/design/0005-measurement.md.
 *
 * Big-endian: compensator 2, magic 2, id 2, sequence 4, departure 6 octets. The compensator makes the eight words
 * add up to 0 modulo 65,535, as the zeros do in whose place they stand, so that no checksum over them changes.
 */
#ifndef WR_PROTOCOL_STAMP_H
#define WR_PROTOCOL_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STAMP_OCTETS 16u
#define STAMP_TIME_BITS 48
#define STAMP_TIME_MASK ((UINT64_C(1) << STAMP_TIME_BITS) - 1)
#define STAMP_MAGIC_DEFAULT 22354u /* "WR" */

struct stamp {
	uint16_t magic;
	uint16_t id;
	uint32_t sequence;
	uint64_t departure; /* low 48 bits of a clock */
};

/* The 16-bit ones' complement sum of two big-endian 64-bit halves, folded: 0 or 65,535 where they add up to nothing. */
static inline uint32_t
stamp_sum(uint64_t first, uint64_t second)
{
	uint64_t sum =
		(first >> 32) + (first & UINT32_MAX) + (second >> 32) + (second & UINT32_MAX);

	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)((sum & 0xffff) + (sum >> 16));
}

/* The halves of a stamp as numbers: first with the compensator, second. */
static inline void
stamp_pack(const struct stamp *stamp, uint64_t *first, uint64_t *second)
{
	*first = (uint64_t)stamp->magic << 32 | (uint64_t)stamp->id << 16 | stamp->sequence >> 16;
	*second = (uint64_t)(stamp->sequence & 0xffff) << 48 | (stamp->departure & STAMP_TIME_MASK);
	*first |= (uint64_t)(~stamp_sum(*first, *second) & 0xffff) << 48;
}

static inline uint64_t
stamp_load_half(const uint8_t *octets)
{
	uint64_t half;

	memcpy(&half, octets, sizeof(half));
	return __builtin_bswap64(half);
}

static inline void
stamp_store_half(uint8_t *octets, uint64_t half)
{
	half = __builtin_bswap64(half);
	memcpy(octets, &half, sizeof(half));
}

/* Do the eight words of the halves, in whichever octet order, add up to 0 modulo 65,535, and to something at all? */
static inline bool
stamp_adds_up(uint64_t first, uint64_t second)
{
	uint64_t sum = first + second;

	sum += sum < first; /* 2^64 is 1 modulo 65,535, as 2^16 is */
	return sum % 65535 == 0 && sum != 0;
}

/* True when the 16 octets are a stamp with this magic; *stamp is what it says. */
static inline bool
stamp_read(const uint8_t *octets, uint16_t magic, struct stamp *stamp)
{
	uint64_t first = stamp_load_half(octets), second = stamp_load_half(octets + 8);

	stamp->magic = (uint16_t)(first >> 32);
	stamp->id = (uint16_t)(first >> 16);
	stamp->sequence = (uint32_t)((first & 0xffff) << 16 | second >> 48);
	stamp->departure = second & STAMP_TIME_MASK;
	return stamp->magic == magic && stamp_adds_up(first, second);
}

#endif
