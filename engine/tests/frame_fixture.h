/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of a template of random octets, its frames, and their bits.
 *
 * Included by test_frame_fields.c and test_frame_lengths.c, once each.
 */
#ifndef WR_TESTS_FRAME_FIXTURE_H
#define WR_TESTS_FRAME_FIXTURE_H

#include "tests/test_support.h"

#include "program/frame_render.h"

enum { OCTETS = 90 };

/* Frame i in a buffer whose end behind the frame is untouched. */
static uint32_t
render(const struct stream_config *stream, uint64_t i, uint8_t frame[OCTETS])
{
	uint32_t length;

	memset(frame, 0xa5, OCTETS);
	length = frame_render(stream, i, frame);
	assert_int_equal(length, frame_length(stream, i));
	for (uint32_t o = length; o < OCTETS; o++)
		assert_int_equal(frame[o], 0xa5);
	return length;
}

/* Bit n of a frame, counted from the first octet's highest: the way RFCs draw headers. */
static unsigned int
bit_at(const uint8_t *frame, uint32_t n)
{
	return frame[n / 8] >> (7 - n % 8) & 1;
}

/* n bits from there on, put together one by one. */
static uint64_t
bits_at(const uint8_t *frame, uint32_t first, uint32_t n)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < n; i++)
		value = 2 * value + bit_at(frame, first + i);
	return value;
}

static uint8_t template[OCTETS];

static struct stream_config
stream_of(struct field_config *fields, uint32_t n_fields)
{
	uint64_t random = 1;

	for (int i = 0; i < OCTETS; i++)
		template[i] = (uint8_t)random_next(&random);
	return (struct stream_config){.template = template,
				      .frame_len_no_fcs = OCTETS,
				      .fields = fields,
				      .n_fields = n_fields};
}

#endif
