/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stream: does everything it edits and covers make sense together?
 *
 * Called by config_decode.c for each stream; main thread, cold path.
 * The rules keep two readings of the same stream from giving different frames: nothing is
 * written twice, no octet is summed twice, and no checksum goes stale by a later one.
 * Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/numbers.h"
#include "config/config_check.h"

enum {
	ITEM_SIZE = 64, /* "streams[N].checksums[N].ranges[N]" with ten digits each */
	PATH_SIZE = sizeof(((struct error *)NULL)->path),
};

static bool
overlap(uint32_t a, uint32_t a_octets, uint32_t b, uint32_t b_octets)
{
	return a < b + b_octets && b < a + a_octets;
}

static int
refuse_outside(struct error *err, const char *item, const char *key, uint32_t offset,
	       uint32_t octets, uint32_t frame_octets)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%.63s%s", item, key);
	return error_set(err, ERROR_PARAMS, path,
			 "%u octets at offset %u end outside the template of %u octets", octets,
			 offset, frame_octets);
}

static int
refuse_overlap(struct error *err, const char *item, uint32_t offset, uint32_t octets,
	       const char *other_list, uint32_t other)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%.63s.offset", item);
	return error_set(err, ERROR_PARAMS, path,
			 "%u octets at offset %u overlap %s[%u]; give each its own octets", octets,
			 offset, other_list, other);
}

static int
check_fields(const struct stream_config *stream, uint32_t index, struct error *err)
{
	char item[ITEM_SIZE];

	for (uint32_t i = 0; i < stream->n_fields; i++) {
		const struct field_config *field = &stream->fields[i];

		snprintf(item, sizeof(item), "streams[%u].fields[%u]", index, i);
		if (field->offset + field->octets > stream->frame_len_no_fcs)
			return refuse_outside(err, item, ".offset", field->offset, field->octets,
					      stream->frame_len_no_fcs);
		for (uint32_t j = 0; j < i; j++)
			if (overlap(field->offset, field->octets, stream->fields[j].offset,
				    stream->fields[j].octets))
				return refuse_overlap(err, item, field->offset, field->octets,
						      "fields", j);
	}
	return 0;
}

/* Where a checksum is stored: inside, and apart from fields and earlier checksums. */
static int
check_stored(const struct stream_config *stream, uint32_t c, const char *item, struct error *err)
{
	uint32_t offset = stream->checksums[c].offset;

	if (offset + 2 > stream->frame_len_no_fcs)
		return refuse_outside(err, item, ".offset", offset, 2, stream->frame_len_no_fcs);
	for (uint32_t j = 0; j < stream->n_fields; j++)
		if (overlap(offset, 2, stream->fields[j].offset, stream->fields[j].octets))
			return refuse_overlap(err, item, offset, 2, "fields", j);
	for (uint32_t j = 0; j < c; j++)
		if (overlap(offset, 2, stream->checksums[j].offset, 2))
			return refuse_overlap(err, item, offset, 2, "checksums", j);
	return 0;
}

static int
check_range(const struct stream_config *stream, uint32_t c, uint32_t r, const char *path,
	    struct error *err)
{
	const struct checksum_config *checksum = &stream->checksums[c];
	const struct octet_range *range = &checksum->ranges[r];

	if (range->offset + range->octets > stream->frame_len_no_fcs)
		return refuse_outside(err, path, "", range->offset, range->octets,
				      stream->frame_len_no_fcs);
	if (range->octets % 2 != 0 && r + 1 < checksum->n_ranges)
		return error_set(err, ERROR_PARAMS, path,
				 "%u octets are odd; only the last range of a checksum may be odd",
				 range->octets);
	for (uint32_t j = 0; j < r; j++)
		if (overlap(range->offset, range->octets, checksum->ranges[j].offset,
			    checksum->ranges[j].octets))
			return error_set(err, ERROR_PARAMS, path,
					 "%u octets at offset %u overlap ranges[%u]; no octet may "
					 "be summed twice",
					 range->octets, range->offset, j);
	for (uint32_t later = c + 1; later < stream->n_checksums; later++)
		if (overlap(range->offset, range->octets, stream->checksums[later].offset, 2))
			return error_set(
				err, ERROR_PARAMS, path,
				"it covers checksums[%u], which is stored later; list that "
				"one first",
				later);
	return 0;
}

static int
check_checksums(const struct stream_config *stream, uint32_t index, struct error *err)
{
	char item[ITEM_SIZE], range[ITEM_SIZE];
	int rc = 0;

	for (uint32_t c = 0; c < stream->n_checksums && rc == 0; c++) {
		snprintf(item, sizeof(item), "streams[%u].checksums[%u]", index, c);
		rc = check_stored(stream, c, item, err);
	}
	for (uint32_t c = 0; c < stream->n_checksums && rc == 0; c++) {
		for (uint32_t r = 0; r < stream->checksums[c].n_ranges && rc == 0; r++) {
			snprintf(range, sizeof(range), "streams[%u].checksums[%u].ranges[%u]",
				 index, c, r);
			rc = check_range(stream, c, r, range, err);
		}
	}
	return rc;
}

static int
set_period(struct stream_config *stream, uint32_t index, struct error *err)
{
	char path[PATH_SIZE];
	uint64_t period = 1;

	for (uint32_t i = 0; i < stream->n_fields; i++) {
		uint64_t count = stream->fields[i].count;

		/* At most 2^20 times 2^48: no overflow. */
		period *= count / greatest_common_divisor(period, count);
		if (period > CONFIG_PERIOD_MAX) {
			snprintf(path, sizeof(path), "streams[%u].fields[%u].count", index, i);
			return error_set(err, ERROR_PARAMS, path,
					 "with %" PRIu64 " the frames repeat only after %" PRIu64
					 "; the counts' least common multiple may be %d at most",
					 count, period, CONFIG_PERIOD_MAX);
		}
	}
	stream->period = (uint32_t)period;
	return 0;
}

int
config_check_stream(struct stream_config *stream, uint32_t index, struct error *err)
{
	int rc = check_fields(stream, index, err);

	if (rc == 0)
		rc = check_checksums(stream, index, err);
	if (rc == 0)
		rc = set_period(stream, index, err);
	return rc;
}
