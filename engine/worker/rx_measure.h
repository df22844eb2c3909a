/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. What a received burst says of the flows it belongs to: counts, order, duplicates, latency. Every frame counts.
 * docs/design/0005-measurement.md.
 */
#ifndef WR_WORKER_RX_MEASURE_H
#define WR_WORKER_RX_MEASURE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "counters/counters.h"

#define MEASURE_WINDOW 65536u /* frames behind the highest of which it is known whether they came */
#define MEASURE_UNKNOWN UINT16_MAX

/* One flow as one rx task sees it. */
struct flow_state {
	alignas(COUNTERS_ALIGN) struct flow_counters *counters;
	uint64_t next; /* highest sequence + 1, not wrapped at 2^32; 0 before the first frame */
	uint64_t last_latency;
	uint64_t seen[MEASURE_WINDOW / 64]; /* bit s modulo the window: sequence s has arrived */
};

struct measure {
	uint16_t magic;
	const uint16_t *
		index_of; /* by a stamp's id: number in flows[], or MEASURE_UNKNOWN; 65,536 of them */
	struct flow_state *flows;
};

/* Whether the frame has a stamp with this magic, of whatever stream. */
bool rx_has_stamp(const struct rte_mbuf *mbuf, uint16_t magic);

/* Count a burst that was received until `clock`. */
void rx_measure(const struct measure *measure, struct rx_counters *counters,
		struct rte_mbuf *const *mbufs, uint16_t count, uint64_t clock);

#endif
