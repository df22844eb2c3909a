/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Renders frame i of a stream: template, then fields, then checksums. Cold, pure, any thread.
 * The contract is STREAM in docs/design/0002-engine-interface.md.
 */
#ifndef WR_PROGRAM_FRAME_RENDER_H
#define WR_PROGRAM_FRAME_RENDER_H

#include <stdint.h>

#include "config/config.h"

/* Write stream->frame_len_no_fcs octets to out: the stream's frame number i. The configuration must be checked. */
void frame_render(const struct stream_config *stream, uint64_t i, uint8_t *out);

#endif
