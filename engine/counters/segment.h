/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared segment: a file of counter blocks that describes itself (docs/design/0002-engine-interface.md).
 *
 * Made in two steps, since blocks must not move once workers write them: segment_plan() each block, segment_map()
 * once, then segment_block() gives the addresses. Control thread only; blocks live until segment_close().
 * The file should be on tmpfs: on a disk, write-back would write-protect pages under the workers.
 */
#ifndef WR_COUNTERS_SEGMENT_H
#define WR_COUNTERS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "counters/counters.h"

struct segment;

struct segment_labels {
	const char *port;    /* NULL: not of a port */
	int queue;           /* -1: not of a queue */
	int lcore;           /* -1: not of an lcore */
	const char *stream;  /* NULL: not of a stream */
	const char *to_port; /* of a forward task; NULL: of none */
	const char *from;    /* of a bridge task; NULL: of none */
};

/* path is copied. Fails with -ENOMEM only. */
int segment_create(struct segment **out, const char *path, uint64_t tsc_hz, struct error *err);

/* Returns the block's index, or -ENOMEM with err set. Labels are copied. */
int segment_plan(struct segment *segment, enum counters_kind kind,
		 const struct segment_labels *labels, struct error *err);

/* Create the file (0600, replacing none: -EEXIST), size, map and describe it. All words are zero. */
int segment_map(struct segment *segment, struct error *err);

void *segment_block(const struct segment *segment, int index);
const char *segment_path(const struct segment *segment);
size_t segment_octets(const struct segment *segment);

/* Unmap and unlink. NULL is allowed. Readers that have mapped it keep the final values. */
void segment_close(struct segment *segment);

#endif
