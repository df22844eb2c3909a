/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Values and sums are computed for 64 frames at a time in loops that the compiler turns into vector code (one
 * version for each level of x86-64, chosen at load), then stored frame by frame.
 */
#include "edit/tx_walk.h"

#include <stdalign.h>
#include <string.h>

#include "edit/tx_walk_lanes.h"
#include "edit/tx_walk_store.h"
#include "base/random.h"
#include "edit/ready_frame.h"

#define STORED_ROWS (STORES_4_MAX + STORES_2_MAX)

struct chunk {
	alignas(64) uint64_t
		wide[CHUNK];    /* values of fields of over 4 octets, as they stand in the window */
	uint32_t values[CHUNK]; /* of narrow ones */
	uint32_t parts[CHUNK];  /* of sums */
	uint32_t stored[STORED_ROWS + 1]
		       [CHUNK]; /* in network order; the last is for what is stored at once */
	uint32_t sums[WALK_CHECKSUMS_MAX][CHUNK];
	struct stores stores;
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
	uint64_t z = splitmix64(field->seed, k);

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

/* Most fields step, and wrap less than once in a chunk. */
static bool
steps_once(const struct walk_field *field, uint64_t stride)
{
	return field->kind == WALK_STEPS && stride * CHUNK <= field->count;
}

/* How far the first frame of a chunk, at place k, is from the frame that wraps; CHUNK when none does. */
static inline uint32_t
wrap_of(const struct walk_field *field, uint64_t k, uint64_t stride)
{
	uint64_t left = field->count - k;

	if (left >= CHUNK * stride)
		return CHUNK;
	return ((uint32_t)left + (uint32_t)stride - 1) / (uint32_t)stride;
}

static void
make_narrow(const struct walk_field *field, struct chunk *chunk, uint64_t k, uint64_t stride,
	    uint32_t n)
{
	if (steps_once(field, stride)) {
		step_narrow(chunk->values, (uint32_t)(field->first + field->step * k),
			    (uint32_t)(field->step * stride),
			    (uint32_t)(field->step * field->count), wrap_of(field, k, stride));
		return;
	}
	for (uint32_t j = 0; j < n; j++) {
		chunk->values[j] = (uint32_t)value_of(field, k);
		k = next_place(field, k);
	}
}

/* The row for what is stored of a window: one that is stored with others, if it fits in there. */
static inline uint32_t *
next_row(struct chunk *chunk, uint32_t octets, uint32_t offset)
{
	struct stores *stores = &chunk->stores;
	uint32_t *row = chunk->stored[stores->n4 + stores->n2];

	if (octets == 4 && stores->n4 < STORES_4_MAX) {
		stores->offsets4[stores->n4] = offset;
		stores->rows4[stores->n4++] = row;
		return row;
	}
	if (octets == 2 && stores->n2 < STORES_2_MAX) {
		stores->offsets2[stores->n2] = offset;
		stores->rows2[stores->n2++] = row;
		return row;
	}
	return chunk->stored[STORED_ROWS];
}

static inline bool
is_stored_later(const struct chunk *chunk, const uint32_t *row)
{
	return row != chunk->stored[STORED_ROWS];
}

static void
store_shared(const struct walk_field *field, const struct chunk *chunk,
	     struct rte_mbuf *const *mbufs, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		store_bits(ready_frame_data(mbufs[j]) + field->offset, chunk->values[j],
			   field->mask << field->shift, field->octets);
}

/* Add what a field's values add, to the sums of all checksums that cover it. */
static void
add_to_all(const struct walk *walk, const struct walk_field *field, struct chunk *chunk)
{
	for (uint32_t c = 0; c < walk->n_checksums; c++) {
		if (field->even & (1u << c))
			add_parts(chunk->sums[c], chunk->parts, 0);
		else if (field->odd & (1u << c))
			add_parts(chunk->sums[c], chunk->parts, 8);
	}
}

static void
write_plain(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	    uint32_t *row, uint64_t k)
{
	const struct stepping stepping = {
		.first = (uint32_t)(field->first + field->step * k),
		.step = (uint32_t)(field->step * walk->stride),
		.back = (uint32_t)(field->step * field->count),
		.wrap = wrap_of(field, k, walk->stride),
		.unused_bits = 32u - 8u * field->octets,
	};
	uint32_t first = (uint32_t)__builtin_ctz(field->even);
	uint32_t others = field->even & (field->even - 1u);

	if (others == 0)
		step_into_one(row, chunk->sums[first], &stepping);
	else
		step_into_two(row, chunk->sums[first], chunk->sums[__builtin_ctz(others)],
			      &stepping);
}

static void
write_narrow(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	     struct rte_mbuf *const *mbufs, uint64_t index, uint32_t n)
{
	uint32_t *row = next_row(chunk, field->shared ? 0 : field->octets, field->offset);
	uint64_t k = place_of(field, index);

	if (field->plain && is_stored_later(chunk, row) && steps_once(field, walk->stride)) {
		write_plain(walk, field, chunk, row, k);
		return;
	}
	make_narrow(field, chunk, k, walk->stride, n);
	arrange_narrow(chunk->values, chunk->parts, row, (uint32_t)field->mask, field->shift,
		       (uint32_t)field->fill, 32u - 8u * field->octets);
	add_to_all(walk, field, chunk);
	if (field->shared)
		store_shared(field, chunk, mbufs, n);
	else if (!is_stored_later(chunk, row))
		store_row(row, field->offset, field->octets, mbufs, n);
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
	arrange_wide(chunk->wide, chunk->parts, field->mask, field->shift);
	add_to_all(walk, field, chunk);
	for (uint32_t j = 0; j < n; j++)
		store_bits(ready_frame_data(mbufs[j]) + field->offset, chunk->wide[j],
			   field->mask << field->shift, field->octets);
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
		fill(chunk->sums[c], checksum->base);
	}
}

static void
write_checksum(const struct walk *walk, uint32_t c, struct chunk *chunk,
	       struct rte_mbuf *const *mbufs, uint32_t n)
{
	const struct walk_checksum *checksum = &walk->checksums[c];
	uint32_t *row = next_row(chunk, 2, checksum->offset);

	finish(chunk->sums[c], row, checksum->udp ? 0xffff : 0);
	if (!is_stored_later(chunk, row))
		store_row(row, checksum->offset, 2, mbufs, n);
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

		chunk.stores.n4 = 0;
		chunk.stores.n2 = 0;
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
		store_together(&chunk.stores, mbufs + from, n);
	}
}
