/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a bridge task: docs/design/0009-kernel-path.md. See counters.h for the rules. */
#ifndef WR_COUNTERS_BRIDGE_COUNTERS_H
#define WR_COUNTERS_BRIDGE_COUNTERS_H

#include "counters/counters.h"

/* With neither split nor merge: rx_frames = kernel_frames + kernel_lost + fast_frames + fast_lost + held. */
struct bridge_counters {
	alignas(COUNTERS_ALIGN) uint64_t rx_frames;
	uint64_t rx_octets;     /* with FCS, as all octets here */
	uint64_t kernel_frames; /* handed over on the way to the kernel */
	uint64_t kernel_octets;
	uint64_t kernel_lost; /* the ring was full, or the device took none in time */
	uint64_t fast_frames; /* likewise, on the fast path */
	uint64_t fast_octets;
	uint64_t fast_lost;
	uint64_t addressed;   /* their IP destination is one of the task's addresses */
	uint64_t completed;   /* checksums computed, or left to the device */
	uint64_t split;       /* large frames cut */
	uint64_t parts;       /* frames made of them */
	uint64_t merged;      /* segments that went into larger frames */
	uint64_t untouchable; /* should have been completed or cut, and could not be */
	uint64_t held;        /* waiting for devices; at the end also those left in the ring */
	uint64_t held_max;    /* most frames found in the ring */
	uint64_t busy_cycles;
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t reserved[13];
};

#endif
