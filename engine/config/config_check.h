/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must hold between the values of a configuration.
 *
 * Called by config_decode.c after each value has been checked alone; main thread, cold path.
 * No JSON here. All return 0, ERROR_PARAMS with the path of the offending value, or -ENOMEM.
 */
#ifndef WR_CONFIG_CONFIG_CHECK_H
#define WR_CONFIG_CONFIG_CHECK_H

#include "config/config.h"

/* Names are different. */
int config_check_ports(const struct ports_config *config, struct error *err);

/* Everything lies in every frame, no bit is written twice, no octet summed twice, and the schedule
 * is one; sets stream->period. */
int config_check_stream(struct stream_config *stream, uint32_t index, struct error *err);

/* lcores and stream names are unique, a queue belongs to one worker and sends a stream once, every
 * part of every stream has one task, a stream in bursts has one part, and every tx task has its
 * stream; sets stream_index in the tx tasks. */
int config_check_program(struct program_config *config, struct error *err);

/*
 * No queue is served by two workers, no Rx queue by two tasks, no Tx queue twice for the same stream. Streams must have been
 * resolved.
 */
int config_check_queues(const struct program_config *config, struct error *err);

/* Each has a port that is received from (of bad frames: measured), frames for all tasks that do, a file of its own. */
int config_check_captures(const struct program_config *config, struct error *err);
/* What a loop task sends is ready once and for all, and evenly spaced or not at all. Streams must have been resolved. */
int config_check_loops(const struct program_config *config, struct error *err);
/* Ring names are unique, each ring has one task that takes and others that give; sets the tasks' ring indices. */
int config_check_rings(const struct program_config *config, struct error *err);
/* A port has at most one reply task, and one where a task of it is to answer. */
int config_check_replies(const struct program_config *config, struct error *err);

#endif
