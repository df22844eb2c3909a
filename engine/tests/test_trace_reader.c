/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture files of every kind give the frames that are in them. What is refused: test_trace_refusals.c.
 *
 * Run by `meson test`, no DPDK.
 */
#include <jansson.h>

#include "tests/trace_fixture.h"
#include "trace/trace_scan_json.h"

static struct capture made;

static void
pcap_of_every_magic(void **state)
{
	static const struct {
		int magic;
		bool big_endian;
		uint64_t ns_per_unit;
	} kinds[] = {{PCAP_US, false, 1000},
		     {PCAP_US, true, 1000},
		     {PCAP_NS, false, 1},
		     {PCAP_NS, true, 1}};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
		uint64_t ns = kinds[i / 2].ns_per_unit;
		struct trace_reader *reader;

		pcap_begin(&made, kinds[i / 2].magic, LINK_ETHERNET, kinds[i / 2].big_endian);
		pcap_frame(&made, 1700000000, 999999, 1, 60, 60);
		pcap_frame(&made, 4294967295, 3, 2, 1514, 1514);
		pcap_frame(&made, 0, 0, 3, 16380, 16380);
		if (i % 2 == 1)
			pack(&made);
		reader = open_capture(&made);
		assert_false(trace_reader_is_pcapng(reader));
		assert_frame(reader, 1700000000000000000 + 999999 * ns, 1, 60);
		assert_frame(reader, 4294967295000000000 + 3 * ns, 2, 1514);
		assert_frame(reader, 0, 3, 16380);
		assert_end(reader);
	}
}

static void
pcapng_of_every_resolution(void **state)
{
	static const struct {
		uint8_t resolution;
		uint64_t per_second;
	} kinds[] = {{0, 1000000}, {3, 1000}, {6, 1000000}, {9, 1000000000}};

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(kinds); i++) {
		uint64_t per_second = kinds[i / 4].per_second;
		struct trace_reader *reader;

		pcapng_begin(&made, i % 2 == 1);
		pcapng_interface(&made, LINK_ETHERNET, kinds[i / 4].resolution);
		pcapng_frame(&made, 0, 1700000000 * per_second + 123, 1, 61, 61);
		pcapng_frame(&made, 0, 5 * per_second - 1, 2, 62, 62);
		if (i / 2 % 2 == 1)
			pack(&made);
		reader = open_capture(&made);
		assert_true(trace_reader_is_pcapng(reader));
		assert_frame(reader, 1700000000000000000 + 123 * (1000000000 / per_second), 1, 61);
		assert_frame(reader, 5000000000 - 1000000000 / per_second, 2, 62);
		assert_end(reader);
	}
}

static void
interfaces_have_resolutions_of_their_own(void **state)
{
	struct trace_reader *reader;

	(void)state;
	pcapng_begin(&made, false);
	pcapng_interface(&made, LINK_ETHERNET, 9);
	pcapng_interface(&made, LINK_ETHERNET, 6);
	pcapng_frame(&made, 1, 7, 1, 60, 60);
	pcapng_frame(&made, 0, 7001, 2, 60, 60);
	pcapng_interface(&made, LINK_ETHERNET, 3);
	pcapng_frame(&made, 2, 8, 3, 60, 60);
	reader = open_capture(&made);
	assert_frame(reader, 7000, 1, 60);
	assert_frame(reader, 7001, 2, 60);
	assert_frame(reader, 8000000, 3, 60);
	assert_end(reader);
}

static void
truncated_and_short_frames_say_so(void **state)
{
	static const struct {
		uint32_t captured, wire;
		uint32_t want_captured, want_length;
		bool truncated, short_frame;
	} cases[] = {
		{64, 1514, 64, 1514, true, false}, {59, 60, 59, 60, true, false},
		{59, 59, 59, 60, false, true},     {20, 42, 20, 60, true, true},
		{1, 1, 1, 60, false, true},        {0, 64, 0, 64, true, false},
	};
	struct trace_reader *reader;
	struct trace_frame frame;

	(void)state;
	pcap_begin(&made, PCAP_NS, LINK_ETHERNET, false);
	for (size_t i = 0; i < COUNT(cases); i++)
		pcap_frame(&made, 0, 0, (uint8_t)i, cases[i].captured, cases[i].wire);
	reader = open_capture(&made);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(trace_reader_next(reader, &frame, NULL), 1);
		assert_int_equal(frame.captured, cases[i].want_captured);
		assert_int_equal(frame.length, cases[i].want_length);
		assert_int_equal(frame.truncated, cases[i].truncated);
		assert_int_equal(frame.short_frame, cases[i].short_frame);
		if (frame.captured > 0)
			assert_int_equal(frame.octets[0], i);
	}
	assert_end(reader);
}

/* Bits 28 to 31 of pcap's link type are the length of the FCS in 16-bit words, bit 26 tells that they are meant. */
static void
frame_check_sequences_are_cut_off(void **state)
{
	struct trace_reader *reader;
	struct trace_frame frame;

	(void)state;
	pcap_begin(&made, PCAP_NS, 0x24000000 | LINK_ETHERNET, false);
	pcap_frame(&made, 0, 0, 1, 64, 64);
	pcap_frame(&made, 0, 0, 2, 98, 100);
	pcap_frame(&made, 0, 0, 3, 5, 5);
	pcap_frame(&made, 0, 0, 4, 16384, 16384);
	reader = open_capture(&made);
	assert_frame(reader, 0, 1, 60);
	assert_frame(reader, 0, 2, 96);
	assert_int_equal(trace_reader_next(reader, &frame, NULL), 1);
	assert_true(frame.captured == 1 && frame.length == 60 && frame.short_frame);
	assert_frame(reader, 0, 4, 16380);
	assert_end(reader);
}

/* A writer may keep more of a frame than its file's header says: nothing of it is lost. */
static void
frames_beyond_the_headers_snaplen(void **state)
{
	static const uint8_t little[4] = {64, 0, 0, 0}, big[4] = {0, 0, 0, 64};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct trace_reader *reader;

		pcap_begin(&made, PCAP_NS, LINK_ETHERNET, i % 2 == 1);
		memcpy(made.octets + 16, i % 2 == 1 ? big : little, 4);
		pcap_frame(&made, 0, 7, 1, 64, 64);
		pcap_frame(&made, 0, 8, 2, 1514, 1514);
		pcap_frame(&made, 0, 9, 3, 65, 65);
		if (i / 2 == 1)
			pack(&made);
		reader = open_capture(&made);
		assert_frame(reader, 7, 1, 64);
		assert_frame(reader, 8, 2, 1514);
		assert_frame(reader, 9, 3, 65);
		assert_end(reader);
	}
}

static void
put_mixed(struct capture *capture)
{
	pcap_begin(capture, PCAP_NS, LINK_ETHERNET, false);
	pcap_frame(capture, 10, 500, 1, 42, 42);   /* short: 60 */
	pcap_frame(capture, 10, 900, 2, 64, 1514); /* truncated */
	pcap_frame(capture, 10, 899, 3, 64, 64);   /* backwards */
	pcap_frame(capture, 10, 899, 4, 65, 65);
}

static void
a_scan_sums_up(void **state)
{
	const char *path = path_in(state, "mixed.pcap");
	struct trace_summary sum;

	put_mixed(&made);
	write_file(path, made.octets, made.n);
	assert_int_equal(trace_scan(path, &sum, NULL), 0);
	unlink(path);
	assert_false(sum.pcapng);
	assert_int_equal(sum.frames, 4);
	assert_int_equal(sum.octets, 60 + 1514 + 64 + 65);
	assert_int_equal(sum.shortest, 60);
	assert_int_equal(sum.longest, 1514);
	assert_int_equal(sum.truncated, 1);
	assert_int_equal(sum.short_frames, 1);
	assert_int_equal(sum.backwards, 1);
	assert_true(sum.first_ns == 10000000500 && sum.last_ns == 10000000900);
	assert_int_equal(sum.memory_octets, 4 * 320 + 64 + 1536 + 64 + 128);
}

static void
a_scan_prints_one_line(void **state)
{
	static const char want[] =
		"{\"format\":\"pcap\",\"frames\":4,\"octets\":1703,\"shortest\":60,\"longest\":1514,"
		"\"truncated\":1,\"short\":1,\"backwards\":1,\"first_ns\":10000000500,"
		"\"last_ns\":10000000900,\"memory_octets\":3072}\n";
	const char *path = path_in(state, "mixed.pcap.gz");
	struct error err = {0};
	char text[1000] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	put_mixed(&made);
	pack(&made);
	write_file(path, made.octets, made.n);
	assert_int_equal(trace_scan_print(path, out, &err), 0);
	unlink(path);
	fclose(out);
	assert_string_equal(text, want);
}

static void
an_output_that_is_full_is_an_error(void **state)
{
	const char *path = path_in(state, "mixed.pcap");
	struct error err = {0};
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	put_mixed(&made);
	write_file(path, made.octets, made.n);
	assert_int_equal(trace_scan_print(path, out, &err), -EIO);
	unlink(path);
	assert_non_null(strstr(err.text, "cannot be written"));
	fclose(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pcap_of_every_magic),
		cmocka_unit_test(pcapng_of_every_resolution),
		cmocka_unit_test(interfaces_have_resolutions_of_their_own),
		cmocka_unit_test(truncated_and_short_frames_say_so),
		cmocka_unit_test(frame_check_sequences_are_cut_off),
		cmocka_unit_test(frames_beyond_the_headers_snaplen),
		cmocka_unit_test_setup_teardown(a_scan_sums_up, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_scan_prints_one_line, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(an_output_that_is_full_is_an_error, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
