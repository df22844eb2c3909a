/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic that C's library lacks. Pure. */
#ifndef WR_BASE_NUMBERS_H
#define WR_BASE_NUMBERS_H

#include <stdint.h>

/* Euclid's; of a and 0 it is a. */
static inline uint64_t
greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
