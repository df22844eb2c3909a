/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. When a frame arrived by the clock of its device. Not yet run on hardware: docs/design/0005-measurement.md. */
#ifndef WR_MEASURE_RX_TIMES_H
#define WR_MEASURE_RX_TIMES_H

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "base/clock_relation.h"
#include "counters/counters.h"

/* This many measured frames without one usable time: the device's clock is another one than that of its frames. */
#define RX_TIMES_TRIED 32u

/*
 * Whether the device's times are used. Not for the rest of the program once the first RX_TIMES_TRIED frames of a task
 * all had bad ones: what looks usable after that does so by chance, and latencies must not mix two clocks.
 */
static inline bool
rx_times_are_used(const struct frame_times *times, const struct rx_counters *counters)
{
	return times->relation != NULL &&
	       (counters->own_times > 0 || counters->bad_times < RX_TIMES_TRIED);
}

/*
 * True: *arrival is the TSC when the frame arrived by its device, `clock` that of its burst. False, and *arrival as it
 * was, where the frame has no time, one that is to come by more than the clocks may differ (skew_cycles) or one that is
 * too old, or where the relation is unknown: a device that is wrong must not yield wrong numbers unseen.
 */
static inline bool
rx_time_of(const struct frame_times *times, uint64_t skew_cycles, const struct clock_line *line,
	   const struct rte_mbuf *mbuf, uint64_t clock, uint64_t *arrival)
{
	uint64_t tsc;

	if (likely((mbuf->ol_flags & times->flag) != 0 && line->slope != 0)) {
		tsc = clock_line_tsc(
			line, *RTE_MBUF_DYNFIELD(mbuf, times->field, const rte_mbuf_timestamp_t *));
		if (likely(clock + skew_cycles - tsc <= times->age_max_cycles + skew_cycles)) {
			*arrival = tsc;
			return true;
		}
	}
	return false;
}

#endif
