/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histograms: a power of two of sub-buckets for each octave of values. What a reader makes of them is in
 * docs/design/0002-engine-interface.md, "Counters".
 */
#ifndef WR_COUNTERS_HISTOGRAM_H
#define WR_COUNTERS_HISTOGRAM_H

#include <stdint.h>

/* 32 sub-buckets per octave: a bucket is at most 3.2 % wide. Values are cycles, up to 2^36 (about 25 s). */
#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_OCTAVES 36
#define HISTOGRAM_WORDS ((HISTOGRAM_OCTAVES - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* Latency to 0.1 %: 1,024 sub-buckets per octave, up to 2^38 cycles (110 s at 2.5 GHz). */
#define LATENCY_SUB_BITS 10
#define LATENCY_OCTAVES 38
#define LATENCY_WORDS ((LATENCY_OCTAVES - LATENCY_SUB_BITS + 1) << LATENCY_SUB_BITS)

/* sub_bits and words are literals where this is used. */
static inline unsigned int
bucket_of(uint64_t value, const unsigned int sub_bits, const unsigned int words)
{
	unsigned int shift;
	uint64_t bucket;

	if (value < (2u << sub_bits))
		return (unsigned int)value;
	shift = 63u - (unsigned int)__builtin_clzll(value) - sub_bits;
	bucket = ((uint64_t)shift << sub_bits) + (value >> shift);
	return bucket < words ? (unsigned int)bucket : words - 1;
}

/* Bucket of value, in 0…HISTOGRAM_WORDS-1; values beyond the last octave fall into the last bucket. */
static inline unsigned int
histogram_bucket(uint64_t value)
{
	return bucket_of(value, HISTOGRAM_SUB_BITS, HISTOGRAM_WORDS);
}

/* The same for struct flow_counters' latency_cycles. */
static inline unsigned int
latency_bucket(uint64_t value)
{
	return bucket_of(value, LATENCY_SUB_BITS, LATENCY_WORDS);
}

#endif
