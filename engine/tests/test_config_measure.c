/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stamps, measuring and forwarding tasks in a program: what is accepted, with which defaults, and what is refused.
 *
 * Run by `meson test`; pure. Source: docs/design/0005-measurement.md.
 */
#include "tests/config_refusals.h"

#include "protocol/stamp.h"

/* 80 octets, so that there is room for a stamp behind octet 64. */
#define STAMPED_STREAM \
	"{\"name\": \"s0\", \"template\": \"" TEMPLATE TEN_OCTETS TEN_OCTETS \
	"\", \"fields\": [{\"offset\": 60, \"octets\": 4, \"first\": 0, \"step\": 1, \"count\": 9}]," \
	" \"checksums\": [], \"fps\": null, \"frames\": null, \"stamp\": 7}"

static const char good_measured[] =
	"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
	" {\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 64, \"measure\": true},"
	" {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32, \"stream\": \"s0\","
	"  \"part\": 0, \"parts\": 1},"
	" {\"kind\": \"forward\", \"port\": \"p1\", \"queue\": 0, \"burst\": 32,"
	"  \"to_port\": \"p2\", \"to_queue\": 3, \"rewrite\": \"reverse\", \"work_cycles\": 400,"
	"  \"drop\": 0.001, \"duplicate\": 0.5, \"reorder\": 1, \"delay_ns\": 1000000,"
	"  \"seed\": 9}]}],"
	" \"streams\": [" STAMPED_STREAM "], \"stamp_magic\": 4711}";

static void
everything_is_taken(void **state)
{
	json_t *params = load(good_measured);
	struct program_config config;
	struct error err = {0};
	const struct forward_config *forward;

	(void)state;
	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	assert_int_equal(config.stamp_magic, 4711);
	assert_true(config.streams[0].has_stamp);
	assert_int_equal(config.streams[0].stamp, 7);
	assert_true(config.workers[0].tasks[0].measure);
	assert_int_equal(config.workers[0].tasks[2].kind, TASK_FORWARD);
	forward = &config.workers[0].tasks[2].forward;
	assert_string_equal(forward->to_port, "p2");
	assert_int_equal(forward->to_queue, 3);
	assert_int_equal(forward->rewrite, REWRITE_REVERSE);
	assert_int_equal(forward->work_cycles, 400);
	assert_true(forward->drop == 0.001 && forward->duplicate == 0.5 && forward->reorder == 1);
	assert_int_equal(forward->delay_ns, 1000000);
	assert_int_equal(forward->seed, 9);
	config_free_program(&config);
	json_decref(params);
}

static void
defaults_are_those_of_the_contract(void **state)
{
	static const char text[] =
		"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
		" {\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 64},"
		" {\"kind\": \"forward\", \"port\": \"p1\", \"queue\": 0, \"burst\": 32,"
		"  \"to_port\": \"p1\", \"to_queue\": 0}]}], \"streams\": []}";
	json_t *params = load(text);
	struct program_config config;
	const struct forward_config *forward;

	(void)state;
	assert_int_equal(config_decode_program(params, &config, NULL), 0);
	forward = &config.workers[0].tasks[1].forward;
	assert_int_equal(config.stamp_magic, STAMP_MAGIC_DEFAULT);
	assert_false(config.workers[0].tasks[0].measure);
	assert_int_equal(forward->rewrite, REWRITE_NONE);
	assert_int_equal(forward->work_cycles, 0);
	assert_true(forward->drop == 0 && forward->duplicate == 0 && forward->reorder == 0);
	assert_int_equal(forward->delay_ns, 0);
	assert_int_equal(forward->seed, 1);
	config_free_program(&config);
	json_decref(params);
}

static void
what_makes_no_sense_is_refused(void **state)
{
#define TASK "workers[0].tasks[2]."
	static const struct refusal rows[] = {
		{"stamp_magic", "65536", NULL, "65536"},
		{"streams[0].stamp", "65535", NULL, "65535"},
		{"streams[0].receivers", "[]", NULL, "0 elements"},
		{"streams[0].receivers", "[7]", "streams[0].receivers[0]", "a string"},
		{"streams[0].receivers", "[\"\"]", "streams[0].receivers[0]", "1 to 31"},
		{"streams[0].fields[0].offset", "61", NULL, "the stamp begins at octet 64"},
		{"workers[0].tasks[0].measure", "1", NULL, "1"},
		{TASK "to_port", NULL, NULL, "missing"},
		{TASK "to_queue", "1024", NULL, "1024"},
		{TASK "rewrite", "\"swap\"", NULL, "\"swap\" is no way to rewrite frames"},
		{TASK "drop", "1.5", NULL, "1.5"},
		{TASK "duplicate", "-0.1", NULL, "-0.1"},
		{TASK "delay_ns", "1000000001", NULL, "1000000001"},
		{TASK "work_cycles", "1000000001", NULL, "1000000001"},
		{TASK "measure", "true", NULL, "not known here"},
		{TASK "stream", "\"s0\"", NULL, "not known here"},
		{TASK "port", "\"p0\"", TASK "queue",
		 "rx queue 0 of port \"p0\" is already served"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_measured);
}

static void
stamps_differ(void **state)
{
	static const char text[] =
		"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
		" {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32, \"stream\": \"s0\","
		"  \"part\": 0, \"parts\": 1},"
		" {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32, \"stream\": \"s1\","
		"  \"part\": 0, \"parts\": 1}]}], \"streams\": [" STAMPED_STREAM ", " STAMPED_STREAM
		"]}";
	json_t *params = load(text);
	struct error err = {0};

	(void)state;
	put(params, "streams[1].name", json_string("s1"));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "streams[1].stamp");
	assert_non_null(strstr(err.text, "7 is already a stamp of streams[0]"));
	put(params, "streams[1].stamp", json_integer(8));
	assert_int_equal(decode_program(params, NULL), 0);
	json_decref(params);
}

/* Each part has its own: those of two parts are 7 and 8. */
static void
parts_have_stamps_of_their_own(void **state)
{
	static const char text[] =
		"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
		" {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32, \"stream\": \"s0\","
		"  \"part\": 0, \"parts\": 2},"
		" {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 1, \"burst\": 32, \"stream\": \"s0\","
		"  \"part\": 1, \"parts\": 2},"
		" {\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32, \"stream\": \"s1\","
		"  \"part\": 0, \"parts\": 1}]}], \"streams\": [" STAMPED_STREAM ", " STAMPED_STREAM
		"]}";
	json_t *params = load(text);
	struct error err = {0};

	(void)state;
	put(params, "streams[1].name", json_string("s1"));
	put(params, "streams[1].stamp", json_integer(8));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "streams[1].stamp");
	assert_non_null(strstr(err.text, "8 is already a stamp of streams[0]"));
	put(params, "streams[1].stamp", json_integer(6));
	assert_int_equal(decode_program(params, NULL), 0);
	put(params, "streams[0].stamp", json_integer(65534));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_non_null(strstr(err.text, "65534 and those of 2 parts"));
	json_decref(params);
}

/* A forward task's Tx queue belongs to its worker, as every other. */
static void
queues_of_forward_tasks_are_theirs(void **state)
{
	static const char text[] =
		"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
		" {\"kind\": \"forward\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32,"
		"  \"to_port\": \"p1\", \"to_queue\": 0}]},"
		" {\"lcore\": 2, \"tasks\": ["
		" {\"kind\": \"forward\", \"port\": \"p1\", \"queue\": 0, \"burst\": 32,"
		"  \"to_port\": \"p1\", \"to_queue\": 0}]}], \"streams\": []}";
	json_t *params = load(text);
	struct error err = {0};

	(void)state;
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "workers[1].tasks[0].to_queue");
	assert_non_null(strstr(err.text, "put all tasks of a queue in one worker"));
	put(params, "workers[1].tasks[0].to_queue", json_integer(1));
	assert_int_equal(decode_program(params, NULL), 0);
	json_decref(params);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_taken),
		cmocka_unit_test(defaults_are_those_of_the_contract),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(stamps_differ),
		cmocka_unit_test(parts_have_stamps_of_their_own),
		cmocka_unit_test(queues_of_forward_tasks_are_theirs),
	};

	return cmocka_run_group_tests_name("config_measure", tests, NULL, NULL);
}
