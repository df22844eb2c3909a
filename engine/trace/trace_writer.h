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

/*
 * Create (or replace) the file. names[n] are the interfaces of a pcapng file; pcap has just one, whose name is lost.
 * The file appears under its name only when trace_writer_close() succeeds: it is written beside it first.
 */
int trace_writer_open(struct trace_writer **out, const char *path, bool pcapng,
		      const char *const *names, uint32_t n, struct error *err);

/* One frame (octets without FCS) of interface `index` at time_ns. Errors are kept for trace_writer_close(). */
void trace_writer_add(struct trace_writer *writer, uint32_t index, uint64_t time_ns,
		      const uint8_t *octets, uint32_t n);

/* Write what is left and rename; the first error of all, after which no file is left behind. Frees the writer. */
int trace_writer_close(struct trace_writer *writer, struct error *err);

#endif
