/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters that workers write and everybody may read: layouts of the blocks of the shared segment.
 *
 * Every block has exactly one writing thread and starts on a 128-octet boundary (two cache lines: the adjacent-line
 * prefetcher pulls pairs), so that no two threads ever write the same line; what the control thread knows of a worker
 * is in 128 octets of its own. Words are 64-bit; a writer updates
 * them with relaxed stores (plain mov on x86, no lock prefix), a reader may see one word of a burst earlier
 * than another, and exact sums once the worker has published state STOPPED with release.
 * Names, units and meanings of the words are in counters_words.c and travel inside the segment.
 */
#ifndef WR_COUNTERS_COUNTERS_H
#define WR_COUNTERS_COUNTERS_H

#include <stdalign.h>
#include <stdint.h>

#include "counters/counter_write.h"
#include "counters/histogram.h"

#define COUNTERS_ALIGN 128
enum counters_kind {
	COUNTERS_ENGINE,
	COUNTERS_PORT,
	COUNTERS_WORKER,
	COUNTERS_TX,
	COUNTERS_RX,
	COUNTERS_FLOW,
	COUNTERS_FORWARD,
	COUNTERS_CAPTURE,
	COUNTERS_REPLY,
	COUNTERS_BRIDGE,
};
#define COUNTERS_KINDS 10
enum task_state { TASK_WAITING = 0, TASK_ACTIVE = 1, TASK_DONE = 2 };

struct tx_counters {
	alignas(COUNTERS_ALIGN) uint64_t frames; /* taken by the device */
	uint64_t octets;                         /* of those, with FCS */
	uint64_t frames_unsent;                  /* due, but not taken by the device in time */
	uint64_t frames_due;          /* scheduled so far: frames + frames_unsent + backlog */
	uint64_t bursts;              /* calls that sent at least one frame */
	uint64_t bursts_short;        /* calls in which the device took less than offered */
	uint64_t busy_cycles;         /* spent in calls that sent something */
	uint64_t first_tsc;           /* clock before the first burst sent */
	uint64_t last_tsc;            /* clock after the last burst sent */
	uint64_t lateness_max_cycles; /* of a burst's first frame against its schedule */
	uint64_t state;               /* enum task_state */
	uint64_t active_flows;        /* of a ramp, the task's own */
	uint64_t reserved[4];
	uint64_t burst_cycles[HISTOGRAM_WORDS];
	uint64_t lateness_cycles[HISTOGRAM_WORDS];
};

struct rx_counters {
	alignas(COUNTERS_ALIGN) uint64_t frames;
	uint64_t octets; /* with FCS */
	uint64_t bursts; /* calls that returned at least one frame */
	uint64_t busy_cycles;
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t first_frames;   /* of the first burst: they took no time that was seen */
	uint64_t foreign_frames; /* of a measuring task: without a stamp */
	uint64_t strange_frames; /* with a stamp of a stream that is not this program's */
	uint64_t own_times;      /* measured by the device's time of arrival */
	uint64_t bad_times; /* measured, without a usable time of a device that should give one */
	uint64_t damaged_frames;    /* of a measuring task: not as its headers say */
	uint64_t distinct_flows;    /* 5-tuples seen, where they are counted */
	uint64_t distinct_overflow; /* frames of tuples without room */
	uint64_t reserved[2];
};

/* A forward task. */
struct forward_counters {
	alignas(COUNTERS_ALIGN) uint64_t rx_frames;
	uint64_t rx_octets; /* with FCS */
	uint64_t tx_frames;
	uint64_t tx_octets;
	uint64_t dropped; /* impairments */
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t not_taken;  /* by the device in time */
	uint64_t overflowed; /* the delay line or the pool was full */
	uint64_t held;       /* delayed or held back at the moment */
	uint64_t busy_cycles;
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t distinct_flows; /* as in rx_counters */
	uint64_t distinct_overflow;
	uint64_t chained; /* of not_taken: in several mbufs, which the device cannot send */
};

/* A capture as one task sees it. */
struct capture_counters {
	alignas(COUNTERS_ALIGN) uint64_t matched;
	uint64_t stored; /* at the moment, in memory */
	uint64_t missed; /* no room */
	uint64_t overwritten;
	uint64_t reserved[12];
};

/* A reply task. */
struct reply_counters {
	alignas(COUNTERS_ALIGN) uint64_t frames; /* taken by the device */
	uint64_t octets;                         /* with FCS */
	uint64_t arp;                            /* answers made, by kind */
	uint64_t neighbors;
	uint64_t echoes;
	uint64_t not_taken;  /* made, but not taken by the device in time */
	uint64_t overflowed; /* asked, but no room or no mbuf for an answer */
	uint64_t busy_cycles;
	uint64_t reserved[8];
};

struct port_counters {
	alignas(COUNTERS_ALIGN) uint64_t sampled_tsc;
	uint64_t ipackets; /* rte_eth_stats, since the program was loaded */
	uint64_t opackets;
	uint64_t ibytes;
	uint64_t obytes;
	uint64_t imissed;
	uint64_t ierrors;
	uint64_t oerrors;
	uint64_t rx_nombuf;
	uint64_t link_up;
	uint64_t link_speed_bps; /* as reported, real or not */
	uint64_t link_changes;
	uint64_t resets;           /* the device began to count anew */
	uint64_t socket_drops;     /* by the kernel, and not in imissed */
	uint64_t drained_frames;   /* port_settle.h, at the program's end */
	uint64_t uncertain_frames; /* likewise */
	uint64_t pause_frames;     /* received: the link partner asked this port to wait */
	uint64_t reserved[15];
};

struct engine_counters {
	alignas(COUNTERS_ALIGN) uint64_t start_tsc; /* of the traffic; 0 before */
	uint64_t stop_tsc;      /* asked end of transmission; UINT64_MAX when open */
	uint64_t heartbeat_tsc; /* control thread, every 100 ms */
	uint64_t user_ns;       /* CPU time of the process, getrusage(2) */
	uint64_t system_ns;
	uint64_t resident_max_octets;
	uint64_t clock_error_ns; /* TSC against CLOCK_MONOTONIC_RAW, between two ticks, max */
	uint64_t time_jump_ns;   /* CLOCK_REALTIME against CLOCK_MONOTONIC, likewise */
	uint64_t clock_drift_ns; /* TSC against CLOCK_MONOTONIC_RAW since the program was loaded */
	uint64_t clock_watched_ns; /* time since then */
	uint64_t run_hz;           /* TSC's over that time; 0: not known well enough */
	uint64_t reserved[5];
};

#endif
