/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Values and sums are computed for 64 frames at a time in loops that the compiler turns into vector code (one
 * version for each level of x86-64, chosen at load), then stored frame by frame.
 */
#include "worker/tx_walk.h"

#include <string.h>

#include <rte_byteorder.h>

#include "worker/vectorized.h"
#include "worker/worker.h"

#define CHUNK 64u

/*
 * For fields of 4 octets and less, which is nearly all, 32 bits do: they are twice as many to a vector. The last row of
 * sums is nobody's: what is covered by fewer than two checksums adds to it.
 */
struct chunk {
	uint64_t wide[CHUNK];   /* values as they stand in the window */
	uint32_t values[CHUNK]; /* likewise, of narrow fields */
	uint32_t stored[CHUNK]; /* in network order, from the lowest octet on */
	uint32_t parts[CHUNK];  /* of sums, 18 bits */
	uint32_t sums[WALK_CHECKSUMS_MAX + 1][CHUNK];
};

/* index modulo count, by the inverse: a division costs 40 cycles. */
static inline uint64_t
place_of(const struct walk_field *field, uint64_t index)
{
	uint64_t quotient = (uint64_t)(((unsigned __int128)index * field->count_inverse) >> 64);
	uint64_t k = index - quotient * field->count;

	while (k >= field->count)
		k -= field->count;
	return k;
}

static inline uint64_t
next_place(const struct walk_field *field, uint64_t k)
{
	k += field->jump;
	return k >= field->count ? k - field->count : k;
}

/* As field_value() of program/field_value.h. */
static inline uint64_t
random_value(const struct walk_field *field, uint64_t k)
{
	uint64_t z = field->seed + (k + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	if (field->range == 0)
		return z;
	return field->first + (uint64_t)(((unsigned __int128)z * field->range) >> 64);
}

static inline uint64_t
value_of(const struct walk_field *field, uint64_t k)
{
	switch (field->kind) {
	case WALK_STEPS:
		return field->first + field->step * k;
	case WALK_VALUES:
		return field->values[k];
	default:
		return random_value(field, k);
	}
}

/* first, first + step…, which falls back once, at frame `wrap`. */
VECTORIZED static void
step_narrow(uint32_t *restrict values, uint32_t first, uint32_t step, uint32_t back, uint32_t wrap)
{
	for (uint32_t j = 0; j < CHUNK; j++)
		values[j] = first + j * step - (j >= wrap ? back : 0);
}

/* Most fields step, and wrap less than once in a chunk. */
static bool
steps_once(const struct walk_field *field, uint64_t stride)
{
	return field->kind == WALK_STEPS && stride * CHUNK <= field->count;
}

static void
make_narrow(const struct walk_field *field, struct chunk *chunk, uint64_t k, uint64_t stride,
	    uint32_t n)
{
	if (steps_once(field, stride)) {
		uint64_t left = field->count - k; /* wraps where j * stride reaches it */
		uint32_t wrap =
			left >= CHUNK * stride
				? CHUNK
				: (uint32_t)((uint32_t)(left + stride - 1) / (uint32_t)stride);

		step_narrow(chunk->values, (uint32_t)(field->first + field->step * k),
			    (uint32_t)(field->step * stride),
			    (uint32_t)(field->step * field->count), wrap);
		return;
	}
	for (uint32_t j = 0; j < n; j++) {
		chunk->values[j] = (uint32_t)value_of(field, k);
		k = next_place(field, k);
	}
}

/* A checksum that covers a field: its sums, and 8 where the window ends in a word's high half, so that it counts an octet up. */
struct covering {
	uint32_t *sums;
	uint32_t up;
};

/*
 * Put values where they stand in the window, add them to the sums of two checksums (2^16 is 1 modulo 65,535; cut to 16
 * bits, so that 128 fields do not overflow), and make ready what is stored.
 */
VECTORIZED static void
arrange_narrow(struct chunk *restrict chunk, const struct walk_field *field,
	       uint32_t *restrict sums_a, uint32_t up_a, uint32_t *restrict sums_b, uint32_t up_b)
{
	uint32_t mask = (uint32_t)field->mask, fill = (uint32_t)field->fill, shift = field->shift;
	uint32_t unused_bits = 32u - 8u * field->octets;

	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t value = (chunk->values[j] & mask) << shift;
		uint32_t part = (value & 0xffff) + (value >> 16);

		part = (part & 0xffff) + (part >> 16);
		sums_a[j] += part << up_a;
		sums_b[j] += part << up_b;
		chunk->values[j] = value;
		chunk->parts[j] = part;
		chunk->stored[j] = __builtin_bswap32((value | fill) << unused_bits);
	}
}

VECTORIZED static void
arrange_wide(struct chunk *restrict chunk, uint64_t mask, uint32_t shift)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint64_t value = (chunk->wide[j] & mask) << shift;

		chunk->wide[j] = value;
		chunk->parts[j] = (uint32_t)((value & 0xffff) + ((value >> 16) & 0xffff) +
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
finish(uint32_t *restrict sums, uint16_t *restrict stored, uint32_t for_zero)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t sum = (sums[j] & 0xffff) + (sums[j] >> 16);

		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~sum & 0xffff;
		sum = sum == 0 ? for_zero : sum;
		sums[j] = sum;
		stored[j] = (uint16_t)(sum << 8 | sum >> 8);
	}
}

/* Frames of 4 and 2 octets first: a store per frame and field is what a walk costs at least. */
static void
store_narrow(const struct walk_field *field, const struct chunk *chunk,
	     struct rte_mbuf *const *mbufs, uint32_t n)
{
	uint32_t offset = field->offset, octets = field->octets;

	if (octets == 4) {
		for (uint32_t j = 0; j < n; j++)
			memcpy(ready_frame_data(mbufs[j]) + offset, &chunk->stored[j], 4);
	} else if (octets == 2) {
		for (uint32_t j = 0; j < n; j++)
			memcpy(ready_frame_data(mbufs[j]) + offset, &chunk->stored[j], 2);
	} else {
		for (uint32_t j = 0; j < n; j++)
			memcpy(ready_frame_data(mbufs[j]) + offset, &chunk->stored[j], octets);
	}
}

static void
store_bits(uint8_t *window, uint64_t value, uint64_t mask, uint32_t octets)
{
	for (uint32_t i = octets; i > 0; i--) {
		window[i - 1] = (uint8_t)((window[i - 1] & ~mask) | value);
		value >>= 8;
		mask >>= 8;
	}
}

static void
store_shared(const struct walk_field *field, const struct chunk *chunk,
	     struct rte_mbuf *const *mbufs, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		store_bits(ready_frame_data(mbufs[j]) + field->offset, chunk->values[j],
			   field->mask << field->shift, field->octets);
}

/* The next checksum from number *c on that covers the field; the sums that are nobody's when there is none. */
static struct covering
next_covering(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	      uint32_t *c)
{
	while (*c < walk->n_checksums && ((field->even | field->odd) & (1u << *c)) == 0)
		(*c)++;
	if (*c == walk->n_checksums)
		return (struct covering){chunk->sums[WALK_CHECKSUMS_MAX], 0};
	return (struct covering){chunk->sums[*c], field->odd & (1u << (*c)++) ? 8 : 0};
}

static void
write_narrow(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	     struct rte_mbuf *const *mbufs, uint64_t index, uint32_t n)
{
	uint32_t c = 0, spare[CHUNK] = {0};
	struct covering a = next_covering(walk, field, chunk, &c);
	struct covering b = next_covering(walk, field, chunk, &c);

	make_narrow(field, chunk, place_of(field, index), walk->stride, n);
	arrange_narrow(chunk, field, a.sums, a.up, a.sums == b.sums ? spare : b.sums, b.up);
	if (field->shared)
		store_shared(field, chunk, mbufs, n);
	else
		store_narrow(field, chunk, mbufs, n);
	while (c < walk->n_checksums) {
		struct covering more = next_covering(walk, field, chunk, &c);

		add_parts(more.sums, chunk->parts, more.up);
	}
}

static void
write_wide(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	   struct rte_mbuf *const *mbufs, uint64_t index, uint32_t n)
{
	uint64_t k = place_of(field, index);

	for (uint32_t j = 0; j < n; j++) {
		chunk->wide[j] = value_of(field, k);
		k = next_place(field, k);
	}
	arrange_wide(chunk, field->mask, field->shift);
	for (uint32_t j = 0; j < n; j++)
		store_bits(ready_frame_data(mbufs[j]) + field->offset, chunk->wide[j],
			   field->mask << field->shift, field->octets);
	for (uint32_t c = 0; c < walk->n_checksums;) {
		struct covering covering = next_covering(walk, field, chunk, &c);

		add_parts(covering.sums, chunk->parts, covering.up);
	}
}

static void
begin_sums(const struct walk *walk, struct chunk *chunk, uint32_t position, uint32_t n)
{
	for (uint32_t c = 0; c < walk->n_checksums; c++) {
		const struct walk_checksum *checksum = &walk->checksums[c];

		if (checksum->bases != NULL) {
			memcpy(chunk->sums[c], &checksum->bases[position],
			       n * sizeof(chunk->sums[c][0]));
			continue;
		}
		for (uint32_t j = 0; j < CHUNK; j++)
			chunk->sums[c][j] = checksum->base;
	}
	memset(chunk->sums[WALK_CHECKSUMS_MAX], 0, sizeof(chunk->sums[0]));
}

static void
write_checksum(const struct walk *walk, uint32_t c, struct chunk *chunk,
	       struct rte_mbuf *const *mbufs, uint32_t n)
{
	const struct walk_checksum *checksum = &walk->checksums[c];
	uint16_t stored[CHUNK];

	finish(chunk->sums[c], stored, checksum->udp ? 0xffff : 0);
	for (uint32_t j = 0; j < n; j++)
		memcpy(ready_frame_data(mbufs[j]) + checksum->offset, &stored[j], 2);
	for (uint32_t outer = c + 1; outer < walk->n_checksums; outer++) {
		if (walk->checksums[outer].inner_even & (1u << c))
			add_parts(chunk->sums[outer], chunk->sums[c], 0);
		else if (walk->checksums[outer].inner_odd & (1u << c))
			add_parts(chunk->sums[outer], chunk->sums[c], 8);
	}
}

void
tx_walk_write(const struct walk *walk, struct rte_mbuf *const *mbufs, uint32_t position,
	      uint64_t done, uint16_t count)
{
	for (uint32_t from = 0; from < count; from += CHUNK) {
		uint32_t n = RTE_MIN((uint32_t)count - from, CHUNK);
		uint64_t index = walk->first + (done + from) * walk->stride;
		struct chunk chunk;

		begin_sums(walk, &chunk, position + from, n);
		for (uint32_t f = 0; f < walk->n_fields; f++) {
			const struct walk_field *field = &walk->fields[f];

			if (field->octets <= 4)
				write_narrow(walk, field, &chunk, mbufs + from, index, n);
			else
				write_wide(walk, field, &chunk, mbufs + from, index, n);
		}
		for (uint32_t c = 0; c < walk->n_checksums; c++)
			write_checksum(walk, c, &chunk, mbufs + from, n);
	}
}
