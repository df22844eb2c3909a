/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters that workers write and everybody may read: layouts of the blocks of the shared segment.
 *
 * Every block has exactly one writing thread and starts on a 128-octet boundary (two cache lines: the adjacent-line
 * prefetcher pulls pairs), so that no two threads ever write the same line; what the control thread knows of a worker
 * is in 128 octets of its own. Words are 64-bit; a writer updates them with relaxed stores (plain mov on x86, no lock
 * prefix), a reader may see one word of a burst earlier than another, and exact sums once the worker has published
 * state TASK_DONE with release. Each is declared once, in counters.def, with unit and meaning.
 */
#ifndef WR_COUNTERS_COUNTERS_H
#define WR_COUNTERS_COUNTERS_H

#include <stdalign.h>
#include <stdint.h>

#include "counters/counter_write.h"
#include "counters/histogram.h"

#define COUNTERS_ALIGN 128

/* COUNTERS_ENGINE, COUNTERS_PORT, … */
enum counters_kind {
#define BLOCK(kind, KIND) COUNTERS_##KIND,
#include "counters/counters.def"
	COUNTERS_KINDS
};
enum task_state { TASK_WAITING = 0, TASK_ACTIVE = 1, TASK_DONE = 2 };

/* struct engine_counters, struct port_counters, … */
#define BLOCK(kind, KIND) struct kind##_counters {
#define COUNTER(kind, name, unit, meaning) uint64_t name;
#define COUNTER_APART(kind, name, unit, meaning) alignas(COUNTERS_ALIGN) uint64_t name;
#define HISTOGRAM(kind, name, sub_bits, words, meaning) \
	alignas(COUNTERS_ALIGN) uint64_t name[words];
#define END() \
	} \
	__attribute__((aligned(COUNTERS_ALIGN)));
#include "counters/counters.def"

#endif
