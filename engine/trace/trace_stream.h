/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file as a FILE for libpcap, unpacked on the way where it is gzip. Refuses what is no regular file before
 * anything could wait for it. Used by trace_reader.c only. Cold, no EAL.
 */
#ifndef WR_TRACE_TRACE_STREAM_H
#define WR_TRACE_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <zlib.h>

#include "base/error.h"
#include "trace/trace_path.h"

/* Must stay where it is while file is open; fclose(file) gives back everything. */
struct trace_stream {
	FILE *file;
	gzFile gz;
	bool pcapng;
	char name[TRACE_NAME_OCTETS];
	char trouble[64]; /* why reading or unpacking stopped before the end; "" while it has not */
	char buffer[65536]; /* of file */
};

/* Nothing is open after an error. */
int trace_stream_open(struct trace_stream *stream, const char *path, struct error *err);

/* The same of n octets in memory, which are copied; name is for messages. */
int trace_stream_open_memory(struct trace_stream *stream, const void *octets, size_t n,
			     const char *name, struct error *err);

#endif
