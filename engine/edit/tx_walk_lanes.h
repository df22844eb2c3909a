/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. The loops of a walk that become vector code: values, sums and checksums of 64 frames at a time. Of tx_walk.c only.
 *
 * For fields of 4 octets and less, which is nearly all, 32 bits do: they are twice as many to a vector.
 */
#ifndef WR_EDIT_TX_WALK_LANES_H
#define WR_EDIT_TX_WALK_LANES_H

#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "edit/vectorized.h"

#define CHUNK 64u

/*
 * What addresses and ports do: a window of 4 or 2 octets that is all value, steps, wraps at frame `wrap` at most, and is
 * covered by one or two checksums, as low halves of words. All of arrange_narrow() in half the operations.
 */
struct stepping {
	uint32_t first;
	uint32_t step;
	uint32_t back; /* from frame `wrap` on */
	uint32_t wrap;
	uint32_t unused_bits; /* of 32 */
};

static __rte_always_inline void
step_whole(uint32_t *restrict stored, uint32_t *restrict sums_a, uint32_t *restrict sums_b,
	   const struct stepping *stepping)
{
	const struct stepping steps = *stepping;
	uint32_t mask = UINT32_MAX >> steps.unused_bits;

	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t value =
			(steps.first + j * steps.step - (j >= steps.wrap ? steps.back : 0)) & mask;
		uint32_t part = (value & 0xffff) + (value >> 16);

		sums_a[j] += part;
		if (sums_b != NULL)
			sums_b[j] += part;
		stored[j] = __builtin_bswap32(value << steps.unused_bits);
	}
}

VECTORIZED static void
step_into_one(uint32_t *restrict stored, uint32_t *restrict sums, const struct stepping *stepping)
{
	step_whole(stored, sums, NULL, stepping);
}

VECTORIZED static void
step_into_two(uint32_t *restrict stored, uint32_t *restrict sums_a, uint32_t *restrict sums_b,
	      const struct stepping *stepping)
{
	step_whole(stored, sums_a, sums_b, stepping);
}

VECTORIZED static void
fill(uint32_t *restrict sums, uint32_t value)
{
	for (uint32_t j = 0; j < CHUNK; j++)
		sums[j] = value;
}

/* first, first + step…, which falls back once, at frame `wrap`. */
VECTORIZED static void
step_narrow(uint32_t *restrict values, const struct stepping *stepping)
{
	const struct stepping steps = *stepping;

	for (uint32_t j = 0; j < CHUNK; j++)
		values[j] = steps.first + j * steps.step - (j >= steps.wrap ? steps.back : 0);
}

/*
 * Put values where they stand in the window; what they add to a sum, in 16 bits (2^16 is 1 modulo 65,535), so that 128
 * fields do not overflow; and what is stored.
 */
VECTORIZED static void
arrange_narrow(uint32_t *restrict values, uint32_t *restrict parts, uint32_t *restrict stored,
	       uint32_t mask, uint32_t shift, uint32_t other_bits, uint32_t unused_bits)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t value = (values[j] & mask) << shift;
		uint32_t part = (value & 0xffff) + (value >> 16);

		values[j] = value;
		parts[j] = (part & 0xffff) + (part >> 16);
		stored[j] = __builtin_bswap32((value | other_bits) << unused_bits);
	}
}

VECTORIZED static void
arrange_wide(uint64_t *restrict values, uint32_t *restrict parts, uint64_t mask, uint32_t shift)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint64_t value = (values[j] & mask) << shift;

		values[j] = value;
		parts[j] = (uint32_t)((value & 0xffff) + ((value >> 16) & 0xffff) +
				      ((value >> 32) & 0xffff) + (value >> 48));
	}
}

/* A window that ends in the high half of a word counts an octet up; cut to 16 bits first, so that sums do not overflow. */
VECTORIZED static void
add_parts(uint32_t *restrict sums, const uint32_t *restrict parts, uint32_t up)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t part = (parts[j] & 0xffff) + (parts[j] >> 16);

		part = (part & 0xffff) + (part >> 16);
		sums[j] += part << up;
	}
}

/* From sums to checksums, and in network order. */
VECTORIZED static void
finish(uint32_t *restrict sums, uint32_t *restrict stored, uint32_t for_zero)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t sum = (sums[j] & 0xffff) + (sums[j] >> 16);

		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~sum & 0xffff;
		sum = sum == 0 ? for_zero : sum;
		sums[j] = sum;
		stored[j] = __builtin_bswap32(sum << 16);
	}
}

#endif
