/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, units and meanings of every word of every block: what the segment says about itself. */
#ifndef WR_COUNTERS_COUNTERS_WORDS_H
#define WR_COUNTERS_COUNTERS_WORDS_H

#include <stdint.h>

#include "counters/counters.h"

struct counters_word {
	const char *name;
	const char *unit;
	uint32_t word;     /* index of the first 64-bit word in the block */
	uint32_t words;    /* 1, or the buckets of a histogram */
	uint32_t sub_bits; /* of a histogram, else 0 */
	const char *meaning;
};

struct counters_layout {
	const char *kind;
	uint32_t octets; /* of a block */
	const struct counters_word *words;
	uint32_t word_count;
};

/* Indexed by enum counters_kind; static storage. */
extern const struct counters_layout counters_layouts[COUNTERS_KINDS];

#endif
