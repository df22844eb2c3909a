/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What most unit tests need: cmocka with the headers it wants first, repeatable random numbers, and
 * a way to keep a test of a defect that is not mended yet.
 *
 * Included by test_*.c only.
 */
#ifndef WR_TESTS_TEST_SUPPORT_H
#define WR_TESTS_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers in every run, from any seed. */
static inline uint64_t
random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
