/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the decoder: one object of the params each, see config.h for the whole.
 *
 * Called by config_decode.c and each other; main thread, cold path. *out is all zero before.
 * After a refusal it may be filled in part, and is freed as if it were whole.
 */
#ifndef WR_CONFIG_CONFIG_DECODE_H
#define WR_CONFIG_CONFIG_DECODE_H

#include "config/config.h"
#include "config/json_cursor.h"

/* STREAM: single values only, config_check_stream() does the rest. */
void config_decode_stream(const struct cursor *at, struct stream_config *stream);
void config_free_stream(struct stream_config *stream);

/* A task of WORKER. */
void config_decode_task(const struct cursor *at, struct task_config *task);

/* A bridge task but for its kind and burst. */
void config_decode_bridge(const struct cursor *at, struct task_config *task);

/* "rings" of the params, which may lack them. */
void config_decode_rings(const struct cursor *root, struct program_config *out);

/* "format" of the object at: "pcap" or "pcapng". */
void config_decode_format(const struct cursor *at, bool *pcapng);

/* "rss" of a port, which may lack it; its Rx queues are known. */
void config_decode_rss(const struct cursor *port, uint32_t rx_queues, struct rss_config *rss);

/* "captures" of the params, which may lack them. */
void config_decode_captures(const struct cursor *root, struct program_config *out);
void config_free_captures(struct program_config *config);
/* The addresses of a reply task, which differ. */
void config_decode_addresses(const struct cursor *at, struct task_config *task);

/* FIELD. */
void config_decode_field(const struct cursor *at, struct field_config *field);

#endif
