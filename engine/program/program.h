/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program: streams rendered into rings of ready frames, tasks and workers that refer to them, and the counters they
 * write. Built once from a checked configuration and frozen before frames move.
 *
 * Control thread only. A device may hold frames of a program that has been stopped: kept_frames_take() comes before
 * program_destroy(), or the ports are closed.
 */
#ifndef WR_PROGRAM_PROGRAM_H
#define WR_PROGRAM_PROGRAM_H

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ring.h>

#include "base/error.h"
#include "config/config.h"
#include "counters/segment.h"
#include "device/port.h"
#include "program/clock_watch.h"
#include "program/frame_pool.h"
#include "worker/worker.h"

struct measured;         /* measure_build.h */
struct program_captures; /* capture_build.h */
struct program_rates;    /* program_rate.h */
struct program_loop;     /* loop_run.h */

struct program {
	struct traffic traffic;
	struct worker *workers;
	uint32_t worker_count;
	struct segment *segment;
	struct engine_counters *engine_counters;
	struct port *ports; /* the session's; not owned */
	uint32_t port_count;
	struct port_counters **port_counters; /* port_count of them */
	struct frame_pool **pools;            /* per port, NULL where the port sends nothing */
	struct answer_queue **answers;        /* per port, NULL where no task replies */
	uint64_t hz;                          /* of the clock that schedules count */
	struct measured *measured;            /* measure_build.h */
	struct program_rates *rates;          /* program_rate.h */
	struct program_captures *captures;
	struct clock_watch clocks;
	struct program_loop *
		loops; /* loop_count of them: queues whose devices are left alone with their ring */
	uint32_t loop_count;
	struct rte_ring **rings; /* ring_count of them, between bridge tasks */
	uint32_t ring_count;
	bool running;
};

/*
 * `number` makes names unique within the session; counters_path is where the segment goes. `hz` is the TSC's for a
 * program that is to run. Errors name the path in the
 * parameters: unknown port or lcore, queue not configured, frame above the port's frame_size_max, no memory.
 */
int program_create(struct program **out, const struct program_config *config, struct port *ports,
		   uint32_t port_count, uint32_t number, const char *counters_path, uint64_t hz,
		   struct error *err);

/* Launch the workers: they receive at once and send when program_start() says so. */
int program_run(struct program *program, struct error *err);

/* Let transmission begin in a millisecond. duration_ns 0: no end. Returns the clock of the start. */
uint64_t program_start(struct program *program, uint64_t duration_ns);

/*
 * Let a stream be sent at another rate, from a millisecond ahead on: *from_tsc. What was due before stays due. -ENOENT
 * without such a stream; -EINVAL where it has no rate of its own (bursts, times, as fast as can be), cannot be paced so
 * fast, or nothing is being sent.
 */
int program_set_rate(struct program *program, const char *stream, double fps, uint64_t *from_tsc,
		     struct error *err);

/* Let transmission end now; reception goes on. */
void program_stop_tx(struct program *program);

/* Stop the workers and take the devices' last counters. May be called again. */
void program_halt(struct program *program);

/* Refresh the engine and port blocks; to be called every 100 ms. */
void program_sample(struct program *program);

void program_destroy(struct program *program);

#endif
