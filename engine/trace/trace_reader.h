/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the frames of a capture file: pcap and pcapng, micro- and nanoseconds, plain or gzip. libpcap does the
 * formats, zlib the unpacking; what is refused or mended here is what a sender cares about. Cold, any thread, no EAL.
 */
#ifndef WR_TRACE_TRACE_READER_H
#define WR_TRACE_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TRACE_FRAME_OCTETS_MIN 60u    /* IEEE 802.3's 64 without FCS */
#define TRACE_FRAME_OCTETS_MAX 16380u /* as for templates: 16,384 without FCS */

struct trace_reader;

/* One frame as it is to be sent; octets stay valid until the next call. */
struct trace_frame {
	const uint8_t *octets; /* the captured ones: `captured` of them */
	uint32_t captured;     /* at most length */
	uint32_t length;  /* [octets] without FCS, as on the wire, 60...16380: the rest is zeros */
	uint64_t time_ns; /* as in the file, since 1970; fits into int64_t */
	bool truncated;   /* the capture kept less than the wire had */
	bool short_frame; /* the wire had less than 60 octets */
};

/* What a whole file holds. */
struct trace_summary {
	bool pcapng;
	uint64_t frames;
	uint64_t octets; /* sum of lengths */
	uint32_t shortest, longest;
	uint64_t truncated, short_frames;
	uint64_t backwards;         /* frames earlier than the one before */
	uint64_t first_ns, last_ns; /* of the first frame; the latest of all */
	uint64_t memory_octets;     /* what the ready frames take in a mempool */
};

/*
 * -ENOENT, -EACCES, -EISDIR, -EINVAL for what is no regular file, no capture, not Ethernet (the link type is named).
 * Errors say what is wrong with the file, name it, and what to do. *out is NULL then.
 */
int trace_reader_open(struct trace_reader **out, const char *path, struct error *err);

/* For tests and the fuzzer: a capture in memory, which is copied; name is for messages. */
int trace_reader_open_memory(struct trace_reader **out, const void *octets, size_t n,
			     const char *name, struct error *err);

/*
 * 1: *frame is the next one. 0: the end. Below 0, now and ever after: the file is cut or damaged, or the frame is too
 * long to be sent; err says at which frame (the first is 1).
 */
int trace_reader_next(struct trace_reader *reader, struct trace_frame *frame, struct error *err);

bool trace_reader_is_pcapng(const struct trace_reader *reader);
void trace_reader_close(struct trace_reader *reader);

/* Read the whole file once. A file without frames is refused: -ENODATA. */
int trace_scan(const char *path, struct trace_summary *out, struct error *err);

#endif
