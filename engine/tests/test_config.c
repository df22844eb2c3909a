/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config decoders: what is right is decoded right. More of streams: test_config_stream.c; what
 * is wrong: test_config_*refusals.c.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <stdlib.h>

#include "tests/config_documents.h"

static void
good_ports_decode(void **state)
{
	json_t *params = load(good_ports);
	struct ports_config config;
	struct error err = {0};

	(void)state;
	assert_int_equal(config_decode_ports(params, &config, &err), 0);
	assert_int_equal(config.n_ports, 2);
	assert_string_equal(config.ports[0].name, "p0");
	assert_string_equal(config.ports[0].location, "ring:demo");
	assert_int_equal(config.ports[0].rx_queues, 1);
	assert_int_equal(config.ports[0].tx_queues, 2);
	assert_int_equal(config.ports[0].rx_descriptors, 1024);
	assert_int_equal(config.ports[0].tx_descriptors, 512);
	assert_int_equal(config.ports[0].mbufs, 8192);
	assert_int_equal(config.ports[0].frame_size_max, 1518);
	assert_true(config.ports[0].promiscuous);
	assert_string_equal(config.ports[1].name, "p1");
	assert_int_equal(config.ports[1].frame_size_max, 64);
	assert_false(config.ports[1].promiscuous);
	config_free_ports(&config);
	config_free_ports(&config);
	json_decref(params);
}

static void
offloads_are_off_unless_asked(void **state)
{
	json_t *params = load(good_ports),
	       *port = json_array_get(json_object_get(params, "ports"), 1);
	struct ports_config config;

	(void)state;
	json_object_set_new(port, "offloads", json_pack("{s:b}", "segments", 1));
	assert_int_equal(config_decode_ports(params, &config, NULL), 0);
	assert_false(config.ports[0].offloads.checksums);
	assert_false(config.ports[0].offloads.segments);
	assert_false(config.ports[1].offloads.checksums);
	assert_true(config.ports[1].offloads.segments);
	config_free_ports(&config);
	json_object_set_new(port, "offloads",
			    json_pack("{s:b, s:b}", "checksums", 1, "segments", 0));
	assert_int_equal(config_decode_ports(params, &config, NULL), 0);
	assert_true(config.ports[1].offloads.checksums);
	assert_false(config.ports[1].offloads.segments);
	config_free_ports(&config);
	json_decref(params);
}

static void
assert_good_streams(const struct program_config *config)
{
	const struct stream_config *s0 = &config->streams[0], *s1 = &config->streams[1];

	assert_int_equal(config->n_streams, 2);
	assert_string_equal(s0->name, "s0");
	assert_int_equal(s0->frame_len_no_fcs, 60);
	assert_int_equal(s0->template[0], 0x02);
	assert_int_equal(s0->template[12], 0x08);
	assert_int_equal(s0->template[59], 0xff);
	assert_int_equal(s0->n_fields, 2);
	assert_int_equal(s0->fields[0].offset, 34);
	assert_int_equal(s0->fields[0].octets, 2);
	assert_int_equal(s0->fields[0].first, 1024);
	assert_int_equal(s0->fields[0].step, 1);
	assert_int_equal(s0->fields[0].count, 6);
	assert_true(s0->fields[1].first == UINT64_MAX && s0->fields[1].step == UINT64_MAX - 1);
	assert_int_equal(s0->n_checksums, 2);
	assert_int_equal(s0->checksums[0].offset, 40);
	assert_int_equal(s0->checksums[0].n_ranges, 2);
	assert_int_equal(s0->checksums[0].ranges[1].offset, 34);
	assert_int_equal(s0->checksums[0].ranges[1].octets, 25);
	assert_int_equal(s0->checksums[0].add, 43);
	assert_true(s0->checksums[0].udp);
	assert_false(s0->checksums[1].udp);
	assert_int_equal(s0->period, 12);
	assert_true(s0->has_fps && s0->fps == 14880952.38);
	assert_true(s0->has_frames && s0->frames == 20000);
	assert_false(s1->has_fps || s1->has_frames);
	assert_true(s1->fields == NULL && s1->checksums == NULL && s1->period == 1);
}

static void
good_program_decodes(void **state)
{
	json_t *params = load(good_program);
	struct program_config config;
	const struct task_config *task;
	struct error err = {0};

	(void)state;
	assert_int_equal(config_decode_program(params, &config, &err), 0);
	assert_int_equal(config.n_workers, 2);
	assert_int_equal(config.workers[0].lcore, 1);
	assert_int_equal(config.workers[0].n_tasks, 3);
	assert_int_equal(config.workers[0].tasks[0].kind, TASK_RX);
	assert_string_equal(config.workers[0].tasks[0].port, "p0");
	assert_int_equal(config.workers[0].tasks[0].burst, 64);
	task = &config.workers[1].tasks[0];
	assert_int_equal(task->kind, TASK_TX);
	assert_string_equal(task->port, "p1");
	assert_string_equal(task->stream, "s1");
	assert_int_equal(task->stream_index, 1);
	assert_int_equal(task->burst, 512);
	assert_int_equal(task->part, 0);
	assert_int_equal(task->parts, 2);
	assert_int_equal(config.workers[0].tasks[1].part, 1);
	assert_int_equal(config.workers[0].tasks[2].stream_index, 0);
	assert_good_streams(&config);
	config_free_program(&config);
	config_free_program(&config);
	json_decref(params);
}

/* Values at the edge of what is allowed, one change each. */
static void
edges_decode(void **state)
{
	static const struct {
		const char *path, *json;
	} rows[] = {
		{"workers[0].lcore", "1023"},
		{"workers[0].tasks[0].queue", "1023"},
		{"workers[0].tasks[0].burst", "1"},
		{"streams[0].fps", "1"},
		{"streams[0].fps", "1e12"},
		{"streams[0].fps", "1e-6"},
		{"streams[0].frames", "9223372036854775807"},
		{"streams[0].fields[0].first", "65535"},
		{"streams[0].fields[0].step", "0"},
		{"streams[0].fields[0].step", "-65535"},
		{"streams[0].fields[0].count", "1048576"},
		{"streams[0].fields[0].count", "281474976710656"},
		{"workers[0].sleep_ns", "5000000"},
		{"workers[0].tasks[2].queue", "0"}, /* s0 and s1 share a queue */
		{"streams[0].fields[1].first", "-9223372036854775808"},
		{"streams[0].fields[1].offset", "42"},
		{"streams[0].fields", "[]"},
		{"streams[0].checksums", "[]"},
		{"streams[0].checksums[0].add", "65535"},
		{"streams[0].checksums[0].ranges[1]", "[34, 26]"},
		{"streams[1].name", "\"M\\u00fcnchen \\u2192 p1\""},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = load(good_program);
		struct error err = {0};

		put(params, rows[i].path, load(rows[i].json));
		if (strcmp(rows[i].path, "streams[1].name") == 0) {
			put(params, "workers[0].tasks[1].stream", load(rows[i].json));
			put(params, "workers[1].tasks[0].stream", load(rows[i].json));
		}
		if (decode_program(params, &err) != 0)
			fail_msg("%s = %s: %s: %s", rows[i].path, rows[i].json, err.path, err.text);
		json_decref(params);
	}
}

static void
largest_template_decodes(void **state)
{
	json_t *params = load(good_program);
	char *digits = malloc(2 * 16380 + 3);
	struct error err = {0};

	(void)state;
	memset(digits, 'a', 2 * 16380 + 2);
	digits[2 * 16380 + 2] = '\0';
	put(params, "streams[0].template", json_string(digits));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_non_null(strstr(err.text, "32762 hex digits"));
	digits[2 * 16380] = '\0';
	put(params, "streams[0].template", json_string(digits));
	assert_int_equal(decode_program(params, &err), 0);
	free(digits);
	json_decref(params);
}

static void
start_decodes(void **state)
{
	json_t *params = load("{\"duration_ns\": 5000000000}");
	struct start_config config;
	struct error err = {0};

	(void)state;
	assert_int_equal(config_decode_start(params, &config, &err), 0);
	assert_true(config.has_duration && config.duration_ns == UINT64_C(5000000000));
	json_object_clear(params);
	assert_int_equal(config_decode_start(params, &config, &err), 0);
	assert_false(config.has_duration);
	assert_int_equal(config_decode_nothing(params, &err), 0);
	json_decref(params);
}

/* 65,536 streams in reverse order of name, each sent by one task of so many workers and queues. */
static json_t *
many_streams(int workers, int queues)
{
	json_t *tasks[64], *all = json_array(), *streams = json_array();
	char name[32], port[32];

	for (int w = 0; w < workers; w++) {
		tasks[w] = json_array();
		json_array_append_new(all, json_pack("{s:i, s:o}", "lcore", w, "tasks", tasks[w]));
	}
	for (int i = 0; i < CONFIG_STREAMS_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", CONFIG_STREAMS_MAX - i);
		snprintf(port, sizeof(port), "p%d", i % queues / 1024);
		json_array_append_new(streams, json_pack("{s:s, s:s, s:[], s:[], s:n, s:n}", "name",
							 name, "template", TEMPLATE, "fields",
							 "checksums", "fps", "frames"));
		json_array_append_new(tasks[i % workers],
				      json_pack("{s:s, s:s, s:i, s:i, s:s, s:i, s:i}", "kind", "tx",
						"port", port, "queue", i % queues % 1024, "burst",
						32, "stream", name, "part", 0, "parts", 1));
	}
	return json_pack("{s:o, s:o}", "workers", all, "streams", streams);
}

/* Found, and found fast: with loops over all pairs this would take minutes. */
static void
many_streams_decode(void **state)
{
	json_t *params = many_streams(64, 65536);
	struct program_config config;
	struct error err = {0};

	(void)state;
	assert_int_equal(config_decode_program(params, &config, &err), 0);
	assert_int_equal(config.n_streams, CONFIG_STREAMS_MAX);
	assert_int_equal(config.workers[3].tasks[1].stream_index, 64 + 3);
	config_free_program(&config);
	json_decref(params);
}

static void
many_streams_share_a_queue(void **state)
{
	json_t *params = many_streams(1, 1);
	struct program_config config;
	struct error err = {0};

	(void)state;
	assert_int_equal(config_decode_program(params, &config, &err), 0);
	assert_int_equal(config.workers[0].n_tasks, CONFIG_STREAMS_MAX);
	assert_int_equal(config.workers[0].tasks[9].queue, 0);
	config_free_program(&config);
	put(params, "workers[0].tasks[65535].stream", json_string("s65536"));
	assert_int_equal(config_decode_program(params, &config, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "workers[0].tasks[65535].queue");
	json_decref(params);
}

static void
errors_are_cut_and_clean(void **state)
{
	struct error err;
	char text[600];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(error_set(&err, -EINVAL, text, "%s", text), -EINVAL);
	assert_int_equal(strlen(err.path), sizeof(err.path) - 1);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_set(&err, -EIO, NULL,
		  "a\nb\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc3 \xed\xa0\x80"
		  " \xf4\x90\x80\x80 \xc0\xaf");
	assert_string_equal(err.text, "a?b? \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 ? ??? ???? ??");
	assert_string_equal(err.path, "");
	error_set(&err, -EIO, "p", "inner");
	error_set(&err, -EINVAL, err.path, "outer: %s", err.text);
	assert_string_equal(err.text, "outer: inner");
	assert_string_equal(err.path, "p");
	assert_int_equal(error_set(NULL, -EIO, "p", "x"), -EIO);
	error_clear(&err);
	assert_true(err.code == 0 && err.text[0] == '\0' && err.path[0] == '\0');
	error_clear(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offloads_are_off_unless_asked),
		cmocka_unit_test(errors_are_cut_and_clean),
		cmocka_unit_test(good_ports_decode),
		cmocka_unit_test(good_program_decodes),
		cmocka_unit_test(edges_decode),
		cmocka_unit_test(largest_template_decodes),
		cmocka_unit_test(start_decodes),
		cmocka_unit_test(many_streams_decode),
		cmocka_unit_test(many_streams_share_a_queue),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
