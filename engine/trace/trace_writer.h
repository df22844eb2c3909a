/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes frames with nanosecond times to a capture file: pcap (magic 0xa1b23c4d) or pcapng (if_tsresol 9, an interface
 * per port with its name). Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng. Cold, any thread, no EAL.
 */
#ifndef WR_TRACE_TRACE_WRITER_H
#define WR_TRACE_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct trace_writer;

struct trace_written {
	uint64_t time_ns;
	const uint8_t *octets; /* the first `stored` of the frame's `length`, without FCS */
	uint32_t stored;
	uint32_t length;
	uint32_t interface;
	const char *comment; /* pcapng only, at most 1,024 octets of it; NULL: none */
};

/*
 * Create (or replace) the file. names[n] are the interfaces of a pcapng file; pcap has just one, whose name is lost.
 * The file appears under its name only when trace_writer_close() succeeds: it is written beside it first.
 */
int trace_writer_open(struct trace_writer **out, const char *path, bool pcapng,
		      const char *const *names, uint32_t n, struct error *err);

/* One frame. Errors are kept for trace_writer_close(). */
void trace_writer_put(struct trace_writer *writer, const struct trace_written *frame);

/* One whole frame (octets without FCS) of interface `index` at time_ns. */
void trace_writer_add(struct trace_writer *writer, uint32_t index, uint64_t time_ns,
		      const uint8_t *octets, uint32_t n);

/* Write what is left and rename; the first error of all, after which no file is left behind. Frees the writer. */
int trace_writer_close(struct trace_writer *writer, struct error *err);

/* Leave no file; a file of that name stays as it was. Frees the writer; NULL is allowed. */
void trace_writer_discard(struct trace_writer *writer);

#endif
