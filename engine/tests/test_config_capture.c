/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures and verifying tasks in a program: what is accepted, with which defaults, and what is refused.
 *
 * Run by `meson test`; pure. Source: docs/design/0005-measurement.md, "Receiving" and "Capturing".
 */
#include "tests/config_refusals.h"

static const char good_captures[] =
	"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
	" {\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 64, \"measure\": true,"
	"  \"verify\": true},"
	" {\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 1, \"burst\": 64},"
	" {\"kind\": \"forward\", \"port\": \"p1\", \"queue\": 0, \"burst\": 32,"
	"  \"to_port\": \"p2\", \"to_queue\": 3}]}],"
	" \"streams\": [], \"captures\": ["
	" {\"port\": \"p0\", \"path\": \"/a.pcapng\", \"format\": \"pcapng\","
	"  \"filter\": \"udp port 53\", \"frames\": 16777216, \"octets\": 16, \"overwrite\": true,"
	"  \"bad\": true},"
	" {\"port\": \"p1\", \"path\": \"/b.pcap\", \"format\": \"pcap\", \"frames\": 1}]}";

static void
everything_is_taken(void **state)
{
	json_t *params = load(good_captures);
	struct program_config config;
	struct error err = {0};
	const struct capture_config *captures;

	(void)state;
	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	assert_true(config.workers[0].tasks[0].verify);
	assert_false(config.workers[0].tasks[1].verify);
	assert_int_equal(config.n_captures, 2);
	captures = config.captures;
	assert_string_equal(captures[0].port, "p0");
	assert_string_equal(captures[0].path, "/a.pcapng");
	assert_string_equal(captures[0].filter, "udp port 53");
	assert_int_equal(captures[0].frames, 16777216);
	assert_int_equal(captures[0].octets, 16);
	assert_true(captures[0].pcapng && captures[0].overwrite && captures[0].bad);
	assert_string_equal(captures[1].filter, "");
	assert_int_equal(captures[1].octets, 16384);
	assert_false(captures[1].pcapng || captures[1].overwrite || captures[1].bad);
	config_free_program(&config);
	json_decref(params);
}

/* Bad frames are known to measuring tasks only. */
static void
tasks_that_are_captured(void **state)
{
	json_t *params = load(good_captures);
	struct program_config config;
	const struct task_config *tasks;

	(void)state;
	assert_int_equal(config_decode_program(params, &config, NULL), 0);
	tasks = config.workers[0].tasks;
	assert_true(config_task_captures(&tasks[0], &config.captures[0]));
	assert_false(config_task_captures(&tasks[1], &config.captures[0]));
	assert_false(config_task_captures(&tasks[2], &config.captures[0]));
	assert_true(config_task_captures(&tasks[2], &config.captures[1]));
	config.captures[0].bad = false;
	assert_true(config_task_captures(&tasks[1], &config.captures[0]));
	config_free_program(&config);
	json_decref(params);
}

static void
what_makes_no_sense_is_refused(void **state)
{
#define ONE "captures[0]."
	static const struct refusal rows[] = {
		{"captures", "{}", NULL, "array"},
		{ONE "port", "\"p9\"", NULL, "no rx task with measure"},
		{"captures[1].port", "\"p2\"", NULL, "no rx or forward task receives"},
		{ONE "port", NULL, NULL, "missing"},
		{ONE "path", "\"a.pcap\"", NULL, "no absolute path"},
		{ONE "path", NULL, NULL, "missing"},
		{ONE "format", "\"text\"", NULL, "no format of captures"},
		{ONE "format", "\"pcap\"", NULL, "it must be \"pcapng\""},
		{ONE "frames", "0", NULL, "0"},
		{ONE "frames", "16777217", NULL, "16777217"},
		{ONE "octets", "15", NULL, "15"},
		{ONE "octets", "16385", NULL, "16385"},
		{ONE "filter", "7", NULL, "a string"},
		{ONE "overwrite", "1", NULL, "1"},
		{ONE "bad", "1", NULL, "1"},
		{ONE "size", "1", NULL, "not known here"},
		{"captures[1].path", "\"/a.pcapng\"", NULL, "captures[0] is written to the same"},
		{"captures[1].port", "\"p0\"", "captures[1].frames", "shared by 2 tasks"},
		{"workers[0].tasks[0].measure", "false", "workers[0].tasks[0].verify",
		 "set measure to true"},
		{"workers[0].tasks[1].verify", "1", NULL, "1"},
		{"workers[0].tasks[2].verify", "true", NULL, "not known here"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_captures);
}

/* Nothing is received in a preview: the same params are taken, and no file is asked for. */
static void
previews_have_no_captures(void **state)
{
	json_t *params = load(good_captures);
	struct preview_config preview;
	struct program_config config;

	(void)state;
	put(params, "path", json_string("/preview.pcap"));
	put(params, "format", json_string("pcap"));
	put(params, "frames", json_integer(1));
	assert_int_equal(config_decode_preview(params, &config, &preview, NULL), 0);
	assert_int_equal(config.n_captures, 0);
	config_free_program(&config);
	config_free_preview(&preview);
	put(params, "captures[0].frames", json_integer(0));
	assert_int_equal(config_decode_preview(params, &config, &preview, NULL), ERROR_PARAMS);
	json_decref(params);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_taken),
		cmocka_unit_test(tasks_that_are_captured),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(previews_have_no_captures),
	};

	return cmocka_run_group_tests_name("config_capture", tests, NULL, NULL);
}
