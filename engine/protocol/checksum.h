/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071): 16-bit one's complement sum, added up in 64 bits and folded at the end.
 * Pure functions on octets in memory; no alignment needed.
 */
#ifndef WR_PROTOCOL_CHECKSUM_H
#define WR_PROTOCOL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Sum of the big-endian 16-bit words of octets[0…length) not yet folded; an odd last octet counts as its high half. */
static inline uint64_t
checksum_sum(const uint8_t *octets, size_t length)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i + 1 < length; i += 2)
		sum += (uint32_t)octets[i] << 8 | octets[i + 1];
	if (i < length)
		sum += (uint32_t)octets[i] << 8;
	return sum;
}

/* The checksum of a sum: folded to 16 bits with end-around carry and complemented. */
static inline uint16_t
checksum_finish(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

#endif
