/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/counters_words.h"

#include <assert.h>
#include <stddef.h>

static_assert(sizeof(struct rx_counters) == 128, "one pair of cache lines");
static_assert(sizeof(struct worker_counters) == 256,
	      "the worker's pair, the control thread's pair");
static_assert(offsetof(struct tx_counters, burst_cycles) == 128, "histograms behind plain words");
static_assert(offsetof(struct flow_counters, latency_cycles) == 128, "likewise");

#define WORD(kind, name, unit, sub_bits, meaning) \
	{#name, \
	 unit, \
	 offsetof(struct kind##_counters, name) / 8, \
	 sizeof(((struct kind##_counters *)0)->name) / 8, \
	 sub_bits, \
	 meaning},

#define BLOCK(kind, KIND) static const struct counters_word kind##_words[] = {
#define COUNTER(kind, name, unit, meaning) WORD(kind, name, unit, 0, meaning)
#define HISTOGRAM(kind, name, sub_bits, words, meaning) \
	WORD(kind, name, "cycles", sub_bits, meaning)
#define END() \
	} \
	;
#include "counters/counters.def"

#define BLOCK(kind, KIND) \
	[COUNTERS_##KIND] = {#kind, sizeof(struct kind##_counters), kind##_words, \
			     sizeof(kind##_words) / sizeof(kind##_words[0])},
const struct counters_layout counters_layouts[COUNTERS_KINDS] = {
#include "counters/counters.def"
};
