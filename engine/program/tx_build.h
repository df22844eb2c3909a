/* SPDX-License-Identifier: BSD-3-Clause */
/* From a stream and a queue to a tx task: its ring, its walk, its schedule. Cold, control thread. */
#ifndef WR_PROGRAM_TX_BUILD_H
#define WR_PROGRAM_TX_BUILD_H

#include "base/error.h"
#include "device/port.h"
#include "program/frame_ring.h"
#include "worker/worker.h"

/* What a tx task is made of. */
struct tx_parts {
	const struct task_config *config;
	struct frame_source source;
	const struct port *port;
	struct rte_mbuf **mbufs; /* for its ring, as frame_ring_octets() asked for them */
	struct tx_counters *counters;
	uint16_t stamp_magic;
	const struct tx_rate *rate; /* of its stream, when it may change; else NULL */
	uint64_t sleep_ns;          /* the worker's */
	uint64_t hz;                /* of the clock that the schedule counts */
	int socket;
};

/* The ring of a task on a port. */
struct ring_shape tx_ring_shape(const struct frame_source *source, const struct task_config *config,
				const struct port *port);

/* -ENOMEM; -EINVAL where the rate cannot be paced. What was made until then is freed by tx_task_free(). */
int tx_task_build(struct tx_task *task, const struct tx_parts *parts, struct error *err);
void tx_task_free(struct tx_task *task);

#endif
