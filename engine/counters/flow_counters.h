/* SPDX-License-Identifier: BSD-3-Clause */
/* What an rx task counts of one measured flow: a block of kind flow. Names and meanings: counters_words.c. */
#ifndef WR_COUNTERS_FLOW_COUNTERS_H
#define WR_COUNTERS_FLOW_COUNTERS_H

#include "counters/counters.h"

/* One measured stream as one rx task sees it; first a cache line of what changes with every frame. */
struct flow_counters {
	alignas(COUNTERS_ALIGN) uint64_t frames; /* duplicates included */
	uint64_t octets;                         /* with FCS */
	uint64_t last_tsc;
	uint64_t latency_count;
	uint64_t latency_sum_cycles;
	uint64_t ipdv_sum_cycles; /* of absolute differences of latencies that follow each other */
	uint64_t latency_min_cycles;
	uint64_t latency_max_cycles;
	uint64_t first_tsc;
	uint64_t duplicates;
	uint64_t reordered;
	uint64_t too_late;   /* to know whether they are duplicates or copies */
	uint64_t copies;     /* another task had received them */
	uint64_t impossible; /* counted nowhere else: the sender cannot have stamped them */
	uint64_t reserved[2];
	uint64_t latency_cycles[LATENCY_WORDS];
};

#endif
