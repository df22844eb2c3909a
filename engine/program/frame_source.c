/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program/frame_render.h"
#include "trace/trace_reader.h"

/* A trace while it grows. */
struct growing {
	struct trace_frames *trace;
	size_t frames_room;
	size_t octets_room;
	uint64_t first_ns;
};

static int
grow(void *array, size_t count, size_t size)
{
	void **place = array;
	void *more = realloc(*place, count * size);

	if (more == NULL)
		return -ENOMEM;
	*place = more;
	return 0;
}

static int
make_room(struct growing *growing, uint32_t octets)
{
	struct trace_frames *trace = growing->trace;
	size_t frames = 2 * growing->frames_room + 1024;

	if (trace->at[trace->count] + octets > growing->octets_room) {
		growing->octets_room += growing->octets_room / 2 + (1u << 20);
		if (grow(&trace->octets, growing->octets_room, 1) != 0)
			return -ENOMEM;
	}
	if (trace->count < growing->frames_room)
		return 0;
	growing->frames_room = frames;
	if (grow(&trace->at, frames + 1, sizeof(trace->at[0])) != 0 ||
	    grow(&trace->lengths, frames, sizeof(trace->lengths[0])) != 0)
		return -ENOMEM;
	return grow(&trace->times_ns, frames, sizeof(trace->times_ns[0]));
}

static int
append(struct growing *growing, const struct trace_frame *frame)
{
	struct trace_frames *trace = growing->trace;
	uint32_t n = trace->count;
	uint64_t time_ns;

	if (n == UINT32_MAX || make_room(growing, frame->captured) != 0)
		return -ENOMEM;
	if (n == 0)
		growing->first_ns = frame->time_ns;
	time_ns = frame->time_ns > growing->first_ns ? frame->time_ns - growing->first_ns : 0;
	if (n > 0 && time_ns < trace->times_ns[n - 1])
		time_ns = trace->times_ns[n - 1];
	memcpy(trace->octets + trace->at[n], frame->octets, frame->captured);
	trace->at[n + 1] = trace->at[n] + frame->captured;
	trace->lengths[n] = (uint16_t)frame->length;
	trace->times_ns[n] = time_ns;
	trace->longest = frame->length > trace->longest ? frame->length : trace->longest;
	trace->count++;
	return 0;
}

static int
load(struct growing *growing, struct trace_reader *reader, const char *path, struct error *err)
{
	struct trace_frame frame;
	int code;

	while ((code = trace_reader_next(reader, &frame, err)) == 1) {
		if (append(growing, &frame) != 0)
			return error_set(err, -ENOMEM, NULL, "%s: no memory for its frames", path);
	}
	if (code == 0 && growing->trace->count == 0)
		return error_set(err, -ENODATA, NULL, "%s: there are no frames in it", path);
	return code;
}

static void
trace_frames_free(struct trace_frames *trace)
{
	if (trace == NULL)
		return;
	free(trace->octets);
	free(trace->at);
	free(trace->lengths);
	free(trace->times_ns);
	free(trace);
}

static int
trace_frames_load(struct trace_frames **out, const char *path, struct error *err)
{
	struct growing growing = {.trace = calloc(1, sizeof(*growing.trace))};
	struct trace_reader *reader = NULL;
	int code = trace_reader_open(&reader, path, err);

	if (code != 0) {
		free(growing.trace);
		return code;
	}
	if (growing.trace == NULL ||
	    (growing.trace->at = calloc(1, sizeof(growing.trace->at[0]))) == NULL)
		code = error_set(err, -ENOMEM, NULL, "%s: no memory for its frames", path);
	if (code == 0)
		code = load(&growing, reader, path, err);
	trace_reader_close(reader);
	if (code == 0)
		*out = growing.trace;
	else
		trace_frames_free(growing.trace);
	return code;
}

/* The frames of a file that one of the streams before number `index` has loaded, or NULL. */
static const struct trace_frames *
find_loaded(const struct frame_source *sources, const struct stream_config *streams, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++) {
		if (streams[i].trace.path != NULL &&
		    strcmp(streams[i].trace.path, streams[index].trace.path) == 0)
			return sources[i].trace;
	}
	return NULL;
}

int
frame_sources_load(struct frame_source **out, const struct program_config *config,
		   struct error *err)
{
	struct frame_source *sources = calloc((size_t)config->n_streams + 1, sizeof(*sources));

	if (sources == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u streams", config->n_streams);
	*out = sources;
	for (uint32_t i = 0; i < config->n_streams; i++) {
		struct trace_frames *trace = NULL;
		int code;

		sources[i].stream = &config->streams[i];
		if (config->streams[i].trace.path == NULL)
			continue;
		sources[i].trace = find_loaded(sources, config->streams, i);
		if (sources[i].trace != NULL)
			continue;
		code = trace_frames_load(&trace, config->streams[i].trace.path, err);
		if (code != 0)
			return code;
		sources[i].trace = trace;
	}
	return 0;
}

void
frame_sources_free(struct frame_source *sources, const struct program_config *config)
{
	for (uint32_t i = config->n_streams; sources != NULL && i > 0; i--) {
		if (sources[i - 1].trace != NULL &&
		    find_loaded(sources, config->streams, i - 1) == NULL)
			trace_frames_free((struct trace_frames *)(uintptr_t)sources[i - 1].trace);
	}
	free(sources);
}

uint64_t
frame_source_period(const struct frame_source *source)
{
	return source->trace != NULL ? source->trace->count : source->stream->period;
}

uint32_t
frame_source_octets(const struct frame_source *source, uint64_t i)
{
	if (source->trace != NULL)
		return source->trace->lengths[i % source->trace->count];
	return frame_length(source->stream, i);
}

static void
overwrite(const struct trace_config *config, uint8_t *frame, uint32_t length)
{
	for (uint32_t o = 0; o < config->n_overwrites; o++) {
		const struct overwrite_config *patch = &config->overwrites[o];

		if (patch->offset + patch->n_octets <= length)
			memcpy(frame + patch->offset, patch->octets, patch->n_octets);
	}
}

void
frame_source_render(const struct frame_source *source, uint64_t i, uint8_t *out)
{
	const struct trace_frames *trace = source->trace;

	if (trace == NULL) {
		frame_render(source->stream, i, out);
	} else {
		uint32_t n = (uint32_t)(i % trace->count), length = trace->lengths[n];
		uint32_t captured = (uint32_t)(trace->at[n + 1] - trace->at[n]);

		memcpy(out, trace->octets + trace->at[n], captured);
		memset(out + captured, 0, length - captured);
		overwrite(&source->stream->trace, out, length);
	}
}
