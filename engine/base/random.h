/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that a seed repeats. Pure. */
#ifndef WR_BASE_RANDOM_H
#define WR_BASE_RANDOM_H

#include <stdint.h>

/* 2^64 divided by the golden ratio, and two odd factors: splitmix64's constants. */
#define SPLITMIX64_GAMMA UINT64_C(0x9e3779b97f4a7c15)
#define SPLITMIX64_FACTOR_A UINT64_C(0xbf58476d1ce4e5b9)
#define SPLITMIX64_FACTOR_B UINT64_C(0x94d049bb133111eb)

/*
 * Output k, from 0, of splitmix64 seeded with seed, without the ones before (Steele, Lea, Flood:
 * Fast splittable pseudorandom number generators, 2014).
 */
static inline uint64_t
splitmix64(uint64_t seed, uint64_t k)
{
	uint64_t z = seed + (k + 1) * SPLITMIX64_GAMMA;

	z = (z ^ z >> 30) * SPLITMIX64_FACTOR_A;
	z = (z ^ z >> 27) * SPLITMIX64_FACTOR_B;
	return z ^ z >> 31;
}

#endif
