/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config decoders: ramps, fields that keep a value for several frames, tasks that count flows.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0007-flows.md.
 */
#include <stdlib.h>

#include "tests/config_refusals.h"

static json_t *
with(const char *path, const char *value)
{
	json_t *params = load(good_program);

	put(params, path, load(value));
	return params;
}

static struct program_config
decoded(json_t *params)
{
	struct program_config config;
	struct error err = {0};

	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	json_decref(params);
	return config;
}

static void
ramps_decode(void **state)
{
	struct program_config config = decoded(load(good_program));
	const struct ramp_config *ramp;

	(void)state;
	assert_int_equal(config.streams[0].ramp.flows, 0);
	config_free_program(&config);
	config = decoded(with("streams[0].ramp", "{\"flows\": 7, \"per_second\": 0.5}"));
	ramp = &config.streams[0].ramp;
	assert_true(ramp->flows == 7 && ramp->start == 1 && !ramp->down);
	assert_true(ramp->per_second == 0.5);
	config_free_program(&config);
	config = decoded(with("streams[0].ramp",
			      "{\"flows\": 4294967296, \"per_second\": 1e12, \"start\": 4294967296,"
			      " \"hold_ns\": 0, \"down\": true}"));
	ramp = &config.streams[0].ramp;
	assert_true(ramp->flows == CONFIG_FLOWS_MAX && ramp->start == CONFIG_FLOWS_MAX);
	assert_true(ramp->hold_ns == 0 && ramp->down);
	config_free_program(&config);
	config = decoded(with("streams[0].ramp", "null"));
	assert_int_equal(config.streams[0].ramp.flows, 0);
	config_free_program(&config);
}

static void
refusals_of_ramps(void **state)
{
#define RAMP "{\"flows\": 7, \"per_second\": 2"
	static const struct refusal rows[] = {
		{"streams[0].ramp", "7", NULL, "must be an object"},
		{"streams[0].ramp", "{}", "streams[0].ramp.flows", "missing"},
		{"streams[0].ramp", "{\"flows\": 7}", "streams[0].ramp.per_second", "missing"},
		{"streams[0].ramp", RAMP ", \"up\": 1}", "streams[0].ramp.up",
		 "allowed: flows, per_second, start, hold_ns, down"},
		{"streams[0].ramp", RAMP ", \"start\": 0}", "streams[0].ramp.start", "from 1 to 7"},
		{"streams[0].ramp", RAMP ", \"start\": 8}", "streams[0].ramp.start", "from 1 to 7"},
		{"streams[0].ramp", RAMP ", \"down\": true}", "streams[0].ramp.down",
		 "give hold_ns as well"},
		{"streams[0].ramp", RAMP ", \"down\": true, \"hold_ns\": null}",
		 "streams[0].ramp.down", "give hold_ns as well"},
		{"streams[0].ramp", RAMP ", \"hold_ns\": -1}", "streams[0].ramp.hold_ns",
		 "it is -1"},
		{"streams[0].ramp", "{\"flows\": 4294967297, \"per_second\": 1}",
		 "streams[0].ramp.flows", "from 1 to 4294967296"},
		{"streams[0].ramp", "{\"flows\": 1, \"per_second\": 0}",
		 "streams[0].ramp.per_second", "it is 0"},
	};
	static const struct refusal of_features[] = {
		{"streams[0].ramp", RAMP "}", NULL, "the frames have 3 lengths"},
		{"streams[1].ramp", RAMP "}", NULL, "not known here"}, /* a trace */
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
	assert_all_refused(of_features, COUNT(of_features), decode_program, good_features);
}

static uint64_t
period_with(uint64_t every, uint64_t count)
{
	json_t *params = load(good_program);
	struct program_config config;
	uint64_t period;

	put(params, "streams[0].fields[0].every", json_integer((json_int_t)every));
	put(params, "streams[0].fields[0].count", json_integer((json_int_t)count));
	config = decoded(params);
	assert_true(config.streams[0].fields[0].every == every);
	assert_true(config.streams[0].fields[1].every == 1);
	period = config.streams[0].period;
	config_free_program(&config);
	return period;
}

/* Of 4 frames is the other field. */
static void
fields_repeat_after_every_times_count(void **state)
{
	(void)state;
	assert_int_equal(period_with(1, 6), 12);
	assert_int_equal(period_with(6, 6), 36);
	assert_int_equal(period_with(5, 3), 60);
	assert_int_equal(period_with(UINT64_C(1) << 32, 1), 4);
	assert_int_equal(period_with(1 << 10, 1 << 10), 1 << 20);
	assert_true(period_with((1 << 10) + 1, 1 << 10) == UINT64_MAX);
	assert_true(period_with(UINT64_C(1) << 32, CONFIG_COUNT_MAX) == UINT64_MAX);
	assert_true(period_with(UINT64_C(1) << 16, CONFIG_COUNT_MAX) == UINT64_MAX);
}

static void
flows_are_counted_where_asked(void **state)
{
	struct program_config config = decoded(load(good_program));

	(void)state;
	assert_int_equal(config.workers[0].tasks[0].distinct_max, 0);
	config_free_program(&config);
	config = decoded(with("workers[0].tasks[0].distinct_max", "16777216"));
	assert_int_equal(config.workers[0].tasks[0].distinct_max, CONFIG_DISTINCT_MAX);
	config_free_program(&config);
}

static void
refusals_of_the_others(void **state)
{
	static const struct refusal rows[] = {
		{"workers[0].tasks[0].distinct_max", "16777217", NULL, "from 0 to 16777216"},
		{"workers[0].tasks[0].distinct_max", "-1", NULL, "it is -1"},
		{"workers[0].tasks[1].distinct_max", "5", NULL, "not known here"},
		{"streams[0].fields[0].every", "0", NULL, "from 1 to 4294967296"},
		{"streams[0].fields[0].every", "4294967297", NULL, "from 1 to 4294967296"},
		{"streams[0].fields[0].every", "null", NULL, "it is null"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ramps_decode),
		cmocka_unit_test(refusals_of_ramps),
		cmocka_unit_test(fields_repeat_after_every_times_count),
		cmocka_unit_test(flows_are_counted_where_asked),
		cmocka_unit_test(refusals_of_the_others),
	};

	return cmocka_run_group_tests_name("config_ramp", tests, NULL, NULL);
}
