/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and tasks of the descriptor loop: what is accepted, with which defaults, and what is refused.
 *
 * Run by `meson test`; pure. Source: docs/design/0006-descriptor-loop.md.
 */
#include "tests/config_refusals.h"

#define PORT_KEYS \
	"\"location\": \"null:x\", \"rx_queues\": 0, \"rx_descriptors\": 0, \"mbufs\": 0," \
	" \"frame_size_max\": 1518, \"promiscuous\": true, \"tx_queues\": 1"
#define SCHEDULE "\"fps\": null, \"frames\": null}"

static const char loop_ports[] =
	"{\"ports\": [{\"name\": \"p0\", \"tx_descriptors\": 0, \"tx_loop_frames\": 200, " PORT_KEYS
	"}, {\"name\": \"p1\", \"tx_descriptors\": 512, " PORT_KEYS "}]}";

static const char good_loop[] =
	"{\"workers\": [{\"lcore\": 1, \"tasks\": ["
	" {\"kind\": \"loop\", \"port\": \"p0\", \"queue\": 0, \"stream\": \"s0\"},"
	" {\"kind\": \"loop\", \"port\": \"p0\", \"queue\": 1, \"stream\": \"s1\"},"
	" {\"kind\": \"tx\", \"port\": \"p1\", \"queue\": 0, \"burst\": 32, \"stream\": \"s2\","
	"  \"part\": 0, \"parts\": 1}]}],"
	" \"streams\": [{\"name\": \"s0\", \"template\": \"" TEMPLATE
	"\", \"fields\": [], \"checksums\": [], " SCHEDULE ", {\"name\": \"s1\", \"trace\":"
	" {\"path\": \"/x.pcap\", \"overwrite\": [], \"speed\": null}, " SCHEDULE
	", {\"name\": \"s2\", \"template\": \"" TEMPLATE
	"\", \"fields\": [], \"checksums\": [], " SCHEDULE "]}";

static int
decode_ports(const json_t *params, struct error *err)
{
	struct ports_config config;
	int rc = config_decode_ports(params, &config, err);

	config_free_ports(&config);
	return rc;
}

static void
ports_are_taken(void **state)
{
	json_t *params = load(loop_ports);
	struct ports_config config;

	(void)state;
	assert_int_equal(config_decode_ports(params, &config, NULL), 0);
	assert_int_equal(config.ports[0].tx_loop_frames, 200);
	assert_int_equal(config.ports[1].tx_loop_frames, 0);
	config_free_ports(&config);
	json_decref(params);
}

static void
tasks_are_taken(void **state)
{
	json_t *params = load(good_loop);
	struct program_config config;
	struct error err = {0};
	const struct task_config *task;

	(void)state;
	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	task = &config.workers[0].tasks[1];
	assert_int_equal(task->kind, TASK_LOOP);
	assert_int_equal(task->stream_index, 1);
	assert_int_equal(task->parts, 1);
	assert_int_equal(task->part, 0);
	assert_int_equal(config.streams[1].parts, 1);
	config_free_program(&config);
	json_decref(params);
}

static void
ports_that_make_no_sense_are_refused(void **state)
{
	static const struct refusal rows[] = {
		{"ports[0].tx_loop_frames", "65537", NULL, "65536"},
		{"ports[0].tx_loop_frames", "-1", NULL, "-1"},
		{"ports[0].tx_loop_frames", "\"200\"", NULL, "200"},
		{"ports[0].tx_descriptors", "1000", NULL, "leave it at 0"},
		{"ports[0].tx_queues", "0", "ports[0].tx_loop_frames", "without Tx queues"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_ports, loop_ports);
}

static void
tasks_that_make_no_sense_are_refused(void **state)
{
#define TASK "workers[0].tasks[0]."
	static const struct refusal rows[] = {
		{TASK "kind", "\"ring\"", NULL, "\"loop\" or \"bridge\""},
		{TASK "burst", "32", NULL, "not known here"},
		{TASK "part", "0", NULL, "not known here"},
		{TASK "stream", NULL, NULL, "missing"},
		{TASK "stream", "\"s9\"", NULL, "there is no stream"},
		{TASK "stream", "\"s1\"", "streams[0].name", "no tx task sends"},
		{TASK "queue", "1", "workers[0].tasks[1].queue", "a loop needs a queue of its own"},
		{"workers[0].tasks[2].port", "\"p0\"", "workers[0].tasks[2].queue", "of its own"},
		{"streams[0].stamp", "0", NULL, "has stamps"},
		{"streams[1].trace.speed", "1.0", NULL, "the trace's own times"},
		{"streams[0].fields",
		 "[{\"offset\": 20, \"octets\": 4, \"first\": 0, \"step\": 1, \"count\": 65537}]",
		 NULL, "more different frames"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_loop);
}

static void
bursts_are_refused(void **state)
{
	json_t *params = load(good_loop);
	struct error err = {0};

	(void)state;
	put(params, "streams[0].fps", json_real(1000.0));
	put(params, "streams[0].burst", json_pack("{s:i, s:f}", "frames", 10, "gap_ns", 5.0));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "streams[0].burst");
	json_decref(params);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_are_taken),
		cmocka_unit_test(tasks_are_taken),
		cmocka_unit_test(ports_that_make_no_sense_are_refused),
		cmocka_unit_test(tasks_that_make_no_sense_are_refused),
		cmocka_unit_test(bursts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
