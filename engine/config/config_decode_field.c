/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FIELD: where a value stands in the frame, and which values it takes.
 *
 * Called by config_decode_stream.c; main thread, cold path.
 * JSON integers end at 2^63-1 here; the upper half of 64 bits is reached as negative.
 * Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include <inttypes.h>

#include "config/config_decode.h"

/* The values of a field, as far as JSON integers reach. */
static int64_t
value_min(uint32_t bits)
{
	return bits == 64 ? INT64_MIN : 0;
}

static int64_t
value_max(uint32_t bits)
{
	return bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}

#define FIELD struct field_config

static void
decode_steps(const struct cursor *at, void *out)
{
	struct field_config *field = out;
	int64_t max = value_max(field->bits), first = 0, step = 0;

	field->kind = FIELD_STEPS;
	cursor_get_int64(at, "first", value_min(field->bits), max, &first);
	cursor_get_int64(at, "step", field->bits == 64 ? INT64_MIN : -max, max, &step);
	field->first = (uint64_t)first;
	field->step = (uint64_t)step;
}

static void
decode_values(const struct cursor *at, void *out)
{
	struct field_config *field = out;
	struct cursor array;
	uint32_t n = cursor_get_array(at, "values", 1, CONFIG_VALUES_MAX, &array);

	field->kind = FIELD_VALUES;
	field->count = n;
	field->values = cursor_new_array(&array, n, sizeof(*field->values));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		int64_t value = 0;

		cursor_element_int64(&array, i, value_min(field->bits), value_max(field->bits),
				     &value);
		field->values[i] = (uint64_t)value;
	}
}

static void
decode_range(const struct cursor *at, void *out)
{
	struct field_config *field = out;
	int64_t least = 0, greatest = 0, seed = 0;

	field->kind = FIELD_RANDOM;
	cursor_get_int64(at, "min", value_min(field->bits), value_max(field->bits), &least);
	cursor_get_int64(at, "max", value_min(field->bits), value_max(field->bits), &greatest);
	cursor_get_int64(at, "seed", INT64_MIN, INT64_MAX, &seed);
	if ((uint64_t)least > (uint64_t)greatest)
		cursor_refuse(at, "max",
			      "%" PRIu64 " is below min, which is %" PRIu64 "; exchange them",
			      (uint64_t)greatest, (uint64_t)least);
	field->first = (uint64_t)least;
	field->range = (uint64_t)greatest - (uint64_t)least + 1; /* 0: all 2^64 */
	field->seed = (uint64_t)seed;
}

static void
decode_random(const struct cursor *at, void *out)
{
	static const struct option options[] = {
		OPTION_KEY("min"),         OPTION_KEY("max"),
		OPTION_KEY("seed"),        OPTION_UINT64(NEEDED, FIELD, count, 1, CONFIG_COUNT_MAX),
		OPTION_THEN(decode_range), OPTION_END,
	};
	const struct cursor random = cursor_child(at, "random");

	options_decode(&random, options, out);
}

/* How many octets the window has says how many bits and how far up they may be. */
static void
decode_bits(const struct cursor *at, void *out)
{
	struct field_config *field = out;

	field->bits = 8 * field->octets;
	if (cursor_has(at, "bits"))
		cursor_get_uint32(at, "bits", 1, 8 * field->octets, &field->bits);
	if (cursor_has(at, "shift"))
		cursor_get_uint32(at, "shift", 0, 8 * field->octets - field->bits, &field->shift);
	field->every = 1;
}

static const struct option window_options[] = {
	OPTION_UINT32(NEEDED, FIELD, offset, 0, CONFIG_TEMPLATE_OCTETS_MAX - 1),
	OPTION_UINT32(NEEDED, FIELD, octets, 1, 8),
	OPTION_KEY("shift"),
	OPTION_KEY("bits"),
	OPTION_THEN(decode_bits),
	OPTION_UINT64(MAY_LACK, FIELD, every, 1, CONFIG_EVERY_MAX),
	OPTION_END,
};

/* Whichever of the three kinds of values is there; the keys of the others are unknown then. */
static void
decode_field(const struct cursor *at, void *out)
{
	static const struct option steps[] = {
		OPTION_ROWS(window_options),
		OPTION_KEY("first"),
		OPTION_KEY("step"),
		OPTION_THEN(decode_steps),
		OPTION_UINT64(NEEDED, FIELD, count, 1, CONFIG_COUNT_MAX),
		OPTION_KEY("values"), /* which there might be instead */
		OPTION_KEY("random"),
		OPTION_END,
	};
	static const struct option values[] = {
		OPTION_ROWS(window_options),
		OPTION_BY("values", NEEDED, decode_values),
		OPTION_END,
	};
	static const struct option random[] = {
		OPTION_ROWS(window_options),
		OPTION_BY("random", NEEDED, decode_random),
		OPTION_END,
	};

	if (cursor_has(at, "values"))
		options_decode(at, values, out);
	else if (cursor_has(at, "random"))
		options_decode(at, random, out);
	else if (cursor_has(at, "first") || cursor_has(at, "step") || cursor_has(at, "count"))
		options_decode(at, steps, out);
	else
		cursor_refuse(at, NULL,
			      "it has no values; give it first, step and count, or values, or "
			      "random");
}

const struct option field_options[] = {OPTION_CHOICE(decode_field), OPTION_END};
