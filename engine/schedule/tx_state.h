/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tx task: what it sends, when each frame is due, and how far it has come.
 *
 * Prepared by program/ before the worker is launched and frozen from then on, but for the words that change while
 * frames move, which are the worker's own, and the atomics of struct traffic and struct tx_rate, which the control
 * thread writes.
 */
#ifndef WR_SCHEDULE_TX_STATE_H
#define WR_SCHEDULE_TX_STATE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "counters/counters.h"
#include "edit/tx_ramp.h"
#include "edit/tx_stamp.h"
#include "edit/tx_walk.h"
#include "schedule/pacing.h"

#define TRAFFIC_NOT_STARTED UINT64_MAX

/* When transmission starts and ends; one writer, the control thread. */
struct traffic {
	alignas(COUNTERS_ALIGN) _Atomic uint64_t start_tsc; /* TRAFFIC_NOT_STARTED until started */
	_Atomic uint64_t stop_tsc;                          /* UINT64_MAX: until stopped */
	_Atomic uint64_t rate_changes; /* of any stream, twice; odd: one is being written */
};

/*
 * The rate of a stream, when it is no longer the one it was loaded with. Written by the control thread between two
 * steps of traffic.rate_changes, read by all tasks that send the stream (schedule/tx_rate.h).
 */
struct tx_rate {
	alignas(RTE_CACHE_LINE_SIZE) _Atomic uint64_t from_tsc;
	_Atomic uint64_t frames_per_cycle_q64; /* of each part; 0: as it was loaded */
	_Atomic uint64_t shift_low;            /* of the phase against the one loaded, 128 bits */
	_Atomic uint64_t shift_high;
};

/* When the frames of a task are due. */
enum tx_schedule {
	TX_UNPACED, /* as fast as the device takes them */
	TX_RATE,    /* evenly */
	TX_BURSTS,  /* burst_frames evenly, a pause, and again */
	TX_TIMES,   /* each at its own time of a lap */
};

/*
 * Sends the ready frames of one stream on one queue, in order, over and over.
 * frames[0…ring_length) is the ring; its first `burst` entries are repeated behind it, so that a burst is always
 * one run of pointers. octets_before[i] sums the frame sizes (with FCS) of frames[0…i).
 * The mbufs belong to the stream for good: a driver's free gives them back to a pool that takes no notice
 * (program/frame_pool.h), so that nothing is allocated, reset or counted per frame.
 * With a walk or stamps the ring is longer than what the device holds, since frames are written before each burst. What
 * the device holds are the frames handed over last; so frames that are given up leave the position where it is.
 */
struct tx_task {
	alignas(COUNTERS_ALIGN) struct rte_mbuf *const *frames;
	const uint64_t *octets_before;
	const struct walk *walk; /* NULL: frames are sent as they are */
	struct tx_ramp ramp;     /* of flows that the walk writes */
	struct tx_stamp stamp;
	bool stamped;
	bool written; /* before each burst: with a walk, or stamped */
	uint32_t ring_length;
	uint32_t position; /* of the next frame in the ring */
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t burst;
	bool prefetch; /* the ring's mbufs exceed the second-level cache */
	enum tx_schedule schedule;
	uint64_t next_tsc; /* nothing is to be done before this clock, but for the end of traffic */
	uint64_t done;     /* frames sent or given up */
	uint64_t limit;    /* frames to send in all; UINT64_MAX: no limit */
	uint64_t limit_cycles;    /* paced: when the last of them is due; UINT64_MAX: never */
	uint64_t delay_cycles;    /* from the start of traffic to the task's own */
	uint64_t duration_cycles; /* from there to its end; UINT64_MAX: the end of traffic */
	uint64_t hold_frames;     /* paced: so many due frames wait for one more, but at the end */
	struct pacing pacing;     /* RATE, BURSTS */
	const struct tx_rate *rate; /* RATE: a rate that may change; NULL: it cannot */
	uint64_t rate_changes;      /* traffic.rate_changes that have been taken */
	unsigned __int128
		phase_loaded_q64; /* RATE: of the pacing at first, counted from the stream's start */
	uint64_t burst_frames;    /* BURSTS */
	double burst_cycles;      /* BURSTS: from a burst's start to the next one's */
	const uint64_t
		*lap_times; /* TIMES: when each of the lap_frames is due within a lap [cycles] */
	uint64_t lap_frames;
	double lap_cycles;
	uint64_t lap_start;     /* TIMES: of the lap of frame `due` [cycles] */
	uint64_t lap_position;  /* TIMES: of frame `due` in its lap */
	uint64_t lap;           /* TIMES: its number */
	uint64_t due;           /* TIMES: frames due at the last look */
	uint64_t window_frames; /* a backlog beyond this is past its time; not used by TIMES */
	uint64_t
		window_cycles; /* paced: the same as time; else how long a device may take nothing */
	uint64_t refill_frames;    /* free ones before a full device is asked again; 0: at once */
	uint64_t pause_cycles_max; /* a full device is left in peace for so long at most */
	uint64_t retry_at;         /* clock before which it is not asked again */
	uint64_t full_tsc;         /* clock when it was full last */
	uint64_t full_done;        /* done, then */
	uint64_t
		refused_since; /* not paced: clock since which the device takes nothing; 0: it does */
	struct tx_counters *counters;
};

/*
 * How long a frame that the device does not take is offered again before it counts as unsent. Paced: 10 ms of schedule
 * are made up for after a pause. Not paced, nothing is late, so only a device that stands still is noticed.
 */
#define TX_WINDOW_NS 10000000ULL
/* A number of frames is a promise: these are sent late rather than not at all, unless the device stands still. */
#define TX_WINDOW_LIMITED_NS 1000000000ULL
#define TX_STANDSTILL_NS 100000000ULL
/*
 * memif: producer and consumer write the same cache lines. With a full ring, a producer that asks again at once follows
 * the consumer frame by frame; filling three quarters of the ring at a time gave 1.33 times the rate (half 1.21, a
 * quarter 1.04; medians of 50 slices, testpmd receiving). vhost: no difference, so not there.
 */
#define TX_PAUSE_MAX_NS 50000ULL

#endif
