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

static void
decode_steps(const struct cursor *at, struct field_config *field)
{
	int64_t max = value_max(field->bits), first = 0, step = 0;

	field->kind = FIELD_STEPS;
	cursor_get_int64(at, "first", value_min(field->bits), max, &first);
	cursor_get_int64(at, "step", field->bits == 64 ? INT64_MIN : -max, max, &step);
	cursor_get_uint64(at, "count", 1, CONFIG_COUNT_MAX, &field->count);
	field->first = (uint64_t)first;
	field->step = (uint64_t)step;
}

static void
decode_values(const struct cursor *at, struct field_config *field)
{
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
decode_random(const struct cursor *at, struct field_config *field)
{
	static const char *const keys[] = {"min", "max", "seed", "count", NULL};
	const struct cursor random = cursor_child(at, "random");
	int64_t least = 0, greatest = 0, seed = 0;

	field->kind = FIELD_RANDOM;
	cursor_closed_object(&random, keys);
	cursor_get_int64(&random, "min", value_min(field->bits), value_max(field->bits), &least);
	cursor_get_int64(&random, "max", value_min(field->bits), value_max(field->bits), &greatest);
	cursor_get_int64(&random, "seed", INT64_MIN, INT64_MAX, &seed);
	cursor_get_uint64(&random, "count", 1, CONFIG_COUNT_MAX, &field->count);
	if ((uint64_t)least > (uint64_t)greatest)
		cursor_refuse(&random, "max",
			      "%" PRIu64 " is below min, which is %" PRIu64 "; exchange them",
			      (uint64_t)greatest, (uint64_t)least);
	field->first = (uint64_t)least;
	field->range = (uint64_t)greatest - (uint64_t)least + 1; /* 0: all 2^64 */
	field->seed = (uint64_t)seed;
}

/* Whichever of the three kinds of values is there; the keys of the others are unknown then. */
static void
decode_kind(const struct cursor *at, struct field_config *field)
{
	static const char *const steps_keys[] = {
		"offset", "octets", "shift", "bits", "every", "first", "step", "count", NULL,
	};
	static const char *const values_keys[] = {
		"offset", "octets", "shift", "bits", "every", "values", NULL,
	};
	static const char *const random_keys[] = {
		"offset", "octets", "shift", "bits", "every", "random", NULL,
	};

	if (cursor_has(at, "values")) {
		cursor_closed_object(at, values_keys);
		decode_values(at, field);
	} else if (cursor_has(at, "random")) {
		cursor_closed_object(at, random_keys);
		decode_random(at, field);
	} else if (cursor_has(at, "first") || cursor_has(at, "step") || cursor_has(at, "count")) {
		cursor_closed_object(at, steps_keys);
		decode_steps(at, field);
	} else
		cursor_refuse(at, NULL,
			      "it has no values; give it first, step and count, or values, or "
			      "random");
}

void
config_decode_field(const struct cursor *at, struct field_config *field)
{
	static const char *const any_keys[] = {
		"offset", "octets", "shift",  "bits",   "every", "first",
		"step",   "count",  "values", "random", NULL,
	};

	cursor_closed_object(at, any_keys);
	cursor_get_uint32(at, "offset", 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &field->offset);
	cursor_get_uint32(at, "octets", 1, 8, &field->octets);
	field->bits = 8 * field->octets;
	if (cursor_has(at, "bits"))
		cursor_get_uint32(at, "bits", 1, 8 * field->octets, &field->bits);
	if (cursor_has(at, "shift"))
		cursor_get_uint32(at, "shift", 0, 8 * field->octets - field->bits, &field->shift);
	field->every = 1;
	if (cursor_has(at, "every"))
		cursor_get_uint64(at, "every", 1, CONFIG_EVERY_MAX, &field->every);
	decode_kind(at, field);
}
