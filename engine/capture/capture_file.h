/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture: its sinks, and the file they become when the workers have stopped. Cold, control thread.
 *
 * The file is created at the start, so that a place where none can be written is found out before traffic. It appears
 * under its name when it is complete.
 */
#ifndef WR_CAPTURE_CAPTURE_FILE_H
#define WR_CAPTURE_CAPTURE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/capture_clock.h"
#include "capture/capture_sink.h"

/* Which stream, and which part of it, carries a stamp's id. */
struct capture_flow {
	const char *stream; /* NULL: none of the program */
	uint32_t part;
	uint32_t parts; /* 1: the part goes without saying */
};

struct capture_spec {
	const char *path;   /* absolute */
	const char *port;   /* its name, the interface's in pcapng */
	const char *filter; /* "": everything */
	bool pcapng;
	bool overwrite;
	bool bad;        /* comments tell what is wrong */
	uint32_t frames; /* of all sinks, at least as many as those */
	uint32_t octets; /* stored of a frame at most */
};

struct capture;

/*
 * Create the file, compile the filter, and get memory for `sinks` sinks, which have no counters yet. err->path is "path",
 * "filter" or "frames".
 */
int capture_open(struct capture **out, const struct capture_spec *spec, uint32_t sinks,
		 struct error *err);

/* Sink i, for its task. */
struct capture_sink *capture_get_sink(const struct capture *capture, uint32_t i);

/*
 * Write the sinks' frames in order of arrival and give the memory back; *frames is how many. flow_of has 65,536 entries,
 * or is NULL where the capture is not of bad frames. An error names the file, of which nothing is left then. Once only.
 */
int capture_write(struct capture *capture, const struct capture_clock *clock,
		  const struct capture_flow *flow_of, uint64_t *frames, struct error *err);

const char *capture_path(const struct capture *capture);

/* What was not written is no more. NULL is allowed. */
void capture_close(struct capture *capture);

#endif
