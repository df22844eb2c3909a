/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of trace/ share: captures made by hand, what is expected of a reader, and a folder for files.
 *
 * Included by test_trace_*.c only.
 */
#ifndef WR_TESTS_TRACE_FIXTURE_H
#define WR_TESTS_TRACE_FIXTURE_H

#include <unistd.h>

#include "tests/trace_captures.h"
#include "trace/trace_reader.h"

static inline struct trace_reader *
open_capture(const struct capture *capture)
{
	struct trace_reader *reader;
	struct error err = {0};
	int code = trace_reader_open_memory(&reader, capture->octets, capture->n, "made", &err);

	assert_string_equal(err.text, "");
	assert_int_equal(code, 0);
	return reader;
}

/* The next frame is this one, captured as a whole. */
static inline void
assert_frame(struct trace_reader *reader, uint64_t time_ns, uint8_t first, uint32_t length)
{
	struct trace_frame frame;

	assert_int_equal(trace_reader_next(reader, &frame, NULL), 1);
	assert_true(frame.time_ns == time_ns);
	assert_int_equal(frame.length, length);
	assert_int_equal(frame.captured, length);
	assert_false(frame.truncated || frame.short_frame);
	for (uint32_t k = 0; k < frame.captured; k++)
		assert_int_equal(frame.octets[k], octet_of(first, k));
}

static inline void
assert_end(struct trace_reader *reader)
{
	struct trace_frame frame;
	struct error err = {0};

	assert_int_equal(trace_reader_next(reader, &frame, &err), 0);
	assert_int_equal(trace_reader_next(reader, &frame, &err), 0);
	assert_string_equal(err.text, "");
	trace_reader_close(reader);
}

/* A folder of the test's own under $TMPDIR or /tmp; made and removed as a cmocka fixture whose state is its name. */
static inline int
make_folder(void **state)
{
	const char *base = getenv("TMPDIR");
	char *folder = malloc(4096);

	snprintf(folder, 4096, "%s/wr-trace-XXXXXX", base != NULL ? base : "/tmp");
	*state = folder;
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static inline int
remove_folder(void **state)
{
	int code = rmdir(*state); /* fails where a test has left something */

	free(*state);
	return code;
}

static inline const char *
path_in(void **state, const char *name)
{
	static char path[4200];

	snprintf(path, sizeof(path), "%s/%s", (const char *)*state, name);
	return path;
}

static inline void
write_file(const char *path, const void *octets, size_t n)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(octets, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

#endif
