/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/capture_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_memory.h"
#include "trace/trace_writer.h"

#define COMMENT_OCTETS 160

struct capture {
	char *path;
	struct trace_writer *writer; /* NULL once written */
	struct frame_filter *filter;
	struct capture_sink *sinks;
	uint32_t sink_count;
	uint8_t *memory; /* of all slots */
	uint64_t memory_octets;
	bool bad;
};

/* Share the slots out; the first sinks get one more where it does not come out even. */
static void
share_slots(struct capture *capture, const struct capture_spec *spec, uint32_t slot_octets)
{
	uint8_t *slots = capture->memory;

	for (uint32_t s = 0; s < capture->sink_count; s++) {
		struct capture_sink *sink = &capture->sinks[s];

		sink->filter = capture->filter;
		sink->slots = slots;
		sink->slot_octets = slot_octets;
		sink->slot_count = spec->frames / capture->sink_count +
				   (s < spec->frames % capture->sink_count);
		sink->octets_max = spec->octets;
		sink->overwrite = spec->overwrite;
		slots += (uint64_t)sink->slot_count * slot_octets;
	}
}

static int
open_sinks(struct capture *capture, const struct capture_spec *spec, struct error *err)
{
	uint32_t slot_octets = RTE_ALIGN_CEIL((uint32_t)sizeof(struct capture_slot) + spec->octets,
					      RTE_CACHE_LINE_SIZE);
	void *memory;
	int code;

	capture->sinks =
		aligned_alloc(COUNTERS_ALIGN, capture->sink_count * sizeof(capture->sinks[0]));
	if (capture->sinks == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory left for a capture");
	memset(capture->sinks, 0, capture->sink_count * sizeof(capture->sinks[0]));
	capture->memory_octets = (uint64_t)spec->frames * slot_octets;
	code = capture_memory_map(&memory, capture->memory_octets, err);
	if (code != 0)
		return code;
	capture->memory = memory;
	share_slots(capture, spec, slot_octets);
	return 0;
}

int
capture_open(struct capture **out, const struct capture_spec *spec, uint32_t sinks,
	     struct error *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	struct error why = {0};
	const char *where = "filter";
	int code;

	*out = NULL;
	if (capture != NULL)
		capture->path = strdup(spec->path);
	if (capture == NULL || capture->path == NULL) {
		free(capture);
		return error_set(err, -ENOMEM, "", "no memory left for a capture");
	}
	capture->sink_count = sinks;
	capture->bad = spec->bad;
	code = frame_filter_create(&capture->filter, spec->filter, &why);
	if (code == 0) {
		where = "frames";
		code = open_sinks(capture, spec, &why);
	}
	if (code == 0) {
		where = "path";
		code = trace_writer_open(&capture->writer, spec->path, spec->pcapng, &spec->port, 1,
					 &why);
	}
	if (code != 0) {
		capture_close(capture);
		return error_set(err, code, where, "%s", why.text);
	}
	*out = capture;
	return 0;
}

struct capture_sink *
capture_get_sink(const struct capture *capture, uint32_t i)
{
	return &capture->sinks[i];
}

const char *
capture_path(const struct capture *capture)
{
	return capture->path;
}

/* "reordered, damaged; stream s0, part 1, sequence 17" */
static void
describe(const struct capture_note *note, const struct capture_flow *flow_of,
	 char comment[COMMENT_OCTETS])
{
	static const struct {
		uint8_t wrong;
		const char *words;
	} known[] = {
		{WRONG_DUPLICATE, "duplicate"},
		{WRONG_REORDERED, "reordered"},
		{WRONG_TOO_LATE, "too late to know whether it is a duplicate"},
		{WRONG_DAMAGED, "damaged"},
		{WRONG_IMPOSSIBLE, "impossible: not sent yet, or not at that time"},
	};
	const struct capture_flow *flow = &flow_of[note->id];
	int n = 0;

	for (size_t i = 0; i < RTE_DIM(known); i++)
		if ((note->wrong & known[i].wrong) != 0)
			n += snprintf(comment + n, COMMENT_OCTETS - (size_t)n, "%s%s",
				      n > 0 ? ", " : "", known[i].words);
	if (!note->stamped || flow->stream == NULL)
		return;
	n += snprintf(comment + n, COMMENT_OCTETS - (size_t)n, "; stream %s", flow->stream);
	if (flow->parts > 1)
		n += snprintf(comment + n, COMMENT_OCTETS - (size_t)n, ", part %u", flow->part);
	snprintf(comment + n, COMMENT_OCTETS - (size_t)n, ", sequence %u", note->sequence);
}

/* A sink's oldest frame that is not written yet. */
struct oldest {
	const struct capture_sink *sink;
	uint32_t slot;
	uint32_t left;
};

/* The one that arrived first of all, NULL when none is left. */
static struct oldest *
first_of(struct oldest *oldest, uint32_t n)
{
	struct oldest *first = NULL;

	for (uint32_t s = 0; s < n; s++) {
		if (oldest[s].left > 0 &&
		    (first == NULL || capture_slot_of(oldest[s].sink, oldest[s].slot)->tsc <
					      capture_slot_of(first->sink, first->slot)->tsc))
			first = &oldest[s];
	}
	return first;
}

static void
write_slot(struct capture *capture, const struct capture_slot *slot,
	   const struct capture_clock *clock, const struct capture_flow *flow_of)
{
	char comment[COMMENT_OCTETS];
	struct trace_written frame = {.time_ns = capture_clock_real_ns(clock, slot->tsc),
				      .octets = slot->octets,
				      .stored = slot->stored,
				      .length = slot->length};

	if (capture->bad) {
		describe(&slot->note, flow_of, comment);
		frame.comment = comment;
	}
	trace_writer_put(capture->writer, &frame);
}

static uint64_t
write_all(struct capture *capture, struct oldest *oldest, const struct capture_clock *clock,
	  const struct capture_flow *flow_of)
{
	uint64_t frames = 0;
	struct oldest *first;

	for (uint32_t s = 0; s < capture->sink_count; s++) {
		const struct capture_sink *sink = &capture->sinks[s];

		oldest[s] = (struct oldest){sink, sink->used == sink->slot_count ? sink->next : 0,
					    sink->used};
	}
	while ((first = first_of(oldest, capture->sink_count)) != NULL) {
		write_slot(capture, capture_slot_of(first->sink, first->slot), clock, flow_of);
		first->slot = first->slot + 1 < first->sink->slot_count ? first->slot + 1 : 0;
		first->left--;
		frames++;
	}
	return frames;
}

int
capture_write(struct capture *capture, const struct capture_clock *clock,
	      const struct capture_flow *flow_of, uint64_t *frames, struct error *err)
{
	struct oldest *oldest = calloc(capture->sink_count, sizeof(*oldest));
	int code;

	*frames = 0;
	if (oldest == NULL)
		return error_set(err, -ENOMEM, NULL, "%.100s: no memory left to write it",
				 capture->path);
	*frames = write_all(capture, oldest, clock, flow_of);
	free(oldest);
	code = trace_writer_close(capture->writer, err);
	capture->writer = NULL;
	capture_memory_unmap(capture->memory, capture->memory_octets);
	capture->memory = NULL;
	return code;
}

void
capture_close(struct capture *capture)
{
	if (capture == NULL)
		return;
	trace_writer_discard(capture->writer);
	capture_memory_unmap(capture->memory, capture->memory_octets);
	frame_filter_free(capture->filter);
	free(capture->sinks);
	free(capture->path);
	free(capture);
}
