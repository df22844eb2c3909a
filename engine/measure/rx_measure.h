/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. What a received burst says of the flows it belongs to: counts, order, duplicates, latency. Every frame counts.
 * docs/design/0005-measurement.md.
 */
#ifndef WR_MEASURE_RX_MEASURE_H
#define WR_MEASURE_RX_MEASURE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "base/clock_relation.h"
#include "capture/capture_sink.h"
#include "counters/counters.h"
#include "measure/flow_order.h"

#define MEASURE_UNKNOWN UINT16_MAX

struct measure {
	uint16_t magic;
	const uint16_t *
		index_of; /* by a stamp's id: number of its flow, or MEASURE_UNKNOWN; 65,536 of them */
	struct flow_state *flows;
	struct flow_counters *counters; /* one for each, in the same order */
	struct copies_open *copies;     /* NULL: no flow has another receiver */
	const _Atomic uint64_t *start;  /* clock before which nothing departed; NULL: not known */
	uint64_t skew_cycles;           /* by which clocks of lcores or devices may differ */
	struct frame_times times;       /* of a port whose device says when frames arrived */
	struct capture_sink *bad;       /* of frames that something is wrong with */
	bool verify;                    /* lengths and checksums, instead of what the device says */
};

/* Whether the frame has a stamp with this magic, of whatever stream. */
bool rx_has_stamp(const struct rte_mbuf *mbuf, uint16_t magic);

/* Count a burst that was received until `clock`; a frame with a time of its own arrived then. */
void rx_measure(const struct measure *measure, struct rx_counters *counters,
		struct rte_mbuf *const *mbufs, uint16_t count, uint64_t clock);

#endif
