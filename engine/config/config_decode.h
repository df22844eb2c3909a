/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the decoder: the rows of one object of the params each, see config.h for the whole.
 *
 * Called by config_decode.c and each other; main thread, cold path. *out is all zero before.
 * After a refusal it may be filled in part, and is freed as if it were whole.
 */
#ifndef WR_CONFIG_CONFIG_DECODE_H
#define WR_CONFIG_CONFIG_DECODE_H

#include "config/config.h"
#include "config/options.h"

/* Of a stream, config_check_stream() included; of a FIELD. */
extern const struct option stream_options[];
extern const struct option field_options[];
void config_free_stream(struct stream_config *stream);

/* Of a task of WORKER, and of each kind of task, in a struct task_config. */
extern const struct option task_options[];
extern const struct option reply_options[];
extern const struct option bridge_options[];
/* What most of them have: where they are. */
extern const struct option task_place_options[];

/* Of a ring between bridge tasks; of a capture. */
extern const struct option ring_options[];
extern const struct option capture_options[];
/* "pcap" or "pcapng". */
extern const char *const capture_formats[];
void config_free_captures(struct program_config *config);

/* "rss" of a port, a struct port_config whose Rx queues are known. */
void config_decode_rss(const struct cursor *port, void *out);

#endif
