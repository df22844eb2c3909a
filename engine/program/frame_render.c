/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_render.h"

#include <string.h>

#include "program/field_value.h"
#include "protocol/checksum.h"
#include "protocol/stamp.h"

static void
store_big_endian(uint8_t *out, uint64_t value, uint32_t octets)
{
	for (uint32_t i = octets; i > 0; i--) {
		out[i - 1] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t
load_big_endian(const uint8_t *octets, uint32_t n)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < n; i++)
		value = value << 8 | octets[i];
	return value;
}

/* Replace the field's bits in its window, leave the others. */
static void
store_field(const struct field_config *field, uint64_t i, uint8_t *frame)
{
	uint64_t mask = field_mask(field->bits) << field->shift;
	uint64_t window = load_big_endian(frame + field->offset, field->octets);

	window = (window & ~mask) | field_value(field, i) << field->shift;
	store_big_endian(frame + field->offset, window, field->octets);
}

uint64_t
frame_sum(const struct checksum_config *config, const uint8_t *frame, uint32_t length)
{
	uint64_t sum = config->add;

	if (config->add_length_less != ADD_NO_LENGTH)
		sum += length - config->add_length_less;
	for (uint32_t i = 0; i < config->n_ranges; i++) {
		const struct octet_range *range = &config->ranges[i];

		sum += checksum_sum(frame + range->offset, range->octets == RANGE_TO_END
								   ? length - range->offset
								   : range->octets);
	}
	return sum;
}

static void
store_checksum(const struct checksum_config *config, uint8_t *frame, uint32_t length)
{
	uint16_t checksum;

	store_big_endian(frame + config->offset, 0, 2);
	checksum = checksum_finish(frame_sum(config, frame, length));
	if (config->udp && checksum == 0)
		checksum = 0xffff; /* RFC 768: zero says that there is no checksum */
	store_big_endian(frame + config->offset, checksum, 2);
}

uint32_t
frame_length(const struct stream_config *stream, uint64_t i)
{
	return stream->n_lengths > 0 ? stream->lengths[i % stream->n_lengths]
				     : stream->frame_len_no_fcs;
}

uint32_t
frame_render(const struct stream_config *stream, uint64_t i, uint8_t *out)
{
	uint32_t length = frame_length(stream, i);

	memcpy(out, stream->template, length);
	if (stream->has_stamp) /* whose words add up to nothing */
		memset(out + length - STAMP_OCTETS, 0, STAMP_OCTETS);
	for (uint32_t n = 0; n < stream->n_length_fields; n++) {
		const struct length_config *field = &stream->length_fields[n];

		store_big_endian(out + field->offset, length - field->less, field->octets);
	}
	for (uint32_t n = 0; n < stream->n_fields; n++)
		store_field(&stream->fields[n], i, out);
	for (uint32_t n = 0; n < stream->n_checksums; n++)
		store_checksum(&stream->checksums[n], out, length);
	return length;
}
