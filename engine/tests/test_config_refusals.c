/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config decoders: what is wrong is refused, with its path and its value.
 *
 * Run by `meson test`, no DPDK. A refusal is a row: change one thing in a good document, expect
 * this path and these words. Source: docs/design/0002-engine-interface.md, "Control".
 */
#include "tests/config_documents.h"

#define LETTERS_32 "abcdefghijklmnopqrstuvwxyzabcdef"

struct refusal {
	const char *put_path; /* NULL: put_json is the whole document */
	const char *put_json; /* NULL: remove the key */
	const char *path;     /* expected; NULL: put_path */
	const char *words;    /* expected in the text */
};

typedef int (*decode_fn)(const json_t *params, struct error *err);

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

static void
assert_refused(const struct refusal *row, decode_fn decode, const char *good)
{
	json_t *value = row->put_json != NULL ? load(row->put_json) : NULL;
	json_t *params = row->put_path != NULL ? load(good) : value;
	const char *path = row->path != NULL ? row->path : row->put_path;
	struct error err = {0};
	int rc;

	if (row->put_path != NULL)
		put(params, row->put_path, value);
	rc = decode(params, &err);
	if (rc != ERROR_PARAMS || err.code != rc || strcmp(err.path, path) != 0 ||
	    strstr(err.text, row->words) == NULL)
		fail_msg("%s = %s:\n  wanted %s: %s\n  got %d %s: %s", row->put_path, row->put_json,
			 path, row->words, rc, err.path, err.text);
	assert_int_equal(decode(params, NULL), ERROR_PARAMS);
	json_decref(params);
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
		{"ports[1].name", "\"p0\"", NULL, "\"p0\" is already the name of ports[0]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_refused(&rows[i], decode_ports, good_ports);
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
		{"workers[0].core", "1", NULL, "allowed: lcore, tasks"},
		{"workers[0].lcore", NULL, NULL, "missing"},
		{"workers[0].lcore", "1024", NULL, "from 0 to 1023"},
		{"workers[1].lcore", "1", NULL, "lcore 1 is already used by workers[0]"},
		{"workers[0].tasks", NULL, NULL, "missing"},
		{"workers[0].tasks", "[]", NULL, "0 elements; it must have 1 to 1024"},
		{"workers[0].tasks", "\"x\"", NULL, "must be an array"},
		{"workers[0].tasks[0]", "5", NULL, "must be an object"},
		{"workers[0].tasks[0].kind", NULL, NULL, "missing"},
		{"workers[0].tasks[0].kind", "\"forward\"", NULL, "\"forward\" is no kind of task"},
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
		{"workers[0].tasks[2].queue", "0", NULL,
		 "tx queue 0 of port \"p0\" is already served by workers[0].tasks[1]"},
		{"workers[1].tasks[0].port", "\"p0\"", "workers[1].tasks[0].queue",
		 "tx queue 0 of port \"p0\" is already served by workers[0].tasks[1]"},
		{"workers[1].tasks[1]",
		 "{\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 1}",
		 "workers[1].tasks[1].queue", "rx queue 0 of port \"p0\" is already served by"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_refused(&rows[i], decode_program, good_program);
}

static void
refusals_of_streams(void **state)
{
	static const struct refusal rows[] = {
		{"streams", NULL, NULL, "missing"},
		{"streams", "{}", NULL, "must be an array"},
		{"streams", "[]", "workers[0].tasks[1].stream", "there is no stream \"s1\""},
		{"streams[0]", "null", NULL, "must be an object"},
		{"streams[0].rate", "1", NULL, "allowed: name, template, fields, checksums, fps"},
		{"streams[0].name", NULL, NULL, "missing"},
		{"streams[0].name", "\"s1\"", "streams[1].name", "already the name of streams[0]"},
		{"streams[0].template", NULL, NULL, "missing"},
		{"streams[0].template", "[]", NULL, "an array; it must be a string of hex digits"},
		{"streams[0].template", "\"00\"", NULL,
		 "2 hex digits; it must have two per octet, "
		 "for 60 to 16380 octets"},
		{"streams[0].template", "\"" TEMPLATE "0\"", NULL, "121 hex digits"},
		{"streams[0].template", "\"" TEMPLATE "0g\"", NULL,
		 "character 121, 'g', is no hex"},
		{"streams[0].template", "\"" TEMPLATE " 0\"", NULL,
		 "character 120, ' ', is no hex"},
		{"streams[0].fields", NULL, NULL, "missing"},
		{"streams[0].checksums", NULL, NULL, "missing"},
		{"streams[0].fps", NULL, NULL, "missing"},
		{"streams[0].fps", "0", NULL, "it is 0; it must be a number from 1e-06 to 1e+12"},
		{"streams[0].fps", "-1.5", NULL, "it is -1.5"},
		{"streams[0].fps", "1e300", NULL, "it is 1e+300"},
		{"streams[0].fps", "1e-300", NULL, "it is 1e-300"},
		{"streams[0].fps", "false", NULL, "it is false; it must be a number"},
		{"streams[0].frames", NULL, NULL, "missing"},
		{"streams[0].frames", "0", NULL, "it is 0; it must be an integer from 1"},
		{"streams[0].frames", "-1", NULL, "it is -1"},
		{"streams[0].frames", "2.5", NULL, "it is 2.5"},
		{"streams[0].frames", "\"all\"", NULL, "it is the string \"all\""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_refused(&rows[i], decode_program, good_program);
}

static void
refusals_of_fields(void **state)
{
	static const struct refusal rows[] = {
		{"streams[0].fields[0]", "[]", NULL, "must be an object"},
		{"streams[0].fields[0].last", "1", NULL,
		 "allowed: offset, octets, first, step, count"},
		{"streams[0].fields[0].offset", NULL, NULL, "missing"},
		{"streams[0].fields[0].offset", "-1", NULL, "it is -1"},
		{"streams[0].fields[0].offset", "16380", NULL, "from 0 to 16379"},
		{"streams[0].fields[0].offset", "59", NULL,
		 "2 octets at offset 59 end outside the template of 60 octets"},
		{"streams[0].fields[1].offset", "53", NULL,
		 "8 octets at offset 53 end outside the template of 60 octets"},
		{"streams[0].fields[1].offset", "35", NULL,
		 "8 octets at offset 35 overlap fields[0]"},
		{"streams[0].fields[1].offset", "27", NULL,
		 "8 octets at offset 27 overlap fields[0]"},
		{"streams[0].fields[0].octets", NULL, NULL, "missing"},
		{"streams[0].fields[0].octets", "0", NULL, "from 1 to 8"},
		{"streams[0].fields[0].octets", "9", NULL, "from 1 to 8"},
		{"streams[0].fields[0].first", NULL, NULL, "missing"},
		{"streams[0].fields[0].first", "65536", NULL, "from 0 to 65535"},
		{"streams[0].fields[0].first", "-1", NULL, "from 0 to 65535"},
		{"streams[0].fields[0].step", NULL, NULL, "missing"},
		{"streams[0].fields[0].step", "65536", NULL, "from -65535 to 65535"},
		{"streams[0].fields[0].step", "-65536", NULL, "from -65535 to 65535"},
		{"streams[0].fields[0].step", "0.5", NULL, "it is 0.5"},
		{"streams[0].fields[0].count", NULL, NULL, "missing"},
		{"streams[0].fields[0].count", "0", NULL, "from 1 to 281474976710656"},
		{"streams[0].fields[0].count", "281474976710657", NULL,
		 "from 1 to 281474976710656"},
		{"streams[0].fields[0].count", "1048577", NULL,
		 "least common multiple may be 1048576"},
		{"streams[0].fields[0].count", "281474976710656", NULL, "with 281474976710656 the"},
		{"streams[0].fields[0].count", "1048575", "streams[0].fields[1].count",
		 "with 4 the frames repeat only after 4194300"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_refused(&rows[i], decode_program, good_program);
}

static void
refusals_of_checksums(void **state)
{
	static const struct refusal rows[] = {
		{"streams[0].checksums[0]", "true", NULL, "must be an object"},
		{"streams[0].checksums[0].kind", "1", NULL, "allowed: offset, ranges, add, udp"},
		{"streams[0].checksums[0].offset", NULL, NULL, "missing"},
		{"streams[0].checksums[0].offset", "59", NULL, "2 octets at offset 59 end outside"},
		{"streams[0].checksums[0].offset", "35", NULL, "overlap fields[0]"},
		{"streams[0].checksums[1].offset", "41", NULL, "overlap checksums[0]"},
		{"streams[0].checksums[0].add", NULL, NULL, "missing"},
		{"streams[0].checksums[0].add", "65536", NULL, "from 0 to 65535"},
		{"streams[0].checksums[0].udp", NULL, NULL, "missing"},
		{"streams[0].checksums[0].udp", "0", NULL, "must be true or false"},
		{"streams[0].checksums[0].ranges", NULL, NULL, "missing"},
		{"streams[0].checksums[0].ranges", "[]", NULL, "0 elements; it must have 1 to 8"},
		{"streams[0].checksums[0].ranges",
		 "[[0,2],[2,2],[4,2],[6,2],[8,2],[10,2],[12,2],[14,2],[16,2]]", NULL,
		 "9 elements; it must have 1 to 8"},
		{"streams[0].checksums[0].ranges[1]", "[34]", NULL, "array of two integers"},
		{"streams[0].checksums[0].ranges[1]", "[34, 2, 1]", NULL, "array of two integers"},
		{"streams[0].checksums[0].ranges[1]", "34", NULL, "array of two integers"},
		{"streams[0].checksums[0].ranges[1][0]", "-1", NULL, "it is -1"},
		{"streams[0].checksums[0].ranges[1][0]", "null", NULL, "it is null"},
		{"streams[0].checksums[0].ranges[1][1]", "0", NULL, "from 1 to 16380"},
		{"streams[0].checksums[0].ranges[1][1]", "27", "streams[0].checksums[0].ranges[1]",
		 "27 octets at offset 34 end outside the template of 60"},
		{"streams[0].checksums[0].ranges[0][1]", "7", "streams[0].checksums[0].ranges[0]",
		 "7 octets are odd; only the last"},
		{"streams[0].checksums[0].ranges[1][0]", "33", "streams[0].checksums[0].ranges[1]",
		 "25 octets at offset 33 overlap ranges[0]"},
		{"streams[0].checksums[0].ranges[0]", "[24, 2]", NULL, "it covers checksums[1]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_refused(&rows[i], decode_program, good_program);
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
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_refused(&rows[i], decode_start, "{}");
	assert_refused(&nothing, config_decode_nothing, "{}");
	assert_refused(&no_object, config_decode_nothing, "{}");
}

/* Arrays beyond the limits are refused before anything is allocated for them. */
static void
refusals_of_long_arrays(void **state)
{
	static const struct {
		const char *path;
		uint32_t max;
	} rows[] = {
		{"workers", CONFIG_WORKERS_MAX},
		{"workers[0].tasks", CONFIG_TASKS_MAX},
		{"streams", CONFIG_STREAMS_MAX},
		{"streams[0].fields", CONFIG_FIELDS_MAX},
		{"streams[0].checksums", CONFIG_CHECKSUMS_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = load(good_program), *array = json_array();
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
		cmocka_unit_test(refusals_of_streams),
		cmocka_unit_test(refusals_of_fields),
		cmocka_unit_test(refusals_of_checksums),
		cmocka_unit_test(refusals_of_start),
		cmocka_unit_test(refusals_of_long_arrays),
		cmocka_unit_test(hostile_keys_make_clean_errors),
	};

	return cmocka_run_group_tests_name("config_refusals", tests, NULL, NULL);
}
