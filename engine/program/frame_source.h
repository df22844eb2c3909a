/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a stream's frames come from: rendered from its template, or taken from a capture file. Cold, control thread.
 */
#ifndef WR_PROGRAM_FRAME_SOURCE_H
#define WR_PROGRAM_FRAME_SOURCE_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"

/* A capture file in memory. */
struct trace_frames {
	uint32_t count;
	uint32_t longest;   /* [octets] of the lengths */
	uint8_t *octets;    /* what was captured of all frames, one behind the other */
	uint64_t *at;       /* where in octets each begins; count + 1 of them */
	uint16_t *lengths;  /* on the wire, without FCS, at least 60; the rest is zeros */
	uint64_t *times_ns; /* since the first frame; never earlier than the one before */
};

struct frame_source {
	const struct stream_config *stream;
	const struct trace_frames *trace; /* NULL: rendered */
};

/* One for each of the program's streams; two of the same file share its frames. The configuration must outlive them. */
/* Refuses what trace_reader_open() and trace_reader_next() do; -ENODATA for a file without frames; -ENOMEM. */
int frame_sources_load(struct frame_source **out, const struct program_config *config,
		       struct error *err);
void frame_sources_free(struct frame_source *sources, const struct program_config *config);

/* Frames after which everything repeats; UINT64_MAX: above CONFIG_PERIOD_MAX. */
uint64_t frame_source_period(const struct frame_source *source);

/* Octets of frame i without FCS. */
uint32_t frame_source_octets(const struct frame_source *source, uint64_t i);

/* Write frame i to out, which has room for frame_source_octets(i). */
void frame_source_render(const struct frame_source *source, uint64_t i, uint8_t *out);

#endif
