/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histogram buckets and single-writer counters.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "Counters".
 */
#include "tests/test_support.h"

#include "counters/counters.h"

#define LIMIT \
	(UINT64_C(1) << HISTOGRAM_OCTAVES) /* [cycles] the first value beyond the last bucket */

/* The contract's words, with the highest bit found by counting. */
static uint64_t
contract_bucket(uint64_t value, unsigned int sub_bits)
{
	unsigned int highest = 0;

	if (value < UINT64_C(2) << sub_bits)
		return value;
	for (uint64_t rest = value; rest > 1; rest /= 2)
		highest++;
	return ((uint64_t)(highest - sub_bits) << sub_bits) + (value >> (highest - sub_bits));
}

/* The least value of a bucket, found by bisection on histogram_bucket() itself. */
static uint64_t
lower_bound(unsigned int bucket)
{
	uint64_t low = 0, high = LIMIT;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (histogram_bucket(middle) < bucket)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
buckets_follow_the_contract(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint64_t value = 0; value < 1 << 20; value++)
		assert_int_equal(histogram_bucket(value),
				 contract_bucket(value, HISTOGRAM_SUB_BITS));
	for (unsigned int i = 0; i < 1000000; i++) {
		uint64_t value = random_next(&seed) % LIMIT >> i % HISTOGRAM_OCTAVES;

		assert_int_equal(histogram_bucket(value),
				 contract_bucket(value, HISTOGRAM_SUB_BITS));
	}
}

static void
buckets_are_contiguous(void **state)
{
	unsigned int before = 0;

	(void)state;
	for (uint64_t value = 1; value < 1 << 22; value++) {
		unsigned int bucket = histogram_bucket(value);

		assert_true(bucket == before || bucket == before + 1);
		before = bucket;
	}
	for (unsigned int bucket = 1; bucket < HISTOGRAM_WORDS; bucket++) {
		uint64_t low = lower_bound(bucket);

		assert_int_equal(histogram_bucket(low), bucket);
		assert_int_equal(histogram_bucket(low - 1), bucket - 1);
	}
}

static void
buckets_are_at_most_a_32nd_wide(void **state)
{
	(void)state;
	for (unsigned int bucket = 0; bucket + 1 < HISTOGRAM_WORDS; bucket++) {
		uint64_t low = lower_bound(bucket), width = lower_bound(bucket + 1) - low;

		assert_true(width == 1 || width * 32 <= low);
	}
}

static void
last_bucket_takes_the_rest(void **state)
{
	(void)state;
	assert_int_equal(HISTOGRAM_WORDS, 1024);
	assert_int_equal(histogram_bucket(0), 0);
	assert_int_equal(histogram_bucket(LIMIT - 1), HISTOGRAM_WORDS - 1);
	assert_int_equal(histogram_bucket(LIMIT), HISTOGRAM_WORDS - 1);
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_WORDS - 1);
	assert_int_equal(histogram_bucket(LIMIT - (LIMIT >> 6) - 1), HISTOGRAM_WORDS - 2);
	for (unsigned int bit = HISTOGRAM_OCTAVES; bit < 64; bit++)
		assert_int_equal(histogram_bucket(UINT64_C(1) << bit), HISTOGRAM_WORDS - 1);
}

static void
adding_counts_each_value_once(void **state)
{
	static struct tx_counters counters;
	uint64_t seed = 2, sum = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++)
		histogram_add(counters.burst_cycles, random_next(&seed) >> i % 64);
	for (unsigned int i = 0; i < HISTOGRAM_WORDS; i++) {
		sum += counters.burst_cycles[i];
		assert_int_equal(counters.lateness_cycles[i], 0); /* the neighbour */
	}
	assert_int_equal(sum, 100000);
	histogram_add(counters.lateness_cycles, UINT64_MAX);
	assert_int_equal(counters.lateness_cycles[HISTOGRAM_WORDS - 1], 1);
}

static void
counters_add_set_and_keep_the_greatest(void **state)
{
	uint64_t counter = 5;

	(void)state;
	counter_add(&counter, 7);
	assert_int_equal(counter, 12);
	counter_max(&counter, 11);
	assert_int_equal(counter, 12);
	counter_max(&counter, 13);
	assert_int_equal(counter, 13);
	counter_set(&counter, UINT64_MAX);
	counter_add(&counter, 2); /* words wrap */
	assert_int_equal(counter, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_follow_the_contract),
		cmocka_unit_test(buckets_are_contiguous),
		cmocka_unit_test(buckets_are_at_most_a_32nd_wide),
		cmocka_unit_test(last_bucket_takes_the_rest),
		cmocka_unit_test(adding_counts_each_value_once),
		cmocka_unit_test(counters_add_set_and_keep_the_greatest),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
