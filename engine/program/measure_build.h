/* SPDX-License-Identifier: BSD-3-Clause */
/* What measuring rx tasks need: counters for each part of a stamped stream, and the way from a stamp to them. Control thread. */
#ifndef WR_PROGRAM_MEASURE_BUILD_H
#define WR_PROGRAM_MEASURE_BUILD_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "counters/segment.h"
#include "measure/rx_measure.h"

/* What is measured: the parts of all stamped streams of the program. */
uint32_t measure_flows(const struct program_config *config);

/* Plan a flow block for each of them as the task sees it, in the order of streams and parts. */
int measure_plan(struct segment *segment, const struct program_config *config,
		 const struct segment_labels *task, struct error *err);

/* By a stamp's id: its number among them, or MEASURE_UNKNOWN. 65,536 of them; free() it. -ENOMEM. */
int measure_index(uint16_t **out, const struct program_config *config, struct error *err);

/* `first` is the index of the first block planned; `index` must outlive it; memory on NUMA node `socket`. -ENOMEM. */
int measure_create(struct measure **out, const struct program_config *config,
		   const struct segment *segment, int first, const uint16_t *index, int socket,
		   struct error *err);
void measure_free(struct measure *measure);

#endif
