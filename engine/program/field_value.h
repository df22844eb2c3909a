/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The value of a field in frame i: FIELD in docs/design/0002-engine-interface.md. Pure, any thread.
 */
#ifndef WR_PROGRAM_FIELD_VALUE_H
#define WR_PROGRAM_FIELD_VALUE_H

#include <stdint.h>

#include "base/random.h"
#include "config/stream_config.h"

/* The lowest `bits` bits, 1…64 of them. */
static inline uint64_t
field_mask(uint32_t bits)
{
	return UINT64_MAX >> (64 - bits);
}

/* The value in frame i, below 2^field->bits. The configuration must be checked. */
static inline uint64_t
field_value(const struct field_config *field, uint64_t i)
{
	uint64_t k = i / field->every % field->count;
	uint64_t value;

	if (field->kind == FIELD_VALUES)
		value = field->values[k];
	else if (field->kind == FIELD_STEPS)
		value = field->first + field->step * k;
	else if (field->range == 0)
		value = splitmix64(field->seed, k);
	else
		value = field->first +
			(uint64_t)((unsigned __int128)splitmix64(field->seed, k) * field->range >>
				   64);
	return value & field_mask(field->bits);
}

#endif
