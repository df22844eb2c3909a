/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Values and sums are computed for 64 frames at a time in loops that the compiler turns into vector code (one
 * version for each level of x86-64, chosen at load), then stored frame by frame.
 */
#include "edit/tx_walk.h"

#include <stdalign.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "edit/tx_walk_lanes.h"
#include "edit/tx_walk_store.h"
#include "base/random.h"
#include "edit/ready_frame.h"

#define STORED_ROWS (STORES_4_MAX + STORES_2_MAX)

struct chunk {
	alignas(64) uint64_t
		wide[CHUNK]; /* values of fields of over 4 octets, as they stand in the window */
	uint32_t values[2 * CHUNK]; /* of narrow ones; a chunk, and room for one to begin in it */
	uint32_t parts[CHUNK];      /* of sums */
	uint32_t stored[STORED_ROWS + 1]
		       [CHUNK]; /* in network order; the last is for what is stored at once */
	uint32_t sums[WALK_CHECKSUMS_MAX][CHUNK];
	struct stores stores;
};

/* number / divisor by the divisor's inverse: a division costs 40 cycles. */
static inline uint64_t
quotient_of(uint64_t number, uint64_t divisor, uint64_t inverse)
{
	uint64_t quotient = (uint64_t)(((unsigned __int128)number * inverse) >> 64);

	while (number - quotient * divisor >= divisor)
		quotient++;
	return quotient;
}

/* Where in its values a field is: k, and how many frames have had value k before. */
struct place {
	uint64_t k;
	uint64_t rest;
};

static inline struct place
place_of(const struct walk_field *field, uint64_t index)
{
	uint64_t step = quotient_of(index, field->every, field->every_inverse);
	uint64_t lap = quotient_of(step, field->count, field->count_inverse);

	return (struct place){step - lap * field->count, index - step * field->every};
}

static inline uint64_t
next_k(const struct walk_field *field, uint64_t k, uint64_t steps)
{
	k += steps;
	return k >= field->count ? k - field->count : k;
}

static inline void
next_place(const struct walk_field *field, struct place *place)
{
	place->k = next_k(field, place->k, field->jump);
	place->rest += field->jump_rest;
	if (place->rest < field->every)
		return;
	place->rest -= field->every;
	place->k = next_k(field, place->k, field->count > 1);
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

/* How many frames, each `stride` behind the one before, there are within `left`; CHUNK when there are no fewer. */
static inline uint32_t
frames_within(uint64_t left, uint64_t stride)
{
	if (left >= CHUNK * stride)
		return CHUNK;
	return ((uint32_t)left + (uint32_t)stride - 1) / (uint32_t)stride;
}

/*
 * Most fields step, and wrap less than once in a chunk; or they keep their value for longer than a chunk, and change it
 * at most once in it. False where it is neither.
 */
static inline bool
find_stepping(const struct walk_field *field, struct place place, uint64_t stride,
	      struct stepping *stepping)
{
	stepping->unused_bits = 32u - 8u * field->octets;
	if (field->every >= CHUNK * stride) {
		uint64_t next = next_k(field, place.k, field->count > 1);

		stepping->first = (uint32_t)value_of(field, place.k);
		stepping->step = 0;
		stepping->back = stepping->first - (uint32_t)value_of(field, next);
		stepping->wrap = frames_within(field->every - place.rest, stride);
		return true;
	}
	if (field->kind != WALK_STEPS || field->every > 1 || CHUNK * stride > field->count)
		return false;
	stepping->first = (uint32_t)value_of(field, place.k);
	stepping->step = (uint32_t)(field->step * stride);
	stepping->back = (uint32_t)(field->step * field->count);
	stepping->wrap = frames_within(field->count - place.k, stride);
	return true;
}

/* Values of n frames from `place` on; there is room for a chunk. */
static void
make_run(const struct walk_field *field, uint32_t *values, struct place place, uint64_t stride,
	 uint32_t n)
{
	struct stepping stepping;

	if (find_stepping(field, place, stride, &stepping)) {
		step_narrow(values, &stepping);
		return;
	}
	for (uint32_t j = 0; j < n; j++) {
		values[j] = (uint32_t)value_of(field, place.k);
		next_place(field, &place);
	}
}

static void
make_wide_run(const struct walk_field *field, uint64_t *values, struct place place, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++) {
		values[j] = value_of(field, place.k);
		next_place(field, &place);
	}
}

/* Of n values, each `size` octets, the first `turn` are known: the others repeat them. */
static inline void
repeat(void *values, size_t size, uint32_t turn, uint32_t n)
{
	for (uint32_t known = turn; known < n; known *= 2)
		memcpy((char *)values + known * size, values, RTE_MIN(known, n - known) * size);
}

/* The frames of a chunk, each by its number in the stream. */
struct frames {
	uint64_t first;
	uint64_t anew; /* what frame number `until` of the chunk begins with */
	uint32_t until;
	uint32_t turn; /* so many differ: the others repeat these */
	uint32_t n;
};

static inline struct frames
frames_of(const struct walk *walk, uint64_t first, uint64_t turn, uint32_t n)
{
	struct frames frames = {.first = walk->first + first * walk->stride,
				.anew = walk->first,
				.until = n,
				.turn = n,
				.n = n};

	if (unlikely(turn - first < n)) {
		frames.until = (uint32_t)(turn - first);
		frames.turn = (uint32_t)RTE_MIN(turn, (uint64_t)n);
	}
	return frames;
}

static void
make_narrow(const struct walk_field *field, struct chunk *chunk, const struct frames *frames,
	    uint64_t stride)
{
	make_run(field, chunk->values, place_of(field, frames->first), stride, frames->until);
	if (likely(frames->until == frames->n))
		return;
	make_run(field, chunk->values + frames->until, place_of(field, frames->anew), stride,
		 frames->turn - frames->until);
	repeat(chunk->values, sizeof(chunk->values[0]), frames->turn, frames->n);
}

static void
make_wide(const struct walk_field *field, struct chunk *chunk, const struct frames *frames)
{
	make_wide_run(field, chunk->wide, place_of(field, frames->first), frames->until);
	make_wide_run(field, chunk->wide + frames->until, place_of(field, frames->anew),
		      frames->turn - frames->until);
	repeat(chunk->wide, sizeof(chunk->wide[0]), frames->turn, frames->n);
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
write_plain(const struct walk_field *field, struct chunk *chunk, uint32_t *row,
	    const struct stepping *stepping)
{
	uint32_t first = (uint32_t)__builtin_ctz(field->even);
	uint32_t others = field->even & (field->even - 1u);

	if (others == 0)
		step_into_one(row, chunk->sums[first], stepping);
	else
		step_into_two(row, chunk->sums[first], chunk->sums[__builtin_ctz(others)],
			      stepping);
}

static void
write_narrow(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	     struct rte_mbuf *const *mbufs, const struct frames *frames)
{
	uint32_t *row = next_row(chunk, field->shared ? 0 : field->octets, field->offset);
	struct stepping stepping;

	if (field->plain && is_stored_later(chunk, row) && frames->until == frames->n &&
	    find_stepping(field, place_of(field, frames->first), walk->stride, &stepping)) {
		write_plain(field, chunk, row, &stepping);
		return;
	}
	make_narrow(field, chunk, frames, walk->stride);
	arrange_narrow(chunk->values, chunk->parts, row, (uint32_t)field->mask, field->shift,
		       (uint32_t)field->fill, 32u - 8u * field->octets);
	add_to_all(walk, field, chunk);
	if (field->shared)
		store_shared(field, chunk, mbufs, frames->n);
	else if (!is_stored_later(chunk, row))
		store_row(row, field->offset, field->octets, mbufs, frames->n);
}

static void
write_wide(const struct walk *walk, const struct walk_field *field, struct chunk *chunk,
	   struct rte_mbuf *const *mbufs, const struct frames *frames)
{
	make_wide(field, chunk, frames);
	arrange_wide(chunk->wide, chunk->parts, field->mask, field->shift);
	add_to_all(walk, field, chunk);
	for (uint32_t j = 0; j < frames->n; j++)
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

static void
write_chunk(const struct walk *walk, struct rte_mbuf *const *mbufs, uint32_t position,
	    const struct frames *frames)
{
	struct chunk chunk;

	chunk.stores.n4 = 0;
	chunk.stores.n2 = 0;
	begin_sums(walk, &chunk, position, frames->n);
	for (uint32_t f = 0; f < walk->n_fields; f++) {
		const struct walk_field *field = &walk->fields[f];

		if (field->octets <= 4)
			write_narrow(walk, field, &chunk, mbufs, frames);
		else
			write_wide(walk, field, &chunk, mbufs, frames);
	}
	for (uint32_t c = 0; c < walk->n_checksums; c++)
		write_checksum(walk, c, &chunk, mbufs, frames->n);
	store_together(&chunk.stores, mbufs, frames->n);
}

void
tx_walk_write(const struct walk *walk, struct rte_mbuf *const *mbufs, uint32_t position,
	      uint64_t first, uint64_t turn, uint16_t count)
{
	for (uint32_t from = 0; from < count; from += CHUNK) {
		uint32_t n = RTE_MIN((uint32_t)count - from, CHUNK);
		struct frames frames = frames_of(walk, first, turn, n);

		write_chunk(walk, mbufs + from, position + from, &frames);
		first += n;
		if (unlikely(first >= turn))
			first %= turn;
	}
}
