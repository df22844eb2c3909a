/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config decoders: streams of every kind are decoded right, defaults included, and previews.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include <stdlib.h>

#include "tests/config_documents.h"

static struct program_config
decoded(const json_t *params)
{
	struct program_config config;
	struct error err = {0};

	if (config_decode_program(params, &config, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	return config;
}

static void
what_is_absent_has_its_default(void **state)
{
	json_t *params = load(good_program);
	struct program_config config = decoded(params);
	const struct stream_config *stream = &config.streams[0];

	(void)state;
	assert_int_equal(config.workers[0].sleep_ns, 0);
	assert_null(stream->trace.path);
	assert_true(stream->lengths == NULL && stream->n_lengths == 0);
	assert_true(stream->length_fields == NULL && stream->n_length_fields == 0);
	assert_int_equal(stream->fields[0].kind, FIELD_STEPS);
	assert_int_equal(stream->fields[0].shift, 0);
	assert_int_equal(stream->fields[0].bits, 16);
	assert_int_equal(stream->fields[1].bits, 64);
	assert_null(stream->fields[0].values);
	assert_true(stream->checksums[0].add_length_less == ADD_NO_LENGTH);
	assert_int_equal(stream->delay_ns, 0);
	assert_false(stream->has_duration);
	assert_false(stream->has_burst);
	config_free_program(&config);
	json_decref(params);
}

static void
templates_decode(void **state)
{
	json_t *params = load(good_features);
	struct program_config config = decoded(params);
	const struct stream_config *stream = &config.streams[0];

	(void)state;
	assert_true(config.workers[0].sleep_ns == 5000000);
	assert_int_equal(stream->frame_len_no_fcs, 64);
	assert_int_equal(stream->n_lengths, 3);
	assert_int_equal(stream->lengths[1], 64);
	assert_int_equal(stream->lengths[2], 61);
	assert_int_equal(stream->n_length_fields, 3);
	assert_int_equal(stream->length_fields[1].offset, 12);
	assert_int_equal(stream->length_fields[1].octets, 1);
	assert_int_equal(stream->length_fields[1].less, 60);
	assert_int_equal(stream->n_checksums, 2);
	assert_int_equal(stream->checksums[0].add_length_less, 34);
	assert_true(stream->checksums[0].ranges[1].octets == RANGE_TO_END);
	assert_true(stream->checksums[1].add_length_less == ADD_NO_LENGTH);
	assert_true(stream->has_fps && stream->fps == 1000);
	assert_int_equal(stream->delay_ns, 5);
	assert_true(stream->has_duration && stream->duration_ns == 1000000);
	assert_true(stream->has_burst && stream->burst_frames == 64);
	assert_true(stream->burst_gap_ns == 1000.5);
	assert_true(stream->period == UINT64_MAX);
	config_free_program(&config);
	json_decref(params);
}

static void
fields_decode(void **state)
{
	json_t *params = load(good_features);
	struct program_config config = decoded(params);
	const struct field_config *fields = config.streams[0].fields;

	(void)state;
	assert_int_equal(config.streams[0].n_fields, 4);
	assert_int_equal(fields[0].kind, FIELD_VALUES);
	assert_int_equal(fields[0].shift, 4);
	assert_int_equal(fields[0].bits, 6);
	assert_int_equal(fields[0].count, 3);
	assert_int_equal(fields[0].values[1], 63);
	assert_int_equal(fields[1].kind, FIELD_STEPS);
	assert_int_equal(fields[1].first, 15);
	assert_true(fields[1].step == (uint64_t)-15);
	assert_int_equal(fields[2].kind, FIELD_RANDOM);
	assert_int_equal(fields[2].first, 10);
	assert_int_equal(fields[2].range, UINT64_C(4294967286));
	assert_int_equal(fields[2].seed, 7);
	assert_int_equal(fields[2].count, 1000);
	assert_true(fields[3].first == 0 && fields[3].range == 0); /* all 2^64 */
	assert_true(fields[3].seed == UINT64_MAX && fields[3].count == CONFIG_COUNT_MAX);
	config_free_program(&config);
	json_decref(params);
}

static void
traces_decode(void **state)
{
	static const uint8_t mac[] = {0x02, 0x57, 0x52, 0x00, 0x00, 0x01};
	json_t *params = load(good_features);
	struct program_config config = decoded(params);
	const struct stream_config *timed = &config.streams[1], *paced = &config.streams[2];

	(void)state;
	assert_string_equal(timed->trace.path, "/captures/a.pcap");
	assert_true(timed->trace.has_speed && timed->trace.speed == 2.5);
	assert_int_equal(timed->trace.n_overwrites, 2);
	assert_int_equal(timed->trace.overwrites[0].offset, 6);
	assert_int_equal(timed->trace.overwrites[0].n_octets, 6);
	assert_memory_equal(timed->trace.overwrites[0].octets, mac, sizeof(mac));
	assert_int_equal(timed->trace.overwrites[1].n_octets, 1);
	assert_true(timed->template == NULL && timed->frame_len_no_fcs == 0 && timed->period == 0);
	assert_true(timed->has_frames && timed->frames == 3 && !timed->has_fps);
	assert_string_equal(paced->trace.path, "/b.pcapng");
	assert_true(!paced->trace.has_speed && paced->trace.overwrites == NULL);
	assert_true(paced->has_fps && paced->fps == 100 && !paced->has_duration);
	assert_true(paced->has_burst && paced->burst_frames == CONFIG_BURST_FRAMES_MAX);
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
		{"workers[0].sleep_ns", "0"},
		{"streams[0].lengths", "[]"},
		{"streams[0].length_fields", "[]"},
		{"streams[0].length_fields[1].less", "0"},
		{"streams[0].length_fields[0].octets", "1"},
		{"streams[0].fields[0].values", "[0]"},
		{"streams[0].fields[0].shift", "10"}, /* the top of the window */
		{"streams[0].fields[1].count", "1"},
		{"streams[0].fields[2].random.min", "4294967295"},
		{"streams[0].fields[3].random.max", "-9223372036854775808"},
		{"streams[0].fields[3].random.seed", "-9223372036854775808"},
		{"streams[0].fields[3]",
		 "{\"offset\": 52, \"octets\": 8, \"values\": [-1, -9223372036854775808]}"},
		{"streams[0].fields[3]",
		 "{\"offset\": 52, \"octets\": 8, \"first\": 0, \"step\": -9223372036854775808,"
		 " \"count\": 2}"},
		{"streams[0].fields[3]",
		 "{\"offset\": 52, \"octets\": 8, \"shift\": 1, \"bits\": 63,"
		 " \"first\": 9223372036854775807, \"step\": -9223372036854775807, \"count\": 2}"},
		{"streams[0].checksums[0].ranges[1]", "[59, null]"},
		{"streams[0].checksums[0].ranges", "[[34, null]]"},
		{"streams[0].checksums[0].add_length_less", "60"},
		{"streams[0].checksums[0].add_length_less", "0"},
		{"streams[0].delay_ns", "31622400000000000"},
		{"streams[0].duration_ns", "null"},
		{"streams[0].burst", "null"},
		{"streams[0].burst.gap_ns", "0"},
		{"streams[1].trace.speed", "1e-6"},
		{"streams[1].trace.speed", "1000000"},
		{"streams[1].trace.speed", "null"}, /* as fast as the device takes them */
		{"streams[1].trace.overwrite[1].offset", "5"},
		{"streams[1].trace.overwrite[1].offset", "12"},
		{"streams[1].trace.overwrite[1].offset", "16379"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = load(good_features);
		struct error err = {0};

		put(params, rows[i].path, load(rows[i].json));
		if (decode_program(params, &err) != 0)
			fail_msg("%s = %s: %s: %s", rows[i].path, rows[i].json, err.path, err.text);
		json_decref(params);
	}
}

/* The least common multiple of both counts and the number of lengths, whatever its size. */
static void
periods_are_least_common_multiples(void **state)
{
	static const struct {
		int64_t count0, count1;
		size_t lengths;
		uint64_t period;
	} rows[] = {
		{1, 1, 0, 1},
		{6, 4, 0, 12},
		{6, 4, 1, 12},
		{6, 4, 10, 60},
		{1, 1, 7, 7},
		{1048576, 1, 0, 1048576},
		{1048576, 2, 4, 1048576},
		{1048577, 1, 0, UINT64_MAX},
		{1, 1048577, 0, UINT64_MAX},
		{1048575, 4, 0, UINT64_MAX},
		{1048576, 1, 3, UINT64_MAX},
		{INT64_C(1) << 48, 1, 0, UINT64_MAX},
		{(INT64_C(1) << 48) - 1, INT64_C(1) << 48, 5, UINT64_MAX}, /* above 2^64 */
		{65537, 281470681808896, 0, UINT64_MAX}, /* 2^64 + 65536: must not wrap */
		{1 << 20, (INT64_C(1) << 48) - 1, 0, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = load(good_program), *lengths = json_array();
		struct program_config config;

		for (size_t n = 0; n < rows[i].lengths; n++)
			json_array_append_new(lengths, json_integer(60));
		put(params, "streams[0].fields[0].count", json_integer(rows[i].count0));
		put(params, "streams[0].fields[1].count", json_integer(rows[i].count1));
		put(params, "streams[0].lengths", lengths);
		config = decoded(params);
		if (config.streams[0].period != rows[i].period)
			fail_msg("row %zu: period %llu", i,
				 (unsigned long long)config.streams[0].period);
		config_free_program(&config);
		json_decref(params);
	}
}

/* As many lengths as may be, the last one wrong and right. */
static void
a_million_lengths_decode(void **state)
{
	json_t *params = load(good_program), *lengths = json_array();
	struct program_config config;
	struct error err = {0};

	(void)state;
	for (int i = 0; i < CONFIG_PERIOD_MAX; i++)
		json_array_append_new(lengths, json_integer(60));
	put(params, "streams[1].lengths", json_incref(lengths));
	config = decoded(params);
	assert_int_equal(config.streams[1].period, CONFIG_PERIOD_MAX);
	config_free_program(&config);
	json_array_set_new(lengths, CONFIG_PERIOD_MAX - 1, json_integer(61));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "streams[1].lengths[1048575]");
	json_decref(lengths);
	json_decref(params);
}

/* 128 fields of one bit in 16 octets; one more bit anywhere is another's. */
static void
every_bit_may_be_a_field(void **state)
{
	json_t *params = load(good_program), *fields = json_array();
	struct error err = {0};

	(void)state;
	for (int i = 0; i < CONFIG_FIELDS_MAX; i++)
		json_array_append_new(fields,
				      json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "offset",
						26 + i / 64 * 8, "octets", 8, "shift", i % 64,
						"bits", 1, "first", 0, "step", 1, "count", 2));
	put(params, "streams[1].fields", fields);
	assert_int_equal(decode_program(params, &err), 0);
	put(params, "streams[1].fields[127].shift", json_integer(17));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "streams[1].fields[127].offset");
	assert_non_null(strstr(err.text, "8 octets at offset 34 overlap fields[81];"));
	json_decref(params);
}

/* One octet holds the longest frame less 65 when that has 320 octets. */
static void
short_length_fields_must_fit(void **state)
{
	json_t *params = load(good_program);
	char digits[2 * 320 + 1];
	struct error err = {0};

	(void)state;
	memset(digits, '0', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	put(params, "streams[1].template", json_string(digits));
	put(params, "streams[1].lengths", load("[300, 65, 320]"));
	put(params, "streams[1].length_fields",
	    load("[{\"offset\": 0, \"octets\": 1, \"less\": 65}]"));
	assert_int_equal(decode_program(params, &err), 0);
	put(params, "streams[1].length_fields[0].less", json_integer(64));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	assert_string_equal(err.path, "streams[1].length_fields[0].less");
	assert_non_null(
		strstr(err.text, "a frame of 320 octets less 64 does not fit in one octet"));
	put(params, "streams[1].lengths", load("[300, 65, 319]"));
	assert_int_equal(decode_program(params, &err), 0);
	put(params, "streams[1].length_fields[0].less", json_integer(66));
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS);
	json_decref(params);
}

static void
previews_decode(void **state)
{
	json_t *params = load(good_features);
	struct program_config program;
	struct preview_config config;
	struct error err = {0};

	(void)state;
	put(params, "path", json_string("/run/out.pcapng"));
	put(params, "format", json_string("pcapng"));
	put(params, "frames", json_integer(16777216));
	assert_int_equal(config_decode_preview(params, &program, &config, &err), 0);
	assert_string_equal(config.path, "/run/out.pcapng");
	assert_true(config.pcapng);
	assert_int_equal(config.frames, 16777216);
	assert_int_equal(program.n_streams, 3);
	assert_int_equal(program.workers[0].tasks[1].stream_index, 1);
	config_free_program(&program);
	config_free_preview(&config);
	config_free_preview(&config);
	put(params, "format", json_string("pcap"));
	assert_int_equal(config_decode_preview(params, &program, &config, &err), 0);
	assert_false(config.pcapng);
	config_free_program(&program);
	config_free_preview(&config);
	assert_int_equal(decode_program(params, &err), ERROR_PARAMS); /* not keys of program.load */
	json_decref(params);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_absent_has_its_default),
		cmocka_unit_test(templates_decode),
		cmocka_unit_test(fields_decode),
		cmocka_unit_test(traces_decode),
		cmocka_unit_test(edges_decode),
		cmocka_unit_test(periods_are_least_common_multiples),
		cmocka_unit_test(a_million_lengths_decode),
		cmocka_unit_test(every_bit_may_be_a_field),
		cmocka_unit_test(short_length_fields_must_fit),
		cmocka_unit_test(previews_decode),
	};

	return cmocka_run_group_tests_name("config_stream", tests, NULL, NULL);
}
