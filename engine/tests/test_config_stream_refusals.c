/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config decoders: streams that are wrong are refused, with path and value.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0002-engine-interface.md, "STREAM".
 */
#include "tests/config_refusals.h"

static void
refusals_of_streams(void **state)
{
	static const struct refusal rows[] = {
		{"streams", NULL, NULL, "missing"},
		{"streams", "{}", NULL, "must be an array"},
		{"streams", "[]", "workers[0].tasks[1].stream", "there is no stream \"s1\""},
		{"streams[0]", "null", NULL, "must be an object"},
		{"streams[0].rate", "1", NULL,
		 "allowed: name, template, lengths, length_fields, fields, checksums, trace, fps, "
		 "frames, delay_ns, duration_ns, burst"},
		{"streams[0].name", NULL, NULL, "missing"},
		{"streams[0].name", "\"s1\"", "streams[1].name", "already the name of streams[0]"},
		{"streams[0].template", NULL, NULL,
		 "missing; give the stream a template or a trace"},
		{"streams[0].trace", "{}", NULL,
		 "a stream has a template or a trace; leave one of them out"},
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
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
}

static void
refusals_of_fields(void **state)
{
	static const struct refusal rows[] = {
		{"streams[0].fields[0]", "[]", NULL, "must be an object"},
		{"streams[0].fields[0].last", "1", NULL,
		 "allowed: offset, octets, shift, bits, every, first, step, count, values, random"},
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
		{"streams[0].fields[0]", "{\"offset\": 34, \"octets\": 2}", NULL,
		 "it has no values; give it first, step and count, or values, or random"},
		{"streams[0].fields[0]", "{\"offset\": 34, \"octets\": 2, \"bits\": 3}", NULL,
		 "it has no values"},
		{"streams[0].fields[0]", "{\"offset\": 34, \"octets\": 2, \"step\": 3}",
		 "streams[0].fields[0].first", "missing"},
		{"streams[0].fields[0].bits", "0", NULL, "from 1 to 16"},
		{"streams[0].fields[0].bits", "17", NULL, "from 1 to 16"},
		{"streams[0].fields[0].bits", "null", NULL, "it is null"},
		{"streams[0].fields[0].bits", "10", "streams[0].fields[0].first",
		 "it is 1024; it must be an integer from 0 to 1023"},
		{"streams[0].fields[0].shift", "1", NULL, "from 0 to 0"},
		{"streams[0].fields[1].bits", "63", "streams[0].fields[1].first",
		 "it is -1; it must be an integer from 0 to 9223372036854775807"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
}

static void
refusals_of_checksums(void **state)
{
	static const struct refusal rows[] = {
		{"streams[0].checksums[0]", "true", NULL, "must be an object"},
		{"streams[0].checksums[0].kind", "1", NULL,
		 "allowed: offset, ranges, add, add_length_less, udp"},
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
		 "from offset 33 on it overlaps ranges[0]"},
		{"streams[0].checksums[0].ranges[0]", "[24, 2]", NULL, "it covers checksums[1]"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_program);
}

/* Which values a field takes, its bits, and whose they are. */
static void
refusals_of_values(void **state)
{
	static const struct refusal rows[] = {
		{"streams[0].fields[0].first", "1", NULL,
		 "\"first\" is not known here; allowed: offset, octets, shift, bits, every, values"},
		{"streams[0].fields[0].random", "{}", NULL, "\"random\" is not known here"},
		{"streams[0].fields[0].count", "3", NULL, "\"count\" is not known here"},
		{"streams[0].fields[2].count", "3", NULL,
		 "\"count\" is not known here; allowed: offset, octets, shift, bits, every, random"},
		{"streams[0].fields[0].values", "null", NULL, "it is null; it must be an array"},
		{"streams[0].fields[0].values", "[]", NULL, "0 elements; it must have 1 to 65536"},
		{"streams[0].fields[0].values[1]", "64", NULL, "it is 64; it must be an integer"},
		{"streams[0].fields[0].values[2]", "-1", NULL, "from 0 to 63"},
		{"streams[0].fields[0].values[0]", "1.5", NULL, "it is 1.5"},
		{"streams[0].fields[0].shift", "11", NULL, "from 0 to 10"},
		{"streams[0].fields[0].shift", "3", "streams[0].fields[1].offset",
		 "1 octets at offset 15 overlap fields[0]; give each its own bits"},
		{"streams[0].fields[1].bits", "5", "streams[0].fields[1].offset", "fields[0]"},
		{"streams[0].fields[1].first", "16", NULL, "from 0 to 15"},
		{"streams[0].fields[1].step", "16", NULL, "from -15 to 15"},
		{"streams[0].fields[1].step", "-16", NULL, "from -15 to 15"},
		{"streams[0].fields[1].offset", "12", NULL, "overlap length_fields[1]"},
		{"streams[0].fields[2].random", "[]", NULL, "it must be an object"},
		{"streams[0].fields[2].random", "null", NULL, "it must be an object"},
		{"streams[0].fields[2].random.step", "1", NULL, "allowed: min, max, seed, count"},
		{"streams[0].fields[2].random.min", NULL, NULL, "missing"},
		{"streams[0].fields[2].random.max", NULL, NULL, "missing"},
		{"streams[0].fields[2].random.seed", NULL, NULL, "missing"},
		{"streams[0].fields[2].random.count", NULL, NULL, "missing"},
		{"streams[0].fields[2].random.min", "-1", NULL, "from 0 to 4294967295"},
		{"streams[0].fields[2].random.max", "4294967296", NULL, "from 0 to 4294967295"},
		{"streams[0].fields[2].random.max", "9", NULL,
		 "9 is below min, which is 10; exchange them"},
		{"streams[0].fields[3].random",
		 "{\"min\": -1, \"max\": 1, \"seed\": 0, \"count\": 1}",
		 "streams[0].fields[3].random.max",
		 "1 is below min, which is 18446744073709551615"},
		{"streams[0].fields[2].random.seed", "0.5", NULL, "it is 0.5"},
		{"streams[0].fields[2].random.count", "0", NULL, "from 1 to 281474976710656"},
		{"streams[0].fields[2].random.count", "281474976710657", NULL, "281474976710656"},
		{"streams[0].fields[2].offset", "23", NULL, "overlap length_fields[2]"},
		{"streams[0].fields[3].offset", "53", NULL,
		 "8 octets at offset 53 end outside the shortest frame of 60 octets"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_features);
}

static void
refusals_of_lengths(void **state)
{
	static const struct refusal rows[] = {
		{"streams[0].lengths", "null", NULL, "it is null; it must be an array"},
		{"streams[0].lengths[1]", "59", NULL, "it is 59; it must be an integer from 60"},
		{"streams[0].lengths[1]", "65", NULL, "from 60 to 64"},
		{"streams[0].lengths[1]", "null", NULL, "it is null"},
		{"streams[0].length_fields", "{}", NULL, "it must be an array"},
		{"streams[0].length_fields[0].add", "1", NULL, "allowed: offset, octets, less"},
		{"streams[0].length_fields[0].offset", NULL, NULL, "missing"},
		{"streams[0].length_fields[0].octets", NULL, NULL, "missing"},
		{"streams[0].length_fields[0].less", NULL, NULL, "missing"},
		{"streams[0].length_fields[0].octets", "0", NULL, "from 1 to 4"},
		{"streams[0].length_fields[0].octets", "3", NULL, "it must be 1, 2 or 4"},
		{"streams[0].length_fields[0].octets", "5", NULL, "from 1 to 4"},
		{"streams[0].length_fields[0].offset", "16380", NULL, "from 0 to 16379"},
		{"streams[0].length_fields[0].offset", "59", NULL,
		 "2 octets at offset 59 end outside the shortest frame of 60 octets; they must"},
		{"streams[0].length_fields[2].offset", "13", NULL, "overlap length_fields[0]"},
		{"streams[0].length_fields[0].offset", "40", "streams[0].checksums[0].offset",
		 "2 octets at offset 40 overlap length_fields[0]; give each its own bits"},
		{"streams[0].length_fields[1].less", "61", NULL,
		 "a frame of 60 octets less 61 is negative; it may be 60 at most"},
		{"streams[0].length_fields[1].less", "-1", NULL, "from 0 to 16380"},
		{"streams[0].checksums[0].add_length_less", "61", NULL,
		 "a frame of 60 octets less 61 is negative"},
		{"streams[0].checksums[0].add_length_less", "-1", NULL, "from 0 to 16380"},
		{"streams[0].checksums[0].add_length_less", "16381", NULL, "from 0 to 16380"},
		{"streams[0].checksums[0].offset", "59", NULL, "the shortest frame of 60 octets"},
		{"streams[0].checksums[0].ranges[0]", "[26, null]", NULL,
		 "it goes to the end of the frame; only the last range of a checksum may"},
		{"streams[0].checksums[0].ranges[1]", "[33, null]", NULL, "overlaps ranges[0]"},
		{"streams[0].checksums[0].ranges[1]", "[2, null]", NULL, "overlaps ranges[0]"},
		{"streams[0].checksums[0].ranges[1]", "[60, null]", NULL,
		 "1 octets at offset 60 end outside the shortest frame of 60 octets"},
		{"streams[0].checksums[0].ranges[1]", "[34, 27]", NULL,
		 "27 octets at offset 34 end outside the shortest frame of 60 octets"},
		{"streams[0].checksums[0].ranges[0]", "[34, null]", NULL, "only the last range"},
		{"streams[0].checksums[0].ranges", "[[14, null]]",
		 "streams[0].checksums[0].ranges[0]", "it covers checksums[1], which is stored"},
		{"streams[0].checksums[0].ranges[1]", "[null, 2]",
		 "streams[0].checksums[0].ranges[1][0]", "it is null"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_features);
}

static void
refusals_of_traces(void **state)
{
	static const struct refusal rows[] = {
		{"streams[1].fields", "[]", NULL,
		 "\"fields\" is not known here; allowed: name, trace, fps, frames, delay_ns"},
		{"streams[1].checksums", "[]", NULL, "\"checksums\" is not known here"},
		{"streams[1].lengths", "[]", NULL, "\"lengths\" is not known here"},
		{"streams[1].length_fields", "[]", NULL, "\"length_fields\" is not known here"},
		{"streams[1].template", "\"" TEMPLATE "\"", "streams[1].trace", "leave one of"},
		{"streams[1].trace", NULL, "streams[1].template", "missing"},
		{"streams[1].trace", "null", NULL, "it must be an object"},
		{"streams[1].trace.loops", "1", NULL, "allowed: path, overwrite, speed"},
		{"streams[1].trace.path", NULL, NULL, "missing"},
		{"streams[1].trace.path", "\"a.pcap\"", NULL, "no absolute path"},
		{"streams[1].trace.path", "\"\"", NULL, "0 octets"},
		{"streams[1].trace.path", "null", NULL, "it is null; it must be a string"},
		{"streams[1].trace.speed", NULL, NULL, "missing"},
		{"streams[1].trace.speed", "0", NULL, "a number from 1e-06 to 1e+06, or null"},
		{"streams[1].trace.speed", "1e7", NULL, "it is 1e+07"},
		{"streams[1].trace.speed", "\"x2\"", NULL, "the string \"x2\""},
		{"streams[1].trace.overwrite", NULL, NULL, "missing"},
		{"streams[1].trace.overwrite", "null", NULL, "it must be an array"},
		{"streams[1].trace.overwrite[0]", "[]", NULL, "it must be an object"},
		{"streams[1].trace.overwrite[0].less", "1", NULL, "allowed: offset, octets"},
		{"streams[1].trace.overwrite[0].offset", NULL, NULL, "missing"},
		{"streams[1].trace.overwrite[0].offset", "16380", NULL, "from 0 to 16379"},
		{"streams[1].trace.overwrite[0].octets", NULL, NULL, "missing"},
		{"streams[1].trace.overwrite[0].octets", "\"\"", NULL, "for 1 to 16374 octets"},
		{"streams[1].trace.overwrite[0].octets", "\"0\"", NULL, "it has 1 hex digits"},
		{"streams[1].trace.overwrite[0].octets", "\"zz\"", NULL, "'z', is no hex digit"},
		{"streams[1].trace.overwrite[0].octets", "255", NULL, "a string of hex digits"},
		{"streams[1].trace.overwrite[1].offset", "11", NULL,
		 "1 octets at offset 11 overlap overwrite[0]; give each its own octets"},
		{"streams[1].fps", "10", NULL,
		 "10 frames per second and the trace's times, at speed"},
		{"streams[1].burst", "{\"frames\": 1, \"gap_ns\": 0}", NULL,
		 "the frames leave by the trace's times, at speed 2.5; a burst needs fps"},
		{"streams[2].trace.speed", "1", "streams[2].burst",
		 "by the trace's times, at speed 1"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_features);
}

static void
refusals_of_schedules(void **state)
{
	static const struct refusal rows[] = {
		{"streams[1].fps", NULL, NULL, "missing"},
		{"streams[1].frames", NULL, NULL, "missing"},
		{"streams[0].delay_ns", "-1", NULL, "from 0 to 31622400000000000"},
		{"streams[0].delay_ns", "null", NULL, "it is null"},
		{"streams[0].delay_ns", "31622400000000001", NULL, "it is 31622400000000001"},
		{"streams[0].duration_ns", "0", NULL, "from 1 to 31622400000000000"},
		{"streams[0].duration_ns", "31622400000000001", NULL, "from 1 to"},
		{"streams[0].duration_ns", "1.5", NULL, "it is 1.5"},
		{"streams[0].fps", "null", "streams[0].burst",
		 "a burst of 64 frames needs the rate within it; give the stream fps"},
		{"streams[0].whole_bursts", "1", NULL, "it is 1; it must be true or false"},
		{"streams[0].whole_bursts", "true", NULL,
		 "only a stream with fps and without burst can wait for whole bursts"},
		{"streams[0].burst", "64", NULL, "it is 64; it must be an object"},
		{"streams[0].burst.rate", "1", NULL, "allowed: frames, gap_ns"},
		{"streams[0].burst.frames", NULL, NULL, "missing"},
		{"streams[0].burst.frames", "0", NULL, "from 1 to 4294967296"},
		{"streams[0].burst.frames", "4294967297", NULL, "from 1 to 4294967296"},
		{"streams[0].burst.gap_ns", NULL, NULL, "missing"},
		{"streams[0].burst.gap_ns", "-0.5", NULL, "it is -0.5; it must be a number from 0"},
		{"streams[0].burst.gap_ns", "null", NULL, "it is null; it must be a number"},
		{"streams[0].burst.gap_ns", "1e17", NULL, "it is 1e+17"},
	};

	(void)state;
	assert_all_refused(rows, COUNT(rows), decode_program, good_features);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_of_streams),   cmocka_unit_test(refusals_of_fields),
		cmocka_unit_test(refusals_of_checksums), cmocka_unit_test(refusals_of_values),
		cmocka_unit_test(refusals_of_lengths),   cmocka_unit_test(refusals_of_traces),
		cmocka_unit_test(refusals_of_schedules),
	};

	return cmocka_run_group_tests_name("config_stream_refusals", tests, NULL, NULL);
}
