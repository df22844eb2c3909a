/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. How a counter is written: a plain load and store, that readers in other processes see whole. */
#ifndef WR_COUNTERS_COUNTER_WRITE_H
#define WR_COUNTERS_COUNTER_WRITE_H

#include <stdint.h>

#include "counters/histogram.h"

/* The calling thread is the only writer of a counter. */
static inline void
counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void
counter_set(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

static inline void
counter_max(uint64_t *counter, uint64_t value)
{
	if (value > *counter)
		counter_set(counter, value);
}

static inline void
histogram_add(uint64_t *histogram, uint64_t value)
{
	counter_add(&histogram[histogram_bucket(value)], 1);
}

#endif
