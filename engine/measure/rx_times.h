/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. When a frame arrived by the clock of its device. Not yet run on hardware: docs/design/0005-measurement.md. */
#ifndef WR_MEASURE_RX_TIMES_H
#define WR_MEASURE_RX_TIMES_H

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "base/clock_relation.h"
#include "counters/counters.h"

/*
 * The TSC when the frame arrived. The burst's clock, and one more in bad_times, where the frame has no time, one that is
 * still to come or one that is too old, or where the relation is unknown: a device that is wrong must not yield wrong
 * numbers unseen.
 */
static inline uint64_t
rx_time_of(const struct frame_times *times, const struct clock_line *line,
	   const struct rte_mbuf *mbuf, uint64_t clock, struct rx_counters *counters)
{
	uint64_t arrival;

	if (likely((mbuf->ol_flags & times->flag) != 0 && line->slope != 0)) {
		arrival = clock_line_tsc(
			line, *RTE_MBUF_DYNFIELD(mbuf, times->field, const rte_mbuf_timestamp_t *));
		if (likely(clock - arrival <= times->age_max_cycles))
			return arrival;
	}
	counter_add(&counters->bad_times, 1);
	return clock;
}

#endif
