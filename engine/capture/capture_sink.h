/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Copies received frames into memory that is there already. docs/design/0005-measurement.md, "Capturing".
 *
 * A sink is one capture as one task sees it: the task is its only writer, and nobody reads before the worker has
 * stopped. Slots all have the same size; with `overwrite` they are a ring.
 */
#ifndef WR_CAPTURE_CAPTURE_SINK_H
#define WR_CAPTURE_CAPTURE_SINK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "counters/counters.h"
#include "trace/frame_filter.h"

/* What may be wrong with a frame; bits. */
enum frame_wrong {
	WRONG_DUPLICATE = 1,
	WRONG_REORDERED = 2,
	WRONG_TOO_LATE = 4, /* with REORDERED: whether it is a duplicate is not known */
	WRONG_DAMAGED = 8,
	WRONG_IMPOSSIBLE = 16, /* a stamp that the sender has not written */
};

/* What a measuring task knows of a frame. */
struct capture_note {
	uint32_t sequence;
	uint16_t id;   /* the stamp's */
	uint8_t wrong; /* enum frame_wrong */
	bool stamped;  /* else neither id nor sequence */
};

struct capture_slot {
	uint64_t tsc;
	uint32_t length; /* of the frame, without FCS */
	uint32_t stored; /* octets of it that are here */
	struct capture_note note;
	uint8_t octets[];
};

struct capture_sink {
	alignas(COUNTERS_ALIGN) struct capture_counters *counters;
	struct capture_sink *other;        /* next of the task's list; NULL: the last */
	const struct frame_filter *filter; /* NULL: everything */
	uint8_t *slots;
	uint32_t slot_octets;
	uint32_t slot_count; /* at least 1 */
	uint32_t octets_max; /* stored of a frame */
	uint32_t next;       /* slot of the next frame */
	uint32_t used;       /* slots that hold a frame */
	bool overwrite;
};

static inline struct capture_slot *
capture_slot_of(const struct capture_sink *sink, uint32_t slot)
{
	return (struct capture_slot *)(void *)(sink->slots + (uint64_t)slot * sink->slot_octets);
}

/* The slot for one more frame, NULL when there is no room. */
static inline struct capture_slot *
capture_take_slot(struct capture_sink *sink)
{
	struct capture_slot *slot = capture_slot_of(sink, sink->next);

	if (sink->used == sink->slot_count) {
		if (!sink->overwrite) {
			counter_add(&sink->counters->missed, 1);
			return NULL;
		}
		counter_add(&sink->counters->overwritten, 1);
	} else {
		counter_set(&sink->counters->stored, ++sink->used);
	}
	sink->next = sink->next + 1 < sink->slot_count ? sink->next + 1 : 0;
	return slot;
}

/* Copy a frame that arrived at `tsc` if it matches. The filter sees the octets of the first mbuf of a chain. */
static inline void
capture_frame(struct capture_sink *sink, const struct rte_mbuf *mbuf, uint64_t tsc,
	      struct capture_note note)
{
	const uint32_t length = rte_pktmbuf_pkt_len(mbuf);
	struct capture_slot *slot;
	const void *octets;

	if (!frame_filter_matches_head(sink->filter, rte_pktmbuf_mtod(mbuf, const uint8_t *),
				       rte_pktmbuf_data_len(mbuf), length))
		return;
	counter_add(&sink->counters->matched, 1);
	slot = capture_take_slot(sink);
	if (slot == NULL)
		return;
	slot->tsc = tsc;
	slot->length = length;
	slot->stored = RTE_MIN(length, sink->octets_max);
	slot->note = note;
	octets = rte_pktmbuf_read(mbuf, 0, slot->stored, slot->octets); /* copies chains only */
	if (likely(octets != slot->octets))
		memcpy(slot->octets, octets, slot->stored);
}

/* A frame that something is wrong with, for every sink of the task's list. */
static inline void
capture_bad(struct capture_sink *sink, const struct rte_mbuf *mbuf, uint64_t tsc,
	    struct capture_note note)
{
	for (; sink != NULL; sink = sink->other)
		capture_frame(sink, mbuf, tsc, note);
}

/* A burst, for every sink of the task's list. */
static inline void
capture_burst(struct capture_sink *sink, struct rte_mbuf *const *mbufs, uint16_t count,
	      uint64_t tsc)
{
	const struct capture_note nothing = {0};

	for (; sink != NULL; sink = sink->other)
		for (uint16_t i = 0; i < count; i++)
			capture_frame(sink, mbufs[i], tsc, nothing);
}

#endif
