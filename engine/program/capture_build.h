/* SPDX-License-Identifier: BSD-3-Clause */
/* The captures of a program: made before its workers run, written after they have stopped. Control thread. */
#ifndef WR_PROGRAM_CAPTURE_BUILD_H
#define WR_PROGRAM_CAPTURE_BUILD_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "program/program.h"

/* Plan a counters block for each capture and each task that it sees. -ENOMEM. */
int captures_plan(struct program *program, const struct program_config *config, struct error *err);

/*
 * Create the files and give the tasks, which are built, their sinks. Errors name the path in the parameters: a filter
 * that is none, no memory, no place to write to.
 */
int captures_open(struct program *program, const struct program_config *config, struct error *err);

uint32_t captures_count(const struct program_captures *captures);

/* Of capture i, once it is written. */
const char *captures_path(const struct program_captures *captures, uint32_t i);
uint64_t captures_frames(const struct program_captures *captures, uint32_t i);

/* Write all files, whatever happens to one of them; the first error. Once, after the workers. */
int captures_write(struct program *program, struct error *err);

/* NULL is allowed. Files that were not written are gone. */
void captures_close(struct program_captures *captures);

#endif
