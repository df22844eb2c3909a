/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_render.h"

#include <string.h>

#include "protocol/checksum.h"

static void
store_big_endian(uint8_t *out, uint64_t value, uint32_t octets)
{
	for (uint32_t i = octets; i > 0; i--) {
		out[i - 1] = (uint8_t)value;
		value >>= 8;
	}
}

static void
store_checksum(const struct checksum_config *config, uint8_t *frame)
{
	uint64_t sum = config->add;
	uint16_t checksum;

	store_big_endian(frame + config->offset, 0, 2);
	for (uint32_t i = 0; i < config->n_ranges; i++)
		sum += checksum_sum(frame + config->ranges[i].offset, config->ranges[i].octets);
	checksum = checksum_finish(sum);
	if (config->udp && checksum == 0)
		checksum = 0xffff; /* RFC 768: zero says that there is no checksum */
	store_big_endian(frame + config->offset, checksum, 2);
}

void
frame_render(const struct stream_config *stream, uint64_t i, uint8_t *out)
{
	memcpy(out, stream->template, stream->frame_len_no_fcs);
	for (uint32_t f = 0; f < stream->n_fields; f++) {
		const struct field_config *field = &stream->fields[f];

		store_big_endian(out + field->offset,
				 field->first + field->step * (i % field->count), field->octets);
	}
	for (uint32_t c = 0; c < stream->n_checksums; c++)
		store_checksum(&stream->checksums[c], out);
}
