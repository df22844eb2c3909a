/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A checksum that covers no field is left as rendered. Of the others, the constant part is summed here once: the frame
 * with all walked fields and checksums zero.
 */
#include "program/walk_build.h"

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "program/frame_render.h"
#include "protocol/checksum.h"

struct build {
	const struct stream_config *stream;
	struct walk *walk;
	uint32_t number[CONFIG_CHECKSUMS_MAX]; /* of each of the stream's checksums in the walk */
	bool walked[CONFIG_CHECKSUMS_MAX];
};

enum cover { COVER_NONE, COVER_EVEN, COVER_ODD, COVER_PART };

/*
 * How a checksum covers `octets` octets at `offset`. Words are counted from each range's start; the last octet decides:
 * as the low half of its word the window counts as it is (2^16 is 1 modulo 65,535), as the high half 256 times.
 */
static enum cover
cover_of(const struct checksum_config *checksum, uint32_t offset, uint32_t octets)
{
	for (uint32_t r = 0; r < checksum->n_ranges; r++) {
		const struct octet_range *range = &checksum->ranges[r];
		uint64_t end = range->octets == RANGE_TO_END
				       ? UINT64_MAX
				       : (uint64_t)range->offset + range->octets;

		if (offset + octets <= range->offset || offset >= end)
			continue;
		if (offset < range->offset || offset + octets > end)
			return COVER_PART;
		return (offset + octets - 1 - range->offset) % 2 == 1 ? COVER_EVEN : COVER_ODD;
	}
	return COVER_NONE;
}

/* The window without the octets that hold none of the value's bits. */
static void
set_window(struct walk_field *walked, const struct field_config *field)
{
	uint32_t low = field->shift / 8, high = (field->shift + field->bits - 1) / 8;

	walked->octets = (uint8_t)(high - low + 1);
	walked->offset = (uint16_t)(field->offset + field->octets - 1 - high);
	walked->shift = (uint8_t)(field->shift - 8 * low);
	walked->mask = field->bits == 64 ? UINT64_MAX : (UINT64_C(1) << field->bits) - 1;
}

static void
set_values(struct walk_field *walked, const struct field_config *field, uint64_t stride)
{
	static const enum walk_kind kinds[] = {
		[FIELD_STEPS] = WALK_STEPS,
		[FIELD_VALUES] = WALK_VALUES,
		[FIELD_RANDOM] = WALK_RANDOM,
	};

	walked->kind = kinds[field->kind];
	walked->count = field->count;
	walked->count_inverse = UINT64_MAX / field->count;
	walked->every = field->every;
	walked->every_inverse = UINT64_MAX / field->every;
	walked->jump = stride / field->every % field->count;
	walked->jump_rest = stride % field->every;
	walked->first = field->first;
	walked->step = field->step;
	walked->range = field->range;
	walked->seed = field->seed;
}

/* The configuration is freed when the program is built, so a list is copied. */
static int
copy_list(struct walk_field *walked, const struct field_config *field, int socket)
{
	uint64_t *values;

	if (field->kind != FIELD_VALUES)
		return 0;
	values = rte_malloc_socket("walk values", field->count * sizeof(values[0]),
				   RTE_CACHE_LINE_SIZE, socket);
	if (values == NULL)
		return -ENOMEM;
	memcpy(values, field->values, field->count * sizeof(values[0]));
	walked->values = values;
	return 0;
}

/* What stands beside a value in its window: other fields' bits, which change, or the template's. */
static void
set_neighbours(struct build *build)
{
	const uint8_t *template = build->stream->template;

	for (uint32_t f = 0; f < build->walk->n_fields; f++) {
		struct walk_field *field = &build->walk->fields[f];
		uint64_t window = 0;

		for (uint32_t o = 0; o < field->octets; o++)
			window = window << 8 | template[field->offset + o];
		field->fill = window & ~(field->mask << field->shift);
		for (uint32_t other = 0; other < build->walk->n_fields; other++) {
			const struct walk_field *beside = &build->walk->fields[other];

			field->shared |= other != f &&
					 beside->offset < field->offset + field->octets &&
					 field->offset < beside->offset + beside->octets;
		}
	}
}

/* Which checksums have to be written anew for each frame: those over a field, or over such a checksum. */
static int
choose_checksums(struct build *build, struct error *err)
{
	const struct stream_config *stream = build->stream;

	for (uint32_t c = 0; c < stream->n_checksums; c++) {
		const struct checksum_config *checksum = &stream->checksums[c];

		for (uint32_t f = 0; f < stream->n_fields; f++) {
			struct walk_field window = {0};
			enum cover cover;

			set_window(&window, &stream->fields[f]);
			cover = cover_of(checksum, window.offset, window.octets);
			if (cover == COVER_PART)
				return error_set(err, -EINVAL, NULL,
						 "stream %s: fields[%u] lies across the end of a "
						 "range of checksums[%u]; split the field",
						 stream->name, f, c);
			build->walked[c] |= cover != COVER_NONE;
		}
		for (uint32_t inner = 0; inner < c; inner++)
			build->walked[c] |= build->walked[inner] &&
					    cover_of(checksum, stream->checksums[inner].offset,
						     2) != COVER_NONE;
		if (build->walked[c])
			build->number[c] = build->walk->n_checksums++;
	}
	return 0;
}

/* What tx_walk.c does fastest. */
static bool
is_plain(const struct walk_field *field)
{
	bool whole = field->shift == 0 && field->mask == UINT64_MAX >> (64 - 8 * field->octets);

	return whole && (field->octets == 2 || field->octets == 4) && field->odd == 0 &&
	       field->even != 0 && __builtin_popcount(field->even) <= 2;
}

static int
set_fields(struct build *build, int socket)
{
	const struct stream_config *stream = build->stream;

	for (uint32_t f = 0; f < stream->n_fields; f++) {
		struct walk_field *walked = &build->walk->fields[f];

		set_window(walked, &stream->fields[f]);
		set_values(walked, &stream->fields[f], build->walk->stride);
		if (copy_list(walked, &stream->fields[f], socket) != 0)
			return -ENOMEM;
		build->walk->n_fields++;
		for (uint32_t c = 0; c < stream->n_checksums; c++) {
			enum cover cover =
				cover_of(&stream->checksums[c], walked->offset, walked->octets);

			if (cover == COVER_EVEN)
				walked->even |= (uint16_t)(1u << build->number[c]);
			else if (cover == COVER_ODD)
				walked->odd |= (uint16_t)(1u << build->number[c]);
		}
		walked->plain = is_plain(walked);
	}
	return 0;
}

static void
set_checksums(struct build *build)
{
	const struct stream_config *stream = build->stream;

	for (uint32_t c = 0; c < stream->n_checksums; c++) {
		struct walk_checksum *walked = &build->walk->checksums[build->number[c]];

		if (!build->walked[c])
			continue;
		walked->offset = (uint16_t)stream->checksums[c].offset;
		walked->udp = stream->checksums[c].udp;
		for (uint32_t inner = 0; inner < c; inner++) {
			enum cover cover =
				cover_of(&stream->checksums[c], stream->checksums[inner].offset, 2);

			if (!build->walked[inner])
				continue;
			if (cover == COVER_EVEN)
				walked->inner_even |= (uint16_t)(1u << build->number[inner]);
			else if (cover == COVER_ODD)
				walked->inner_odd |= (uint16_t)(1u << build->number[inner]);
		}
	}
}

/* Frame i with everything zero that the walk writes. */
static uint32_t
render_constant(const struct build *build, uint64_t i, uint8_t *frame)
{
	const struct stream_config *stream = build->stream;
	uint32_t octets = frame_render(stream, i, frame);

	for (uint32_t f = 0; f < build->walk->n_fields; f++) {
		const struct walk_field *field = &build->walk->fields[f];
		uint64_t mask = field->mask << field->shift;

		for (uint32_t o = field->octets; o > 0; o--, mask >>= 8)
			frame[field->offset + o - 1] &= (uint8_t)~mask;
	}
	for (uint32_t c = 0; c < build->walk->n_checksums; c++)
		memset(frame + build->walk->checksums[c].offset, 0, 2);
	return octets;
}

static void
sum_constants(const struct build *build, const uint8_t *frame, uint32_t octets, uint32_t *sums)
{
	for (uint32_t c = 0; c < build->stream->n_checksums; c++) {
		if (build->walked[c])
			sums[build->number[c]] = (uint16_t)~checksum_finish(
				frame_sum(&build->stream->checksums[c], frame, octets));
	}
}

/* One sum for all slots, or one for each where frames differ in length (and in nothing else that is constant). */
static int
set_bases(struct build *build, const struct task_config *task, uint32_t length, int socket)
{
	struct walk *walk = build->walk;
	uint32_t slots = build->stream->n_lengths > 0 ? length + task->burst : 1, known = 0;
	uint32_t *bases[CONFIG_CHECKSUMS_MAX] = {NULL}, sums[CONFIG_CHECKSUMS_MAX] = {0};
	uint8_t *frame = rte_malloc("walk frame", build->stream->frame_len_no_fcs, 0);

	if (frame == NULL)
		return -ENOMEM;
	for (uint32_t c = 0; slots > 1 && c < walk->n_checksums; c++) {
		bases[c] = rte_malloc_socket("walk sums", slots * sizeof(*bases[c]),
					     RTE_CACHE_LINE_SIZE, socket);
		walk->checksums[c].bases = bases[c];
		if (bases[c] == NULL) {
			rte_free(frame);
			return -ENOMEM;
		}
	}
	for (uint32_t s = 0; s < slots; s++) {
		uint64_t i = task->part + (uint64_t)(s % length) * task->parts;

		if (frame_length(build->stream, i) != known) {
			known = render_constant(build, i, frame);
			sum_constants(build, frame, known, sums);
		}
		for (uint32_t c = 0; c < walk->n_checksums; c++) {
			walk->checksums[c].base = sums[c];
			if (bases[c] != NULL)
				bases[c][s] = sums[c];
		}
	}
	rte_free(frame);
	return 0;
}

static int
fill(struct build *build, const struct task_config *task, uint32_t length, int socket,
     struct error *err)
{
	int code = choose_checksums(build, err);

	if (code != 0)
		return code;
	code = set_fields(build, socket);
	if (code == 0) {
		set_neighbours(build);
		set_checksums(build);
		code = set_bases(build, task, length, socket);
	}
	return code == 0 ? 0 : error_set(err, code, NULL, "no memory for a walk");
}

int
walk_create(struct walk **out, const struct stream_config *stream, const struct task_config *task,
	    uint32_t length, int socket, struct error *err)
{
	struct build build = {.stream = stream};
	struct walk *walk = rte_zmalloc_socket("walk", sizeof(*walk), RTE_CACHE_LINE_SIZE, socket);
	int code;

	if (walk == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for a walk");
	walk->first = task->part;
	walk->stride = task->parts;
	walk->fields =
		rte_zmalloc_socket("walk fields", (stream->n_fields + 1) * sizeof(walk->fields[0]),
				   RTE_CACHE_LINE_SIZE, socket);
	walk->checksums = rte_zmalloc_socket("walk checksums",
					     (stream->n_checksums + 1) * sizeof(walk->checksums[0]),
					     RTE_CACHE_LINE_SIZE, socket);
	build.walk = walk;
	code = walk->fields == NULL || walk->checksums == NULL
		       ? error_set(err, -ENOMEM, NULL, "no memory for a walk")
		       : fill(&build, task, length, socket, err);
	if (code == 0)
		*out = walk;
	else
		walk_free(walk);
	return code;
}

void
walk_free(struct walk *walk)
{
	if (walk == NULL)
		return;
	for (uint32_t f = 0; f < walk->n_fields; f++)
		rte_free((void *)(uintptr_t)walk->fields[f].values);
	for (uint32_t c = 0; c < walk->n_checksums; c++)
		rte_free((void *)(uintptr_t)walk->checksums[c].bases);
	rte_free(walk->fields);
	rte_free(walk->checksums);
	rte_free(walk);
}
