/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config decoders: what is wrong is refused, with its path and its value.
 *
 * Run by `meson test`, no DPDK. A refusal is a row: change one thing in a good document, expect
 * this path and these words. Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <stdlib.h>

#include "tests/config_refusals.h"

#define LETTERS_32 "abcdefghijklmnopqrstuvwxyzabcdef"

static int
decode_ports(const json_t *params, struct error *err)
{
	struct ports_config config;
	int rc = config_decode_ports(params, &config, err);

	if (rc < 0)
		assert_true(config.ports == NULL && config.n_ports == 0);
	config_free_ports(&config);
	return rc;
}

static int
decode_start(const json_t *params, struct error *err)
{
	struct start_config config;

	return config_decode_start(params, &config, err);
}

static int
decode_preview(const json_t *params, struct error *err)
{
	struct program_config program;
	struct preview_config config;
	int rc = config_decode_preview(params, &program, &config, err);

	if (rc < 0)
		assert_true(program.workers == NULL && program.streams == NULL &&
			    config.path == NULL);
	config_free_program(&program);
	config_free_preview(&config);
	return rc;
}

static void
refusals_of_ports(void **state)
{
	static const struct refusal rows[] = {
		{NULL, "[]", "params", "an array; it must be an object"},
		{NULL, "3", "params", "it is 3"},
		{NULL, "{}", "ports", "missing"},
		{NULL, "{\"ports\": []}", "ports", "0 elements; it must have 1 to 64"},
		{NULL, "{\"ports\": {}}", "ports", "an object; it must be an array"},
		{NULL, "{\"ports\": [null]}", "ports[0]", "null; it must be an object"},
		{"extra", "1", NULL, "\"extra\" is not known here; allowed: ports"},
		{"ports[1].extra", "1", NULL, "\"extra\" is not known here; allowed: name, loc"},
		{"ports[0].name", NULL, NULL, "missing"},
		{"ports[0].location", NULL, NULL, "missing"},
		{"ports[0].rx_queues", NULL, NULL, "missing"},
		{"ports[0].tx_queues", NULL, NULL, "missing"},
		{"ports[0].rx_descriptors", NULL, NULL, "missing"},
		{"ports[0].tx_descriptors", NULL, NULL, "missing"},
		{"ports[0].mbufs", NULL, NULL, "missing"},
		{"ports[0].frame_size_max", NULL, NULL, "missing"},
		{"ports[0].promiscuous", NULL, NULL, "missing"},
		{"ports[0].name", "7", NULL, "it is 7; it must be a string"},
		{"ports[0].name", "\"\"", NULL, "has 0 octets; it must have 1 to 31"},
		{"ports[0].name", "\"" LETTERS_32 "\"", NULL, "has 32 octets"},
		{"ports[0].name", "\"a\\nb\"", NULL, "\"a?b\" has a control character"},
		{"ports[0].name", "\"a\\u007f\"", NULL, "control character"},
		{"ports[0].location", "\"\"", NULL, "0 octets; it must have 1 to 255"},
		{"ports[0].location", "null", NULL, "it is null; it must be a string"},
		{"ports[0].rx_queues", "1025", NULL,
		 "it is 1025; it must be an integer from 0 to 1024"},
		{"ports[0].rx_queues", "-1", NULL, "it is -1"},
		{"ports[0].rx_queues", "1.0", NULL, "it is 1; it must be an integer"},
		{"ports[0].rx_queues", "true", NULL, "it is true"},
		{"ports[0].rx_queues", "\"1\"", NULL, "it is the string \"1\""},
		{"ports[0].rx_queues", "4294967297", NULL, "it is 4294967297"},
		{"ports[0].tx_queues", "9223372036854775807", NULL, "it is 9223372036854775807"},
		{"ports[0].rx_descriptors", "-1", NULL, "from 0 to 65535"},
		{"ports[0].rx_descriptors", "65536", NULL, "from 0 to 65535"},
		{"ports[0].tx_descriptors", "1.5", NULL, "from 0 to 65535"},
		{"ports[1].tx_descriptors", "65536", NULL, "from 0 to 65535"},
		{"ports[0].mbufs", "0", NULL, "from 1 to 16777216"},
		{"ports[0].mbufs", "16777217", NULL, "from 1 to 16777216"},
		{"ports[0].frame_size_max", "63", NULL, "from 64 to 16384"},
		{"ports[0].frame_size_max", "16385", NULL, "from 64 to 16384"},
		{"ports[0].promiscuous", "1", NULL, "it is 1; it must be true or false"},
		{"ports[0].offloads", "true", NULL, "it is true; it must be an object"},
		{"ports[0].offloads", "{\"checksums\": 1, \"segments\": false}",
		 "ports[0].offloads.checksums", "it is 1; it must be true or false"},
		{"ports[0].offloads", "{\"tso\": true}", "ports[0].offloads.tso",
		 "\"tso\" is not known here; allowed: checksums, segments"},
		{"ports[1].name", "\"p0\"", NULL, "\"p0\" is already the name of ports[0]"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_ports, good_ports);
}

static void
refusals_of_workers(void **state)
{
	static const struct refusal rows[] = {
		{NULL, "null", "params", "it must be an object"},
		{"workers", NULL, NULL, "missing"},
		{"workers", "[]", NULL, "0 elements; it must have 1 to 256"},
		{"extra", "1", NULL, "allowed: workers, streams"},
		{"workers[0]", "[]", NULL, "an array; it must be an object"},
		{"workers[0].core", "1", NULL, "allowed: lcore, sleep_ns, tasks"},
		{"workers[0].lcore", NULL, NULL, "missing"},
		{"workers[0].lcore", "1024", NULL, "from 0 to 1023"},
		{"workers[1].lcore", "1", NULL, "lcore 1 is already used by workers[0]"},
		{"workers[0].sleep_ns", "-1", NULL, "it is -1; it must be an integer from 0"},
		{"workers[0].sleep_ns", "5000001", NULL, "from 0 to 5000000"},
		{"workers[0].sleep_ns", "null", NULL, "it is null"},
		{"workers[0].tasks", NULL, NULL, "missing"},
		{"workers[0].tasks", "[]", NULL, "0 elements; it must have 1 to 65536"},
		{"workers[0].tasks", "\"x\"", NULL, "must be an array"},
		{"workers[0].tasks[0]", "5", NULL, "must be an object"},
		{"workers[0].tasks[0].kind", NULL, NULL, "missing"},
		{"workers[0].tasks[0].kind", "\"mirror\"", NULL, "\"mirror\" is no kind of task"},
		{"workers[0].tasks[0].stream", "\"s0\"", NULL, "allowed: kind, port, queue, burst"},
		{"workers[0].tasks[1].strem", "\"s0\"", NULL, "allowed: kind, port"},
		{"workers[0].tasks[0].port", NULL, NULL, "missing"},
		{"workers[0].tasks[0].port", "\"" LETTERS_32 "\"", NULL, "32 octets"},
		{"workers[0].tasks[0].queue", NULL, NULL, "missing"},
		{"workers[0].tasks[0].queue", "1024", NULL, "from 0 to 1023"},
		{"workers[0].tasks[0].burst", NULL, NULL, "missing"},
		{"workers[0].tasks[0].burst", "0", NULL, "from 1 to 512"},
		{"workers[0].tasks[0].burst", "513", NULL, "from 1 to 512"},
		{"workers[0].tasks[1].stream", NULL, NULL, "missing"},
		{"workers[0].tasks[1].stream", "\"s2\"", NULL, "there is no stream \"s2\""},
		{"workers[0].tasks[1].part", NULL, NULL, "missing"},
		{"workers[0].tasks[1].part", "2", NULL,
		 "it is 2; it must be an integer from 0 to 1"},
		{"workers[0].tasks[1].parts", NULL, NULL, "missing"},
		{"workers[0].tasks[1].parts", "0", NULL, "from 1 to 65536"},
		{"workers[0].tasks[1].parts", "65537", NULL, "from 1 to 65536"},
		/* task [0][1] is part 1, [1][0] part 0 of stream s1 */
		{"workers[0].tasks[1].parts", "3", NULL,
		 "3 parts here, but 2 in workers[1].tasks[0]"},
		{"workers[0].tasks[1].part", "0", "workers[1].tasks[0].part",
		 "part 0 of stream \"s1\" is already sent by workers[0].tasks[1]"},
		{"workers[0].tasks[2].parts", "2", NULL,
		 "\"s0\" has 2 parts, but only 1 of them have a task"},
		{"workers[0].tasks[2].stream", "\"s1\"", "streams[0].name", "no tx task sends"},
		{"streams[1]",
		 "{\"name\": \"s1\", \"template\": \"" TEMPLATE
		 "\", \"fields\": [], \"checksums\": [],"
		 " \"fps\": 1, \"frames\": null, \"burst\": {\"frames\": 2, \"gap_ns\": 0}}",
		 "streams[1].burst",
		 "stream \"s1\" is sent in 2 parts; with a burst it must be one"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
}

/* A queue belongs to one worker per direction, and sends a stream once. */
static void
refusals_of_queues(void **state)
{
	static const char other_worker[] = "put all tasks of a queue in one worker";
	static const struct refusal rows[] = {
		{"workers[1].tasks[0].port", "\"p0\"", "workers[1].tasks[0].queue",
		 "tx queue 0 of port \"p0\" is already served by workers[0].tasks[1]"},
		{"workers[1].tasks[0].port", "\"p0\"", "workers[1].tasks[0].queue", other_worker},
		{"workers[0].tasks[3]",
		 "{\"kind\": \"tx\", \"port\": \"p1\", \"queue\": 0, \"burst\": 1,"
		 " \"stream\": \"s0\", \"part\": 0, \"parts\": 1}",
		 "workers[1].tasks[0].queue", other_worker},
		{"workers[0].tasks[3]",
		 "{\"kind\": \"tx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 1,"
		 " \"stream\": \"s1\", \"part\": 0, \"parts\": 2}",
		 "workers[0].tasks[3].queue",
		 "tx queue 0 of port \"p0\" already sends stream \"s1\" in workers[0].tasks[1]; give "
		 "each part its own queue"},
		{"workers[1].tasks[1]",
		 "{\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 1}",
		 "workers[1].tasks[1].queue", "rx queue 0 of port \"p0\" is already served by"},
		{"workers[0].tasks[3]",
		 "{\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 64}",
		 "workers[0].tasks[3].queue",
		 "rx queue 0 of port \"p0\" is already served by workers[0].tasks[0]; give each"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
}

static void
refusals_of_previews(void **state)
{
	static const struct refusal rows[] = {
		{"extra", "1", NULL,
		 "allowed: workers, streams, stamp_magic, captures, rings, path, format, frames"},
		{"path", NULL, NULL, "missing"},
		{"path", "\"\"", NULL, "has 0 octets; it must have 1 to 4095"},
		{"path", "\"out.pcap\"", NULL, "\"out.pcap\" is no absolute path; begin it with"},
		{"path", "\"/a\\nb\"", NULL, "control character"},
		{"path", "1", NULL, "it is 1; it must be a string"},
		{"format", NULL, NULL, "missing"},
		{"format", "\"erf\"", NULL,
		 "\"erf\" is no format of captures; it must be \"pcap\" or \"pcapng\""},
		{"frames", NULL, NULL, "missing"},
		{"frames", "null", NULL, "it is null"},
		{"frames", "0", NULL, "from 1 to 16777216"},
		{"frames", "16777217", NULL, "from 1 to 16777216"},
		{"workers", NULL, NULL, "missing"},
		{"streams[0].fps", "-1", NULL, "it is -1"},
		{"streams[1].name", "\"f0\"", NULL, "already the name of streams[0]"},
	};
	json_t *good = load(good_features), *preview;
	char *text;

	(void)state;
	preview = json_pack("{s:s, s:s, s:i}", "path", "/p.pcap", "format", "pcap", "frames", 9);
	json_object_update(good, preview);
	text = json_dumps(good, 0);
	assert_int_equal(decode_preview(good, NULL), 0);
	assert_all_refused(rows, COUNT(rows), decode_preview, text);
	free(text);
	json_decref(preview);
	json_decref(good);
}

static void
refusals_of_start(void **state)
{
	static const struct refusal rows[] = {
		{NULL, "[]", "params", "must be an object"},
		{"duration", "1", NULL, "allowed: duration_ns"},
		{"duration_ns", "0", NULL, "it is 0"},
		{"duration_ns", "null", NULL, "it is null"},
		{"duration_ns", "1e9", NULL, "it is 1e+09; it must be an integer"},
		{"duration_ns", "31622400000000001", NULL, "from 1 to 31622400000000000"},
	};
	const struct refusal nothing = {"x", "1", NULL, "allowed: no key at all"};
	const struct refusal no_object = {NULL, "\"x\"", "params", "must be an object"};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_start, "{}");
	assert_refused(&nothing, config_decode_nothing, "{}");
	assert_refused(&no_object, config_decode_nothing, "{}");
}

/* Arrays beyond the limits are refused before anything is allocated for them. */
static void
refusals_of_long_arrays(void **state)
{
	static const struct {
		const char *good, *path;
		uint32_t max;
	} rows[] = {
		{good_program, "workers", CONFIG_WORKERS_MAX},
		{good_program, "workers[0].tasks", CONFIG_TASKS_MAX},
		{good_program, "streams", CONFIG_STREAMS_MAX},
		{good_program, "streams[0].fields", CONFIG_FIELDS_MAX},
		{good_program, "streams[0].checksums", CONFIG_CHECKSUMS_MAX},
		{good_features, "streams[0].lengths", CONFIG_PERIOD_MAX},
		{good_features, "streams[0].length_fields", CONFIG_LENGTH_FIELDS_MAX},
		{good_features, "streams[0].fields[0].values", CONFIG_VALUES_MAX},
		{good_features, "streams[1].trace.overwrite", CONFIG_OVERWRITES_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = load(rows[i].good), *array = json_array();
		struct error err = {0};

		for (uint32_t n = 0; n <= rows[i].max; n++)
			json_array_append_new(array, json_null());
		put(params, rows[i].path, array);
		assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
		assert_string_equal(err.path, rows[i].path);
		json_decref(params);
	}
}

static void
hostile_keys_make_clean_errors(void **state)
{
	json_t *params = json_object(), *encoded;
	char key[401];
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(key); i += 2)
		memcpy(key + i, "\xc3\xa9", 2);
	key[400] = '\0';
	json_object_set_new(params, key, json_null());
	assert_int_equal(config_decode_nothing(params, &err), ERROR_PARAMS);
	encoded = json_string(err.path);
	assert_non_null(encoded);
	json_decref(encoded);
	encoded = json_string(err.text);
	assert_non_null(encoded);
	json_decref(encoded);
	json_decref(params);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_of_ports),
		cmocka_unit_test(refusals_of_workers),
		cmocka_unit_test(refusals_of_queues),
		cmocka_unit_test(refusals_of_previews),
		cmocka_unit_test(refusals_of_start),
		cmocka_unit_test(refusals_of_long_arrays),
		cmocka_unit_test(hostile_keys_make_clean_errors),
	};

	return cmocka_run_group_tests_name("config_refusals", tests, NULL, NULL);
}
