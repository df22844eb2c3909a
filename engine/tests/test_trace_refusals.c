/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is no capture file, or a damaged one, is refused at once and in words.
 *
 * Run by `meson test`, no DPDK. Under the sanitizers a wild length or a leak ends the test.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "tests/trace_fixture.h"

static struct capture made;

static void
assert_refused(const char *path, int want, const char *reason)
{
	struct trace_reader *reader = (struct trace_reader *)1;
	struct error err = {0};

	assert_int_equal(trace_reader_open(&reader, path, &err), want);
	assert_null(reader);
	assert_int_equal(err.code, want);
	assert_non_null(strstr(err.text, strrchr(path, '/')));
	if (strstr(err.text, reason) == NULL)
		fail_msg("not \"%s\" in: %s", reason, err.text);
}

static void
assert_memory_refused(const void *octets, size_t n, const char *reason)
{
	struct trace_reader *reader;
	struct error err = {0};

	assert_int_equal(trace_reader_open_memory(&reader, octets, n, "made", &err), -EINVAL);
	assert_null(reader);
	if (strstr(err.text, reason) == NULL)
		fail_msg("not \"%s\" in: %s", reason, err.text);
}

/* n frames can be read, then this reason is given, again and again. */
static void
assert_damaged(const struct capture *capture, uint64_t n, const char *reason)
{
	struct trace_reader *reader = open_capture(capture);
	struct error err = {0}, again = {0};
	struct trace_frame frame;
	char number[40];

	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(trace_reader_next(reader, &frame, NULL), 1);
	assert_int_equal(trace_reader_next(reader, &frame, &err), -EINVAL);
	if (strstr(err.text, reason) == NULL)
		fail_msg("not \"%s\" in: %s", reason, err.text);
	snprintf(number, sizeof(number), "made: frame %d", (int)n + 1);
	assert_ptr_equal(strstr(err.text, number), err.text);
	assert_int_equal(trace_reader_next(reader, &frame, &again), -EINVAL);
	assert_string_equal(err.text, again.text);
	assert_int_equal(trace_reader_next(reader, &frame, NULL), -EINVAL);
	trace_reader_close(reader);
}

static void
no_regular_file(void **state)
{
	const char *fifo = path_in(state, "fifo");

	assert_refused(*state, -EISDIR, ": a directory, not a capture file; ");
	assert_refused("/dev/null", -EINVAL, "a device");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_refused(fifo, -EINVAL, "a FIFO");
	unlink(fifo);
	assert_refused(path_in(state, "missing"), -ENOENT, "No such file");
}

static void
no_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n = strlen(path_in(state, "socket"));

	if (n >= sizeof(address.sun_path)) {
		close(fd);
		skip(); /* $TMPDIR is too long for a socket */
	}
	memcpy(address.sun_path, path_in(state, "socket"), n + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_refused(address.sun_path, -EINVAL, "a socket");
	close(fd);
	unlink(address.sun_path);
}

static void
a_file_that_may_not_be_read(void **state)
{
	const char *path = path_in(state, "secret");
	uid_t root = geteuid();

	write_file(path, "x", 1);
	chmod(path, 0);
	chmod(*state, 0711);
	if (root == 0)
		assert_int_equal(seteuid(65534), 0); /* nobody: root may read everything */
	assert_refused(path, -EACCES, "Permission denied");
	if (root == 0)
		assert_int_equal(seteuid(root), 0);
	unlink(path);
}

static void
no_capture(void **state)
{
	uint8_t packed_nothing[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3,
				    3,    0,    0, 0, 0, 0, 0, 0, 0, 0};

	(void)state;
	assert_memory_refused("", 0, "is empty");
	assert_memory_refused(packed_nothing, sizeof(packed_nothing), "is empty");
	assert_memory_refused(packed_nothing, sizeof(packed_nothing) - 8, "gzip");
	assert_memory_refused("hello, world, this is no capture file", 37, "no capture file");
	assert_memory_refused("\xd4\xc3\xb2", 3, "no capture file");
	assert_memory_refused("\xd4\xc3\xb2\xa1\x02\x00", 6, "no capture file");
	assert_memory_refused("\x0a\x0d\x0d\x0a", 4, "no capture file");
	assert_memory_refused("\x28\xb5\x2f\xfd....", 8, "zstd");
	assert_memory_refused("BZh9....", 8, "bzip2");
	pcapng_begin(&made, true);
	assert_memory_refused(made.octets, made.n, "no capture file");
}

static void
no_ethernet(void **state)
{
	(void)state;
	pcap_begin(&made, PCAP_US, LINK_LINUX_SLL, false);
	assert_memory_refused(made.octets, made.n, "LINUX_SLL (113)");
	pcap_begin(&made, PCAP_US, 59999, false);
	assert_memory_refused(made.octets, made.n, "unknown (59999)");
	pcapng_begin(&made, false);
	pcapng_interface(&made, LINK_LINUX_SLL, 9);
	assert_memory_refused(made.octets, made.n, "LINUX_SLL");
}

static void
a_later_interface_is_no_ethernet(void **state)
{
	(void)state;
	pcapng_begin(&made, false);
	pcapng_interface(&made, LINK_ETHERNET, 9);
	pcapng_frame(&made, 0, 7, 1, 60, 60);
	pcapng_interface(&made, LINK_LINUX_SLL, 9);
	pcapng_frame(&made, 1, 8, 1, 60, 60);
	assert_damaged(&made, 1, "type 113");
}

static void
put_two(struct capture *capture, bool pcapng)
{
	if (pcapng) {
		pcapng_begin(capture, false);
		pcapng_interface(capture, LINK_ETHERNET, 9);
		pcapng_frame(capture, 0, 1, 1, 60, 60);
		pcapng_frame(capture, 0, 2, 2, 60, 60);
	} else {
		pcap_begin(capture, PCAP_NS, LINK_ETHERNET, false);
		pcap_frame(capture, 0, 1, 1, 60, 60);
		pcap_frame(capture, 0, 2, 2, 60, 60);
	}
}

/* Cut at every octet of the last frame. */
static void
cut_in_mid_frame(void **state)
{
	(void)state;
	for (int pcapng = 0; pcapng <= 1; pcapng++) {
		size_t whole, frame = pcapng ? 92 : 76;

		put_two(&made, pcapng);
		whole = made.n;
		for (size_t lost = 1; lost < frame; lost++) {
			made.n = whole - lost;
			assert_damaged(&made, 1, "keeps the 1 before it");
		}
	}
}

/* Cut at every octet, a gzip file never passes for a complete one. */
static void
cut_gzip(void **state)
{
	static struct capture cut;

	put_two(&made, false);
	pack(&made);
	(void)state;
	for (size_t n = 3; n < made.n; n++) {
		struct trace_reader *reader;
		struct trace_frame frame;
		struct error err = {0};
		int code;

		cut = made;
		cut.n = n;
		code = trace_reader_open_memory(&reader, cut.octets, cut.n, "cut", &err);
		while (code == 0 && (code = trace_reader_next(reader, &frame, &err)) == 1)
			code = 0;
		assert_int_equal(code, -EINVAL);
		assert_non_null(strstr(err.text, "gzip"));
		trace_reader_close(reader);
	}
}

static void
damaged_gzip(void **state)
{
	(void)state;
	put_two(&made, false);
	pack(&made);
	made.octets[made.n - 6] ^= 1; /* CRC */
	assert_memory_refused(made.octets, made.n, "gzip: incorrect data check");
}

static void
frames_too_long(void **state)
{
	(void)state;
	pcap_begin(&made, PCAP_NS, LINK_ETHERNET, false);
	pcap_frame(&made, 0, 0, 1, 60, 60);
	pcap_frame(&made, 0, 0, 1, 60, 16381);
	assert_damaged(&made, 1, "frame 2 has 16381 octets, the longest to be sent 16380");
	pcap_begin(&made, PCAP_NS, LINK_ETHERNET, false);
	pcap_frame(&made, 0, 0, 1, 60, UINT32_MAX);
	assert_damaged(&made, 0, "4294967295 octets");
}

static void
absurd_captured_length(void **state)
{
	static const uint32_t lengths[] = {262145, 0x7fffffff, 0x80000000, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		put_two(&made, false);
		add_number(&made, 0, 8);
		add_number(&made, lengths[i], 4);
		add_number(&made, 60, 4);
		add_octets(&made, 0, 60, 60);
		assert_damaged(&made, 2, "keeps the 2 before it");
		put_two(&made, true);
		add_number(&made, 6, 4);
		add_number(&made, lengths[i], 4);
		add_octets(&made, 0, 60, 60);
		assert_damaged(&made, 2, "keeps the 2 before it");
	}
}

/* More captured than there was, or nothing at all: no frame is made up of it. */
static void
impossible_lengths(void **state)
{
	static const struct {
		uint32_t captured, wire;
		const char *reason;
	} rows[] = {
		{100, 99,
		 "frame 2 had 99 octets on the wire, says the file, which keeps 100 of it"},
		{100, 40, "frame 2 had 40 octets"},
		{100, 0, "frame 2 had 0 octets"},
		{0, 0, "`editcap IN OUT 2` leaves the frame out"},
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		bool pcapng = i >= COUNT(rows);
		uint32_t captured = rows[i % COUNT(rows)].captured;
		uint32_t wire = rows[i % COUNT(rows)].wire;

		if (pcapng) {
			pcapng_begin(&made, false);
			pcapng_interface(&made, LINK_ETHERNET, 9);
			pcapng_frame(&made, 0, 1, 1, 60, 60);
			pcapng_frame(&made, 0, 1, 1, captured, wire);
		} else {
			pcap_begin(&made, PCAP_NS, LINK_ETHERNET, false);
			pcap_frame(&made, 0, 0, 1, 60, 60);
			pcap_frame(&made, 0, 0, 1, captured, wire);
		}
		assert_damaged(&made, 1, rows[i % COUNT(rows)].reason);
	}
}

/* The file says that frames end with an FCS of 4 octets, and the second has no more than that. */
static void
nothing_but_an_fcs(void **state)
{
	(void)state;
	pcap_begin(&made, PCAP_NS, LINK_ETHERNET | 0x24000000, false);
	pcap_frame(&made, 0, 0, 1, 64, 64);
	pcap_frame(&made, 0, 0, 1, 4, 4);
	assert_damaged(&made, 1, "frame 2 had 4 octets");
}

static void
impossible_times(void **state)
{
	(void)state;
	pcap_begin(&made, PCAP_NS, LINK_ETHERNET, false);
	pcap_frame(&made, 5, 1000000000, 1, 60, 60);
	assert_damaged(&made, 0, "5 s 1000000000 ns");
	pcap_begin(&made, PCAP_US, LINK_ETHERNET, false);
	pcap_frame(&made, 5, 1000000, 1, 60, 60);
	assert_damaged(&made, 0, "5 s 1000000000 ns");
	pcapng_begin(&made, false);
	pcapng_interface(&made, LINK_ETHERNET, 6);
	pcapng_frame(&made, 0, UINT64_MAX, 1, 60, 60);
	assert_damaged(&made, 0, "between 1970 and 2262");
}

static void
a_scan_refuses(void **state)
{
	struct trace_summary sum;
	const char *path = path_in(state, "x.pcap");
	struct error err = {0};

	assert_int_equal(trace_scan(path, &sum, &err), -ENOENT);
	pcap_begin(&made, PCAP_NS, LINK_ETHERNET, false);
	write_file(path, made.octets, made.n);
	assert_int_equal(trace_scan(path, &sum, &err), -ENODATA);
	assert_non_null(strstr(err.text, "holds no frames"));
	put_two(&made, false);
	write_file(path, made.octets, made.n - 1);
	assert_int_equal(trace_scan(path, &sum, &err), -EINVAL);
	assert_non_null(strstr(err.text, "frame 2"));
	unlink(path);
}

static void
a_long_path_leaves_room_for_the_reason(void **state)
{
	struct error err = {0};
	struct trace_reader *reader;
	char path[3000];

	(void)state;
	memset(path, 'a', sizeof(path));
	for (size_t i = 0; i < sizeof(path); i += 100)
		path[i] = '/';
	memcpy(path + sizeof(path) - 10, "last.pcap", 10);
	assert_int_equal(trace_reader_open(&reader, path, &err), -ENOENT);
	assert_ptr_equal(strstr(err.text, "..."), err.text);
	assert_non_null(strstr(err.text, "last.pcap: cannot be opened: No such file"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_regular_file, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(no_socket, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_file_that_may_not_be_read, make_folder,
						remove_folder),
		cmocka_unit_test(no_capture),
		cmocka_unit_test(no_ethernet),
		cmocka_unit_test(a_later_interface_is_no_ethernet),
		cmocka_unit_test(cut_in_mid_frame),
		cmocka_unit_test(cut_gzip),
		cmocka_unit_test(damaged_gzip),
		cmocka_unit_test(frames_too_long),
		cmocka_unit_test(absurd_captured_length),
		cmocka_unit_test(impossible_lengths),
		cmocka_unit_test(nothing_but_an_fcs),
		cmocka_unit_test(impossible_times),
		cmocka_unit_test_setup_teardown(a_scan_refuses, make_folder, remove_folder),
		cmocka_unit_test(a_long_path_leaves_room_for_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
