/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stream: does everything it edits and covers make sense together?
 *
 * Called by config_decode.c for each stream; main thread, cold path.
 * The rules keep two readings of the same stream from giving different frames: nothing is
 * written twice, no octet is summed twice, and no checksum goes stale by a later one.
 * Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "config/config_check.h"
#include "protocol/stamp.h"

enum {
	ITEM_SIZE = 64, /* "streams[N].checksums[N].ranges[N]" with ten digits each */
	PATH_SIZE = sizeof(((struct error *)NULL)->path),
};

/* The stream under check, and what all its windows are held against. */
struct check {
	const struct stream_config *stream;
	uint32_t index;    /* of the stream */
	uint32_t shortest; /* [octets] */
	uint32_t longest;  /* [octets] */
	struct error *err;
};

static void
find_extremes(struct check *check)
{
	const struct stream_config *stream = check->stream;

	check->shortest = check->longest = stream->frame_len_no_fcs;
	if (stream->n_lengths == 0)
		return;
	check->shortest = check->longest = stream->lengths[0];
	for (uint32_t i = 1; i < stream->n_lengths; i++) {
		if (stream->lengths[i] < check->shortest)
			check->shortest = stream->lengths[i];
		if (stream->lengths[i] > check->longest)
			check->longest = stream->lengths[i];
	}
}

/* --- Windows: inside every frame, no bit in two --- */

/* What is written into each frame: bits of a big-endian window. */
struct window {
	const char *list; /* "fields", … */
	uint32_t index;   /* in that list */
	uint32_t offset;
	uint32_t octets;
	uint64_t bits;
};

static uint32_t
count_windows(const struct stream_config *stream)
{
	return stream->n_length_fields + stream->n_fields + stream->n_checksums;
}

/* Window i of all: length fields, then fields, then stored checksums. */
static struct window
window_of(const struct stream_config *stream, uint32_t i)
{
	if (i < stream->n_length_fields)
		return (struct window){"length_fields", i, stream->length_fields[i].offset,
				       stream->length_fields[i].octets, UINT64_MAX};
	i -= stream->n_length_fields;
	if (i < stream->n_fields)
		return (struct window){
			"fields", i, stream->fields[i].offset, stream->fields[i].octets,
			UINT64_MAX >> (64 - stream->fields[i].bits) << stream->fields[i].shift};
	i -= stream->n_fields;
	return (struct window){"checksums", i, stream->checksums[i].offset, 2, UINT64_MAX};
}

/* Mark the window's bits in taken, one octet per octet of the frame. False when one already is. */
static bool
take_bits(uint8_t *taken, const struct window *window)
{
	for (uint32_t i = 0; i < window->octets; i++) {
		uint8_t *octet = &taken[window->offset + i];
		uint8_t bits = (uint8_t)(window->bits >> 8 * (window->octets - 1 - i));

		if (*octet & bits)
			return false;
		*octet |= bits;
	}
	return true;
}

/* The first window before number i that has a bit of it. taken is overwritten. */
static struct window
find_rival(const struct check *check, uint32_t i, uint8_t *taken)
{
	const struct window window = window_of(check->stream, i);
	struct window rival = window;

	memset(taken, 0, check->shortest);
	take_bits(taken, &window);
	for (uint32_t j = 0; j < i; j++) {
		rival = window_of(check->stream, j);
		if (!take_bits(taken, &rival))
			break;
	}
	return rival;
}

static int
refuse_outside(const struct check *check, const char *path, uint32_t offset, uint32_t octets)
{
	if (check->shortest < check->stream->frame_len_no_fcs)
		return error_set(check->err, ERROR_PARAMS, path,
				 "%u octets at offset %u end outside the shortest frame of %u "
				 "octets; they must be in every frame",
				 octets, offset, check->shortest);
	return error_set(check->err, ERROR_PARAMS, path,
			 "%u octets at offset %u end outside the template of %u octets", octets,
			 offset, check->shortest);
}

static int
check_windows(const struct check *check)
{
	uint8_t taken[CONFIG_TEMPLATE_OCTETS_MAX];
	uint32_t n = count_windows(check->stream);
	char path[PATH_SIZE];

	memset(taken, 0, check->shortest);
	for (uint32_t i = 0; i < n; i++) {
		const struct window window = window_of(check->stream, i);
		struct window rival;

		snprintf(path, sizeof(path), "streams[%u].%s[%u].offset", check->index, window.list,
			 window.index);
		if (window.offset + window.octets > check->shortest)
			return refuse_outside(check, path, window.offset, window.octets);
		if (take_bits(taken, &window))
			continue;
		rival = find_rival(check, i, taken);
		return error_set(check->err, ERROR_PARAMS, path,
				 "%u octets at offset %u overlap %s[%u]; give each its own bits",
				 window.octets, window.offset, rival.list, rival.index);
	}
	return 0;
}

/* --- What depends on the frame's length --- */

static int
refuse_less(const struct check *check, const char *path, uint32_t less)
{
	return error_set(check->err, ERROR_PARAMS, path,
			 "a frame of %u octets less %u is negative; it may be %u at most",
			 check->shortest, less, check->shortest);
}

static int
check_length_fields(const struct check *check)
{
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < check->stream->n_length_fields; i++) {
		const struct length_config *field = &check->stream->length_fields[i];

		snprintf(path, sizeof(path), "streams[%u].length_fields[%u].less", check->index, i);
		if (field->less > check->shortest)
			return refuse_less(check, path, field->less);
		/* Two octets hold every length. */
		if (field->octets == 1 && check->longest - field->less > UINT8_MAX)
			return error_set(check->err, ERROR_PARAMS, path,
					 "a frame of %u octets less %u does not fit in one octet; "
					 "give the field 2 octets",
					 check->longest, field->less);
	}
	return 0;
}

/* --- Checksums: every octet summed once, and before it is summed elsewhere --- */

/* The octet behind the range; to the end of the frame is further than any offset. */
static uint32_t
range_end(const struct octet_range *range)
{
	return range->octets == RANGE_TO_END ? UINT32_MAX : range->offset + range->octets;
}

static int
check_range_alone(const struct check *check, const struct octet_range *range, bool last,
		  const char *path)
{
	if (range->octets == RANGE_TO_END && !last)
		return error_set(check->err, ERROR_PARAMS, path,
				 "it goes to the end of the frame; only the last range of a "
				 "checksum may");
	if (range->octets == RANGE_TO_END)
		return range->offset < check->shortest
			       ? 0
			       : refuse_outside(check, path, range->offset, 1);
	if (range_end(range) > check->shortest)
		return refuse_outside(check, path, range->offset, range->octets);
	if (range->octets % 2 != 0 && !last)
		return error_set(check->err, ERROR_PARAMS, path,
				 "%u octets are odd; only the last range of a checksum may be odd",
				 range->octets);
	return 0;
}

static int
check_range(const struct check *check, uint32_t c, uint32_t r)
{
	const struct checksum_config *checksum = &check->stream->checksums[c];
	const struct octet_range *range = &checksum->ranges[r];
	char path[PATH_SIZE];
	int rc;

	snprintf(path, sizeof(path), "streams[%u].checksums[%u].ranges[%u]", check->index, c, r);
	rc = check_range_alone(check, range, r + 1 == checksum->n_ranges, path);
	if (rc < 0)
		return rc;
	for (uint32_t j = 0; j < r; j++)
		if (range->offset < range_end(&checksum->ranges[j]) &&
		    checksum->ranges[j].offset < range_end(range))
			return error_set(check->err, ERROR_PARAMS, path,
					 "from offset %u on it overlaps ranges[%u]; no octet may "
					 "be summed twice",
					 range->offset, j);
	for (uint32_t later = c + 1; later < check->stream->n_checksums; later++)
		if (range->offset < check->stream->checksums[later].offset + 2 &&
		    check->stream->checksums[later].offset < range_end(range))
			return error_set(
				check->err, ERROR_PARAMS, path,
				"it covers checksums[%u], which is stored later; list that "
				"one first",
				later);
	return 0;
}

static int
check_checksums(const struct check *check)
{
	char path[PATH_SIZE];
	int rc = 0;

	for (uint32_t c = 0; c < check->stream->n_checksums && rc == 0; c++) {
		const struct checksum_config *checksum = &check->stream->checksums[c];

		snprintf(path, sizeof(path), "streams[%u].checksums[%u].add_length_less",
			 check->index, c);
		if (checksum->add_length_less != ADD_NO_LENGTH &&
		    checksum->add_length_less > check->shortest)
			return refuse_less(check, path, checksum->add_length_less);
		for (uint32_t r = 0; r < checksum->n_ranges && rc == 0; r++)
			rc = check_range(check, c, r);
	}
	return rc;
}

/* --- The stamp: the last octets of every frame are its own --- */

/* Everything else ends before the stamp of the shortest frame. */
static int
check_before_stamp(const struct check *check, const char *list, uint32_t i, uint32_t end)
{
	uint32_t room = check->shortest - STAMP_OCTETS;
	char path[PATH_SIZE];

	if (end <= room)
		return 0;
	snprintf(path, sizeof(path), "streams[%u].%s[%u].offset", check->index, list, i);
	return error_set(check->err, ERROR_PARAMS, path,
			 "it ends at octet %u, but the stamp begins at octet %u of the shortest "
			 "frame; frames need %u octets more",
			 end, room, end - room);
}

static int
check_stamp(const struct check *check)
{
	const struct stream_config *stream = check->stream;
	int rc = 0;

	if (!stream->has_stamp)
		return 0;
	for (uint32_t i = 0; i < stream->n_fields && rc == 0; i++)
		rc = check_before_stamp(check, "fields", i,
					stream->fields[i].offset + stream->fields[i].octets);
	for (uint32_t i = 0; i < stream->n_length_fields && rc == 0; i++)
		rc = check_before_stamp(check, "length_fields", i,
					stream->length_fields[i].offset +
						stream->length_fields[i].octets);
	for (uint32_t i = 0; i < stream->n_checksums && rc == 0; i++)
		rc = check_before_stamp(check, "checksums", i, stream->checksums[i].offset + 2);
	return rc;
}

/* --- Traces and schedules --- */

static int
check_overwrites(const struct check *check)
{
	const struct trace_config *trace = &check->stream->trace;
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < trace->n_overwrites; i++) {
		const struct overwrite_config *a = &trace->overwrites[i];

		for (uint32_t j = 0; j < i; j++) {
			const struct overwrite_config *b = &trace->overwrites[j];

			if (a->offset >= b->offset + b->n_octets ||
			    b->offset >= a->offset + a->n_octets)
				continue;
			snprintf(path, sizeof(path), "streams[%u].trace.overwrite[%u].offset",
				 check->index, i);
			return error_set(check->err, ERROR_PARAMS, path,
					 "%u octets at offset %u overlap overwrite[%u]; give each "
					 "its own octets",
					 a->n_octets, a->offset, j);
		}
	}
	return 0;
}

static int
check_schedule(const struct check *check)
{
	const struct stream_config *stream = check->stream;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "streams[%u].burst", check->index);
	if (stream->has_burst && stream->trace.has_speed)
		return error_set(check->err, ERROR_PARAMS, path,
				 "the frames leave by the trace's times, at speed %g; a burst "
				 "needs fps instead",
				 stream->trace.speed);
	if (stream->has_burst && !stream->has_fps)
		return error_set(check->err, ERROR_PARAMS, path,
				 "a burst of %g frames needs the rate within it; give the stream "
				 "fps",
				 (double)stream->burst_frames);
	snprintf(path, sizeof(path), "streams[%u].whole_bursts", check->index);
	if (stream->whole_bursts && (!stream->has_fps || stream->has_burst))
		return error_set(check->err, ERROR_PARAMS, path,
				 "only a stream with fps and without burst can wait for whole "
				 "bursts; give it fps, or leave whole_bursts out");
	snprintf(path, sizeof(path), "streams[%u].fps", check->index);
	if (stream->has_fps && stream->trace.has_speed)
		return error_set(check->err, ERROR_PARAMS, path,
				 "%g frames per second and the trace's times, at speed %g, "
				 "exclude each other; make one of them null",
				 stream->fps, stream->trace.speed);
	return 0;
}

/* The least common multiple of period and count, or UINT64_MAX: above CONFIG_PERIOD_MAX. */
static uint64_t
extend_period(uint64_t period, uint64_t count)
{
	uint64_t factor = count / greatest_common_divisor(period, count);

	return factor > CONFIG_PERIOD_MAX / period ? UINT64_MAX : period * factor;
}

/* Frames after which a field begins again, or UINT64_MAX: above CONFIG_PERIOD_MAX. */
static uint64_t
field_period(const struct field_config *field)
{
	if (field->count == 1)
		return 1;
	return field->every > CONFIG_PERIOD_MAX / field->count ? UINT64_MAX
							       : field->every * field->count;
}

static uint64_t
period_of(const struct stream_config *stream)
{
	uint64_t period = 1;

	if (stream->trace.path != NULL)
		return 0;
	if (stream->n_lengths > 0)
		period = stream->n_lengths;
	for (uint32_t i = 0; i < stream->n_fields && period <= CONFIG_PERIOD_MAX; i++)
		period = extend_period(period, field_period(&stream->fields[i]));
	return period;
}

int
config_check_stream(struct stream_config *stream, uint32_t index, struct error *err)
{
	struct check check = {.stream = stream, .index = index, .err = err};
	int rc;

	find_extremes(&check);
	rc = check_windows(&check);
	if (rc == 0)
		rc = check_length_fields(&check);
	if (rc == 0)
		rc = check_checksums(&check);
	if (rc == 0)
		rc = check_stamp(&check);
	if (rc == 0)
		rc = check_overwrites(&check);
	if (rc == 0)
		rc = check_schedule(&check);
	stream->period = period_of(stream);
	return rc;
}
