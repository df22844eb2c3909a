/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What measuring rx tasks need: counters for each part of a stamped stream, the way from a stamp to them, who sends it,
 * and a window of the copies of those that several tasks receive. Control thread.
 */
#ifndef WR_PROGRAM_MEASURE_BUILD_H
#define WR_PROGRAM_MEASURE_BUILD_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "counters/segment.h"
#include "device/port.h"
#include "measure/rx_measure.h"
#include "schedule/tx_state.h"

/* A part of a stamped stream, as all of its receivers see it. */
struct measured_flow {
	uint64_t ports;              /* that receive it, a bit for each of the program's */
	struct flow_sender sender;   /* set once its tx task has its counters */
	struct copies_window copies; /* word NULL: no two tasks receive it */
};

/* The parts of all stamped streams of a program. */
struct measured {
	uint16_t index_of[UINT16_MAX +
			  1]; /* by a stamp's id: number of its flow, or MEASURE_UNKNOWN */
	uint32_t flows;
	struct measured_flow *flow; /* in the order of streams and parts */
};

/*
 * -ENOMEM; -EINVAL where a receiver of a stream is no port with an rx task that measures. Free with measured_free(),
 * which takes NULL, too.
 */
int measured_create(struct measured **out, const struct program_config *config,
		    const struct port *ports, uint32_t port_count, struct error *err);
void measured_free(struct measured *measured);

/* The tx task that sends part `part` of a stream, where that is stamped. */
void measured_set_sender(struct measured *measured, const struct stream_config *stream,
			 const struct task_config *task, const struct tx_counters *counters);

/* Plan a flow block for each of them as the task sees it, in the order of streams and parts. */
int measure_plan(struct segment *segment, const struct program_config *config,
		 const struct segment_labels *task, struct error *err);

/* What a task has of its own. */
struct measure_parts {
	const struct program_config *config;
	struct measured *measured;     /* must outlive it */
	const struct traffic *traffic; /* likewise */
	const struct port *port;
	uint32_t port_index;            /* in the program */
	struct flow_counters *counters; /* the first of the blocks that were planned */
	bool verify;
	uint64_t hz;
	int socket; /* NUMA node of its memory */
};

/* -ENOMEM. */
int measure_create(struct measure **out, const struct measure_parts *parts, struct error *err);
void measure_free(struct measure *measure);

#endif
