/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Written captures: octet by octet as the formats say, read back as written, and never half of one under the name.
 *
 * Run by `meson test`, no DPDK.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/trace_fixture.h"
#include "trace/trace_writer.h"

static const char *const names[] = {"p0", "uplink"};
static uint8_t octets[20000];

static struct trace_writer *
open_writer(const char *path, bool pcapng)
{
	struct trace_writer *writer;
	struct error err = {0};

	for (uint32_t k = 0; k < sizeof(octets); k++)
		octets[k] = octet_of(1, k);
	assert_int_equal(trace_writer_open(&writer, path, pcapng, names, 2, &err), 0);
	assert_string_equal(err.text, "");
	return writer;
}

static size_t
read_file(const char *path, uint8_t *into, size_t n)
{
	FILE *file = fopen(path, "rb");
	size_t got;

	assert_non_null(file);
	got = fread(into, 1, n, file);
	fclose(file);
	return got;
}

static int
files_in(const char *folder)
{
	DIR *directory = opendir(folder);
	int n = 0;

	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
		n += entry->d_name[0] != '.';
	closedir(directory);
	return n;
}

/* In host order, which is little-endian wherever the engine runs (x86-64, arm64). */
static void
the_octets_of_a_pcap(void **state)
{
	const char *path = path_in(state, "x.pcap");
	struct trace_writer *writer = open_writer(path, false);
	static struct capture want;
	uint8_t got[200];

	trace_writer_add(writer, 1, 7000000042, octets, 61);
	assert_int_equal(trace_writer_close(writer, NULL), 0);
	pcap_begin(&want, PCAP_NS, LINK_ETHERNET, false);
	want.octets[16] = want.octets[17] = 0; /* snaplen 262144 */
	want.octets[18] = 4;
	pcap_frame(&want, 7, 42, 1, 61, 61);
	assert_int_equal(read_file(path, got, sizeof(got)), want.n);
	assert_memory_equal(got, want.octets, want.n);
	unlink(path);
}

static void
put_named_interface(struct capture *capture, const char *name, uint32_t n, uint32_t padded)
{
	uint32_t block = 16 + 4 + padded + 8 + 4 + 4;

	add_number(capture, 1, 4);
	add_number(capture, block, 4);
	add_number(capture, 1, 4);
	add_number(capture, 262144, 4);
	add_number(capture, 2, 2);
	add_number(capture, n, 2);
	memset(capture->octets + capture->n, 0, padded);
	memcpy(capture->octets + capture->n, name, n);
	capture->n += padded;
	add_number(capture, 9, 2);
	add_number(capture, 1, 2);
	add_number(capture, 9, 4);
	add_number(capture, 0, 4);
	add_number(capture, block, 4);
}

static void
the_octets_of_a_pcapng(void **state)
{
	const char *path = path_in(state, "x.pcapng");
	struct trace_writer *writer = open_writer(path, true);
	static struct capture want;
	uint8_t got[300];

	trace_writer_add(writer, 1, 0x123456789abcdef0, octets, 61);
	assert_int_equal(trace_writer_close(writer, NULL), 0);
	pcapng_begin(&want, false);
	put_named_interface(&want, "p0", 2, 4);
	put_named_interface(&want, "uplink", 6, 8);
	pcapng_frame(&want, 1, 0x123456789abcdef0, 1, 61, 61);
	assert_int_equal(read_file(path, got, sizeof(got)), want.n);
	assert_memory_equal(got, want.octets, want.n);
	unlink(path);
}

/* A frame of which the head was stored, and what was wrong with it. */
static void
cut_frames_and_comments(void **state)
{
	const char *path = path_in(state, "x.pcapng");
	struct trace_writer *writer = open_writer(path, true);
	struct trace_written frame = {.time_ns = 5,
				      .octets = octets,
				      .stored = 22,
				      .length = 60,
				      .interface = 1,
				      .comment = "damaged"};
	static const uint8_t tail[] = {1,   0, 7, 0, 'd', 'a', 'm', 'a', 'g', 'e',
				       'd', 0, 0, 0, 0,   0,   72,  0,   0,   0};
	static struct capture want;
	uint8_t got[300];

	trace_writer_put(writer, &frame);
	frame.comment = NULL;
	trace_writer_put(writer, &frame);
	assert_int_equal(trace_writer_close(writer, NULL), 0);
	pcapng_begin(&want, false);
	put_named_interface(&want, "p0", 2, 4);
	put_named_interface(&want, "uplink", 6, 8);
	pcapng_frame(&want, 1, 5, 1, 22, 60);
	want.octets[want.n - 56 + 4] = 72;
	memcpy(want.octets + want.n - 4, tail, sizeof(tail));
	want.n += sizeof(tail) - 4;
	pcapng_frame(&want, 1, 5, 1, 22, 60);
	assert_int_equal(read_file(path, got, sizeof(got)), want.n);
	assert_memory_equal(got, want.octets, want.n);
	writer = open_writer(path, false);
	trace_writer_put(writer,
			 &(struct trace_written){.octets = octets, .stored = 22, .length = 60});
	assert_int_equal(trace_writer_close(writer, NULL), 0);
	assert_int_equal(read_file(path, got, sizeof(got)), 24 + 16 + 22);
	assert_int_equal(got[24 + 8], 22);
	assert_int_equal(got[24 + 12], 60);
	unlink(path);
}

/* Given up: nothing is left, and what was there before stays. */
static void
discarded_files_are_gone(void **state)
{
	const char *path = path_in(state, "x");
	uint8_t got[4];

	write_file(path, "old", 3);
	trace_writer_discard(open_writer(path, true));
	assert_int_equal(files_in(*state), 1);
	assert_int_equal(read_file(path, got, sizeof(got)), 3);
	unlink(path);
	trace_writer_discard(NULL);
}

static void
what_was_written_is_read(void **state)
{
	const uint64_t late = 4294967295999999999; /* the last that pcap can tell */

	for (int pcapng = 0; pcapng <= 1; pcapng++) {
		const char *path = path_in(state, "round");
		struct trace_writer *writer = open_writer(path, pcapng);
		struct trace_reader *reader;

		for (uint32_t i = 0; i < 1000; i++)
			trace_writer_add(writer, i % 2, i * 12345678901, octets, 60 + i);
		trace_writer_add(writer, 0, late, octets, 16380);
		assert_int_equal(trace_writer_close(writer, NULL), 0);
		assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
		assert_int_equal(trace_reader_is_pcapng(reader), pcapng);
		for (uint32_t i = 0; i < 1000; i++)
			assert_frame(reader, i * 12345678901, 1, 60 + i);
		assert_frame(reader, late, 1, 16380);
		assert_end(reader);
		unlink(path);
	}
}

static void
the_name_appears_at_the_end(void **state)
{
	const char *path = path_in(state, "late.pcap");
	struct trace_writer *writer;
	struct stat is;
	mode_t mask = umask(027);

	write_file(path, "old", 3);
	writer = open_writer(path, false);
	trace_writer_add(writer, 0, 0, octets, 60);
	assert_int_equal(stat(path, &is), 0);
	assert_int_equal(is.st_size, 3);
	assert_int_equal(files_in(*state), 2);
	assert_int_equal(trace_writer_close(writer, NULL), 0);
	assert_int_equal(stat(path, &is), 0);
	assert_int_equal(is.st_size, 24 + 16 + 60);
	assert_int_equal(is.st_mode & 0777, 0640);
	assert_int_equal(files_in(*state), 1);
	umask(mask);
	unlink(path);
}

/* The close fails with this code and leaves nothing behind. */
static void
assert_fails(struct trace_writer *writer, void **state, int code, const char *reason)
{
	struct error err = {0};

	assert_int_equal(trace_writer_close(writer, &err), code);
	assert_int_equal(err.code, code);
	if (strstr(err.text, reason) == NULL)
		fail_msg("not \"%s\" in: %s", reason, err.text);
	assert_int_equal(files_in(*state), 0);
}

static void
frames_that_cannot_be_written(void **state)
{
	static const uint8_t large[262145];
	struct trace_writer *writer = open_writer(path_in(state, "x"), false);

	trace_writer_add(writer, 0, 4294967296000000000, octets, 60);
	trace_writer_add(writer, 7, 0, octets, 60); /* the first error is the one that is told */
	assert_fails(writer, state, -EOVERFLOW, "write pcapng");
	writer = open_writer(path_in(state, "x"), true);
	trace_writer_add(writer, 2, 0, octets, 60);
	assert_fails(writer, state, -EINVAL, "interface 2");
	writer = open_writer(path_in(state, "x"), true);
	trace_writer_add(writer, 0, 0, large, sizeof(large));
	assert_fails(writer, state, -EINVAL, "262145 octets");
}

/* Stands for a full disk: the error comes from write(). */
static void
no_room(void **state)
{
	static const uint32_t frames[] = {1, 1000}; /* seen at the close; seen before it */
	struct rlimit limit, small = {.rlim_cur = 50};

	getrlimit(RLIMIT_FSIZE, &limit);
	small.rlim_max = limit.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < COUNT(frames); i++) {
		struct trace_writer *writer = open_writer(path_in(state, "x"), false);

		setrlimit(RLIMIT_FSIZE, &small);
		for (uint32_t k = 0; k < frames[i]; k++)
			trace_writer_add(writer, 0, 0, octets, 1000);
		assert_fails(writer, state, -EFBIG, "File too large");
		setrlimit(RLIMIT_FSIZE, &limit);
	}
	signal(SIGXFSZ, SIG_DFL);
}

static void
places_that_cannot_be_written(void **state)
{
	struct trace_writer *writer;
	struct error err = {0};

	assert_int_equal(trace_writer_open(&writer, *state, true, names, 2, &err), -EISDIR);
	assert_null(writer);
	assert_non_null(strstr(err.text, "a directory"));
	assert_int_equal(trace_writer_open(&writer, "/dev/null", true, names, 2, &err), -EINVAL);
	assert_int_equal(trace_writer_open(&writer, path_in(state, "no/x"), true, names, 2, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "No such file or directory"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_octets_of_a_pcap, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(the_octets_of_a_pcapng, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(cut_frames_and_comments, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(discarded_files_are_gone, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(what_was_written_is_read, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_name_appears_at_the_end, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(frames_that_cannot_be_written, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(no_room, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(places_that_cannot_be_written, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
