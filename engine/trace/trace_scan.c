/* SPDX-License-Identifier: BSD-3-Clause */
/* What a capture file holds as a whole; see trace_reader.h. */
#include <errno.h>
#include <string.h>

#include "trace/trace_path.h"
#include "trace/trace_reader.h"

/* A ready frame in its mempool: the object's header, struct rte_mbuf, headroom; then the octets in whole cache lines. */
#define READY_FRAME_OVERHEAD_OCTETS (64u + 128u + 128u)
#define CACHE_LINE_OCTETS 64u

static uint64_t
memory_of(uint32_t length)
{
	uint32_t lines = (length + CACHE_LINE_OCTETS - 1) / CACHE_LINE_OCTETS;

	return READY_FRAME_OVERHEAD_OCTETS + lines * CACHE_LINE_OCTETS;
}

static void
add(struct trace_summary *sum, const struct trace_frame *frame, uint64_t before_ns)
{
	if (sum->frames == 0) {
		sum->first_ns = sum->last_ns = before_ns = frame->time_ns;
		sum->shortest = sum->longest = frame->length;
	}
	sum->frames++;
	sum->octets += frame->length;
	sum->memory_octets += memory_of(frame->length);
	sum->truncated += frame->truncated;
	sum->short_frames += frame->short_frame;
	sum->backwards += frame->time_ns < before_ns;
	if (frame->length < sum->shortest)
		sum->shortest = frame->length;
	if (frame->length > sum->longest)
		sum->longest = frame->length;
	if (frame->time_ns > sum->last_ns)
		sum->last_ns = frame->time_ns;
}

int
trace_scan(const char *path, struct trace_summary *out, struct error *err)
{
	char name[TRACE_NAME_OCTETS];
	struct trace_reader *reader;
	struct trace_frame frame;
	uint64_t before_ns = 0;
	int code = trace_reader_open(&reader, path, err);

	memset(out, 0, sizeof(*out));
	if (code != 0)
		return code;
	out->pcapng = trace_reader_is_pcapng(reader);
	while ((code = trace_reader_next(reader, &frame, err)) > 0) {
		add(out, &frame, before_ns);
		before_ns = frame.time_ns;
	}
	trace_reader_close(reader);
	if (code == 0 && out->frames == 0) {
		trace_path_show(name, path);
		return error_set(err, -ENODATA, NULL, "%s: holds no frames; capture some", name);
	}
	return code;
}
