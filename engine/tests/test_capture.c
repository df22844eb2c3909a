/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures from received mbufs to the file: which frames are kept, in which order they are written, at which times.
 *
 * Run by `meson test`; DPDK's inline functions and mempools without hugepages or devices. What tshark says of comments:
 * tests/behaviour/test_engine_captures.py.
 */
#include "tests/eal_fixture.h"

#include "base/units.h"
#include "capture/capture_file.h"
#include "capture/capture_memory.h"
#include "trace/trace_reader.h"

enum { FRAMES = 64, FRAME = 64, HZ = 1000000000, SINKS_MAX = 3 };

struct fixture {
	struct rte_mempool *pool;
	struct rte_mbuf *mbufs[FRAMES];
	struct capture_counters counters[SINKS_MAX];
	char folder[64];
	char path[80];
	struct capture *capture;
};

static int
set_up(void **state)
{
	static unsigned int number;
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, sizeof(*f));
	char name[32];

	memset(f, 0, sizeof(*f));
	snprintf(name, sizeof(name), "capture%u", number++);
	snprintf(f->folder, sizeof(f->folder), "/tmp/wr-capture-XXXXXX");
	if (mkdtemp(f->folder) == NULL)
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/x.pcapng", f->folder);
	f->pool = rte_pktmbuf_pool_create(name, 2 * FRAMES - 1, 0, 0, 2048, SOCKET_ID_ANY);
	for (uint32_t i = 0; i < FRAMES; i++) { /* the frame's number is in its first octets */
		uint8_t *octets;

		f->mbufs[i] = rte_pktmbuf_alloc(f->pool);
		octets = (uint8_t *)rte_pktmbuf_append(f->mbufs[i], FRAME);
		memset(octets, (int)i, FRAME);
	}
	*state = f;
	return 0;
}

/* rmdir() fails where a part of a file is left. */
static int
tear_down(void **state)
{
	struct fixture *f = *state;
	int code;

	capture_close(f->capture);
	rte_pktmbuf_free_bulk(f->mbufs, FRAMES);
	rte_mempool_free(f->pool);
	unlink(f->path);
	code = rmdir(f->folder);
	free(f);
	return code;
}

/* Open it as the change says; every sink has its counters. */
static void
open_capture(struct fixture *f, const struct capture_spec *change, uint32_t sinks)
{
	struct capture_spec spec = *change;
	struct error err = {0};

	spec.path = f->path;
	spec.port = "p0";
	spec.pcapng = true;
	spec.filter = spec.filter != NULL ? spec.filter : "";
	spec.octets = spec.octets != 0 ? spec.octets : 1514;
	if (capture_open(&f->capture, &spec, sinks, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	for (uint32_t s = 0; s < sinks; s++)
		capture_get_sink(f->capture, s)->counters = &f->counters[s];
}

static struct trace_reader *
write_capture(struct fixture *f, const struct capture_flow *flows, uint64_t frames)
{
	const struct capture_clock clock = {{0, 0}, 1};
	struct trace_reader *reader;
	struct error err = {0};
	uint64_t written;

	if (capture_write(f->capture, &clock, flows, &written, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(written, frames);
	assert_int_equal(trace_reader_open(&reader, f->path, NULL), 0);
	return reader;
}

/* The next frame of the file is frame `number`, at this time. */
static void
assert_next(struct trace_reader *reader, uint64_t time_ns, uint32_t number, uint32_t stored)
{
	struct trace_frame frame;

	assert_int_equal(trace_reader_next(reader, &frame, NULL), 1);
	assert_int_equal(frame.time_ns, time_ns);
	assert_int_equal(frame.captured, stored);
	for (uint32_t i = 0; i < stored; i++)
		assert_int_equal(frame.octets[i], number);
}

static void
assert_end(struct trace_reader *reader)
{
	struct trace_frame frame;

	assert_int_equal(trace_reader_next(reader, &frame, NULL), 0);
	trace_reader_close(reader);
}

static void
the_first_stay_when_it_is_full(void **state)
{
	struct fixture *f = *state;
	struct trace_reader *reader;

	open_capture(f, &(struct capture_spec){.frames = 10}, 1);
	capture_burst(capture_get_sink(f->capture, 0), f->mbufs, 7, 100);
	assert_int_equal(f->counters[0].stored, 7);
	capture_burst(capture_get_sink(f->capture, 0), f->mbufs + 7, 20, 200);
	assert_int_equal(f->counters[0].matched, 27);
	assert_int_equal(f->counters[0].stored, 10);
	assert_int_equal(f->counters[0].missed, 17);
	assert_int_equal(f->counters[0].overwritten, 0);
	reader = write_capture(f, NULL, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_next(reader, i < 7 ? 100 : 200, i, FRAME);
	assert_end(reader);
}

static void
the_last_stay_when_it_overwrites(void **state)
{
	struct fixture *f = *state;
	struct trace_reader *reader;

	for (uint32_t received = 1; received <= 25; received++) {
		uint32_t kept = RTE_MIN(received, 10u);

		memset(f->counters, 0, sizeof(f->counters));
		open_capture(f, &(struct capture_spec){.frames = 10, .overwrite = true}, 1);
		for (uint32_t i = 0; i < received; i++)
			capture_burst(capture_get_sink(f->capture, 0), f->mbufs + i, 1, 100 + i);
		assert_int_equal(f->counters[0].stored, kept);
		assert_int_equal(f->counters[0].overwritten, received - kept);
		assert_int_equal(f->counters[0].missed, 0);
		reader = write_capture(f, NULL, kept);
		for (uint32_t i = received - kept; i < received; i++)
			assert_next(reader, 100 + i, i, FRAME);
		assert_end(reader);
		capture_close(f->capture);
		f->capture = NULL;
	}
}

/* Each sink's frames ascend; the file's do too, and no sink loses its own order at equal times. */
static void
sinks_are_merged_by_time(void **state)
{
	static const struct {
		uint64_t tsc;
		uint32_t sink;
	} arrivals[] = {{5, 1}, {6, 0}, {7, 0}, {7, 1}, {7, 2}, {9, 1}, {9, 1}, {12, 0}};
	struct fixture *f = *state;
	struct trace_reader *reader;

	open_capture(f, &(struct capture_spec){.frames = 14}, SINKS_MAX);
	assert_int_equal(capture_get_sink(f->capture, 0)->slot_count, 5);
	assert_int_equal(capture_get_sink(f->capture, 1)->slot_count, 5);
	assert_int_equal(capture_get_sink(f->capture, 2)->slot_count, 4);
	for (uint32_t s = 0; s < SINKS_MAX; s++) /* one queue after the other */
		for (uint32_t i = 0; i < COUNT(arrivals); i++)
			if (arrivals[i].sink == s)
				capture_burst(capture_get_sink(f->capture, s), f->mbufs + i, 1,
					      arrivals[i].tsc);
	reader = write_capture(f, NULL, COUNT(arrivals));
	for (uint32_t i = 0; i < COUNT(arrivals); i++)
		assert_next(reader, arrivals[i].tsc, i, FRAME);
	assert_end(reader);
}

static void
lists_of_sinks_filters_and_cuts(void **state)
{
	struct fixture *f = *state;
	struct capture_sink *first, *second;
	struct trace_reader *reader;

	open_capture(
		f, &(struct capture_spec){.frames = 40, .filter = "ether[0] & 1 = 1", .octets = 17},
		2);
	first = capture_get_sink(f->capture, 0);
	second = capture_get_sink(f->capture, 1);
	first->other = second;
	second->filter = NULL;
	capture_burst(first, f->mbufs, 6, 50);
	assert_int_equal(f->counters[0].matched, 3);
	assert_int_equal(f->counters[1].matched, 6);
	reader = write_capture(f, NULL, 9);
	for (uint32_t i = 1; i < 6; i += 2)
		assert_next(reader, 50, i, 17);
	for (uint32_t i = 0; i < 6; i++)
		assert_next(reader, 50, i, 17);
	assert_end(reader);
}

static void
chained_mbufs_are_copied_whole(void **state)
{
	struct fixture *f = *state;
	struct trace_reader *reader;

	open_capture(f, &(struct capture_spec){.frames = FRAME, .filter = "len = 64"}, 1);
	for (uint16_t cut = 1; cut < FRAME; cut++) {
		struct rte_mbuf *head = rte_pktmbuf_alloc(f->pool);
		struct rte_mbuf *tail = rte_pktmbuf_alloc(f->pool);

		memset(rte_pktmbuf_append(head, cut), cut, cut);
		memset(rte_pktmbuf_append(tail, FRAME - cut), cut, FRAME - cut);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		capture_burst(capture_get_sink(f->capture, 0), &head, 1, cut);
		rte_pktmbuf_free(head);
	}
	reader = write_capture(f, NULL, FRAME - 1);
	for (uint32_t cut = 1; cut < FRAME; cut++)
		assert_next(reader, cut, cut, FRAME);
	assert_end(reader);
}

/* How often the file has this comment, with the length that the option gives it. */
static unsigned int
count_comment(const char *path, const char *comment)
{
	static uint8_t octets[16384];
	uint8_t wanted[200] = {1, 0, (uint8_t)strlen(comment), 0};
	FILE *file = fopen(path, "rb");
	unsigned int found = 0;
	size_t n, length = 4 + (strlen(comment) + 3) / 4 * 4;

	assert_non_null(file);
	n = fread(octets, 1, sizeof(octets), file);
	fclose(file);
	memcpy(wanted + 4, comment, strlen(comment));
	for (size_t i = 0; i + length <= n; i += 4)
		found += memcmp(octets + i, wanted, length) == 0;
	return found;
}

static void
comments_tell_what_is_wrong(void **state)
{
	static struct capture_flow flows[UINT16_MAX + 1];
	struct fixture *f = *state;
	struct capture_sink *sink;

	flows[7] = (struct capture_flow){"s0", 0, 1};
	flows[65535] = (struct capture_flow){"long stream", 2, 3};
	open_capture(f, &(struct capture_spec){.frames = 20, .bad = true}, 1);
	sink = capture_get_sink(f->capture, 0);
	capture_bad(sink, f->mbufs[0], 1, (struct capture_note){17, 7, WRONG_DUPLICATE, true});
	capture_bad(
		sink, f->mbufs[1], 2,
		(struct capture_note){UINT32_MAX, 65535, WRONG_REORDERED | WRONG_DAMAGED, true});
	capture_bad(sink, f->mbufs[2], 3, (struct capture_note){0, 0, WRONG_DAMAGED, false});
	capture_bad(sink, f->mbufs[3], 4, (struct capture_note){5, 8, WRONG_DAMAGED, true});
	capture_bad(NULL, f->mbufs[4], 5, (struct capture_note){0, 0, WRONG_DAMAGED, false});
	trace_reader_close(write_capture(f, flows, 4));
	assert_int_equal(count_comment(f->path, "duplicate; stream s0, sequence 17"), 1);
	assert_int_equal(count_comment(f->path, "reordered, damaged; stream long stream, part 2, "
						"sequence 4294967295"),
			 1);
	assert_int_equal(count_comment(f->path, "damaged"), 2);
}

static void
openings_that_fail_say_where(void **state)
{
	struct fixture *f = *state;
	struct capture_spec spec = {
		.path = "/nowhere/x", .port = "p0", .filter = "", .frames = 1, .octets = 64};
	struct error err = {0};

	assert_int_equal(capture_open(&f->capture, &spec, 1, &err), -ENOENT);
	assert_string_equal(err.path, "path");
	spec.path = f->path;
	spec.filter = "(";
	assert_int_equal(capture_open(&f->capture, &spec, 1, &err), -EINVAL);
	assert_string_equal(err.path, "filter");
	assert_null(f->capture);
}

static void
memory_that_is_not_there_is_refused(void **state)
{
	uint64_t available = capture_memory_available();
	struct error err = {0};
	void *memory;

	(void)state;
	assert_true(available > 0);
	if (available == UINT64_MAX)
		skip(); /* neither /proc/meminfo nor control groups here */
	assert_int_equal(capture_memory_map(&memory, available + (UINT64_C(1) << 30), &err),
			 -ENOMEM);
	assert_null(memory);
	assert_non_null(strstr(err.text, "are available; capture fewer frames"));
	assert_int_equal(capture_memory_map(&memory, 4097, &err), 0);
	((uint8_t *)memory)[4096] = 1;
	capture_memory_unmap(memory, 4097);
	capture_memory_unmap(NULL, 1);
}

static void
clocks_run_between_two_anchors(void **state)
{
	const struct capture_anchor first = {1000, 5000000000}, last = {1000 + HZ, 6000500000};
	struct capture_clock clock = capture_clock_between(first, last, HZ);

	(void)state;
	assert_int_equal(capture_clock_real_ns(&clock, 1000), 5000000000);
	assert_int_equal(capture_clock_real_ns(&clock, 1000 + HZ), 6000500000);
	assert_int_equal(capture_clock_real_ns(&clock, 1000 + HZ / 2), 5500250000);
	assert_int_equal(capture_clock_real_ns(&clock, 0), 5000000000 - 1000);
	/* Somebody set the clock back, or forth; and no time has passed. */
	clock = capture_clock_between(first, (struct capture_anchor){1000 + HZ, 17}, HZ);
	assert_int_equal(capture_clock_real_ns(&clock, 1000 + HZ), 6000000000);
	clock = capture_clock_between(first, (struct capture_anchor){1000 + HZ, 99000000000}, HZ);
	assert_int_equal(capture_clock_real_ns(&clock, 1000 + HZ), 6000000000);
	clock = capture_clock_between(first, first, HZ);
	assert_int_equal(capture_clock_real_ns(&clock, 1007), 5000000007);
}

static void
anchors_are_taken_from_both_clocks(void **state)
{
	struct capture_anchor before = capture_anchor_now(), after;
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_REALTIME, &now);
	after = capture_anchor_now();
	assert_true(after.tsc > before.tsc);
	assert_in_range((uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec,
			before.real_ns, after.real_ns);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_stay_when_it_is_full),
		TEST(the_last_stay_when_it_overwrites),
		TEST(sinks_are_merged_by_time),
		TEST(lists_of_sinks_filters_and_cuts),
		TEST(chained_mbufs_are_copied_whole),
		TEST(comments_tell_what_is_wrong),
		TEST(openings_that_fail_say_where),
		cmocka_unit_test(memory_that_is_not_there_is_refused),
		cmocka_unit_test(clocks_run_between_two_anchors),
		cmocka_unit_test(anchors_are_taken_from_both_clocks),
	};

	return cmocka_run_group_tests_name("capture", tests, eal_up, eal_down);
}
