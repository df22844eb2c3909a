/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames are meant: libpcap's filter expressions (pcap-filter(7)) on Ethernet frames.
 * Made on cold paths; matching is for any thread, hot ones too. No EAL.
 */
#ifndef WR_TRACE_FRAME_FILTER_H
#define WR_TRACE_FRAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct frame_filter;

/* "" makes no filter: *out is NULL, which everything matches. -EINVAL with libpcap's words, or -ENOMEM. */
int frame_filter_create(struct frame_filter **out, const char *expression, struct error *err);

/* The frame's first `stored` octets are there, of `octets` in all (without FCS): what lies behind does not match. */
bool frame_filter_matches_head(const struct frame_filter *filter, const uint8_t *frame,
			       uint32_t stored, uint32_t octets);

/* NULL matches everything. */
static inline bool
frame_filter_matches(const struct frame_filter *filter, const uint8_t *frame, uint32_t octets)
{
	return filter == NULL || frame_filter_matches_head(filter, frame, octets, octets);
}

/* NULL is allowed. */
void frame_filter_free(struct frame_filter *filter);

#endif
