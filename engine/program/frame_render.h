/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Renders frame i of a stream made of a template: the template cut to the frame's length, then length fields, fields
 * and checksums. Cold, pure, any thread. The contract is STREAM in docs/design/0002-engine-interface.md.
 */
#ifndef WR_PROGRAM_FRAME_RENDER_H
#define WR_PROGRAM_FRAME_RENDER_H

#include <stdint.h>

#include "config/stream_config.h"

/* The length of frame i. [octets] without FCS, 60…stream->frame_len_no_fcs */
uint32_t frame_length(const struct stream_config *stream, uint64_t i);

/* Write frame i to out, frame_length() octets, and return how many. The configuration must be checked. */
uint32_t frame_render(const struct stream_config *stream, uint64_t i, uint8_t *out);

/* What a checksum of a frame of `length` octets is taken of, not folded; its own two octets count as they stand. */
uint64_t frame_sum(const struct checksum_config *config, const uint8_t *frame, uint32_t length);

#endif
