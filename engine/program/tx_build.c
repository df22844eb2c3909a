/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/tx_build.h"

#include <errno.h>

#include <rte_malloc.h>

#include "base/units.h"
#include "program/ramp_build.h"
#include "program/walk_build.h"
#include "schedule/tx_rate.h"

/* Rings beyond this many frames leave a second-level cache of 1 MiB (two lines of mbuf per frame). */
#define PREFETCH_FRAMES 8192u

struct ring_shape
tx_ring_shape(const struct frame_source *source, const struct task_config *config,
	      const struct port *port)
{
	if (config->kind == TASK_LOOP) /* one lap, as it lies in the device's ring */
		return (struct ring_shape){(uint32_t)frame_source_period(source), false};
	return frame_ring_shape(source, config->parts, config->burst, port_frames_held_max(port));
}

/* The times of a whole lap of this part: frames part, part + parts, … until they begin anew. */
static int
set_times(struct tx_task *task, const struct tx_parts *parts, struct error *err)
{
	const struct trace_frames *trace = parts->source.trace;
	double speed = parts->source.stream->trace.speed;
	double cycles_per_ns = (double)parts->hz / NS_PER_SECOND / speed;
	uint64_t span_ns = trace->times_ns[trace->count - 1], lap_ns, *times;

	/* The pause from the last frame to the first is the mean interval; a single frame has a lap of a second. */
	lap_ns = trace->count > 1 ? span_ns + span_ns / (trace->count - 1) : NS_PER_SECOND;
	lap_ns = RTE_MAX(lap_ns, 1u);
	task->lap_frames = task->ring_length;
	times = rte_malloc_socket("times", task->lap_frames * sizeof(times[0]), RTE_CACHE_LINE_SIZE,
				  parts->socket);
	if (times == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for the times of %lu frames",
				 (unsigned long)task->lap_frames);
	for (uint64_t i = 0; i < task->lap_frames; i++) {
		uint64_t k = parts->config->part + i * parts->config->parts;
		double ns = (double)(k / trace->count) * (double)lap_ns +
			    (double)trace->times_ns[k % trace->count];

		times[i] = (uint64_t)(ns * cycles_per_ns);
	}
	task->lap_times = times;
	task->lap_cycles = (double)(task->lap_frames * parts->config->parts / trace->count) *
			   (double)lap_ns * cycles_per_ns;
	task->schedule = TX_TIMES;
	return 0;
}

/* How long a frame that the device does not take is offered again. */
static uint64_t
window_ns(const struct stream_config *stream, bool timed)
{
	if (!stream->has_fps && !timed)
		return TX_STANDSTILL_NS;
	return stream->has_frames ? TX_WINDOW_LIMITED_NS : TX_WINDOW_NS;
}

static int
set_rate(struct tx_task *task, const struct tx_parts *parts, struct error *err)
{
	const struct stream_config *stream = parts->source.stream;
	const struct task_config *config = parts->config;
	uint64_t hz = parts->hz;

	if (!pacing_init(&task->pacing, stream->fps, config->part, config->parts, hz))
		return error_set(err, -EINVAL, NULL,
				 "stream %s: %g frames/s cannot be paced by a clock of %lu Hz",
				 stream->name, stream->fps, (unsigned long)hz);
	task->hold_frames = stream->whole_bursts ? config->burst - 1 : 0;
	task->window_frames = tx_task_window(task);
	task->schedule = TX_RATE;
	if (!stream->has_burst) {
		task->phase_loaded_q64 = task->pacing.phase_q64;
		task->rate = parts->rate;
		return 0;
	}
	task->schedule = TX_BURSTS;
	task->burst_frames = stream->burst_frames;
	task->burst_cycles = (double)stream->burst_frames * task->pacing.cycles_per_frame +
			     stream->burst_gap_ns * ((double)hz / NS_PER_SECOND);
	return 0;
}

static int
set_schedule(struct tx_task *task, const struct tx_parts *parts, struct error *err)
{
	const struct stream_config *stream = parts->source.stream;
	const struct task_config *config = parts->config;
	uint64_t hz = parts->hz;
	bool timed = parts->source.trace != NULL && stream->trace.has_speed;
	int code = 0;

	task->limit = !stream->has_frames
			      ? UINT64_MAX
			      : (stream->frames + config->parts - 1 - config->part) / config->parts;
	task->delay_cycles = cycles_of_ns(stream->delay_ns, hz);
	task->duration_cycles =
		stream->has_duration ? cycles_of_ns(stream->duration_ns, hz) : UINT64_MAX;
	task->window_frames = UINT64_MAX;
	task->limit_cycles = UINT64_MAX;
	task->window_cycles = cycles_of_ns(window_ns(stream, timed), hz);
	task->refill_frames = port_refill_frames(parts->port);
	task->pause_cycles_max = cycles_of_ns(TX_PAUSE_MAX_NS, hz);
	if (parts->sleep_ns > 0 && task->refill_frames == 0) {
		task->refill_frames = parts->port->tx_descriptors / 2;
		task->pause_cycles_max = cycles_of_ns(parts->sleep_ns, hz);
	}
	if (timed)
		code = set_times(task, parts, err);
	else if (stream->has_fps)
		code = set_rate(task, parts, err);
	if (code == 0 && stream->ramp.flows > 0)
		ramp_build(task, &stream->ramp, config, hz);
	if (code == 0 && task->schedule != TX_UNPACED && stream->has_frames && task->limit > 0)
		task->limit_cycles = tx_task_due_cycle(task, task->limit - 1);
	return code;
}

int
tx_task_build(struct tx_task *task, const struct tx_parts *parts, struct error *err)
{
	const struct task_config *config = parts->config;
	struct ring_shape shape = tx_ring_shape(&parts->source, config, parts->port);
	struct frame_ring ring = {NULL, NULL, 0};
	struct walk *walk = NULL;
	int code = frame_ring_render(&ring, &parts->source, config, shape.length, parts->mbufs,
				     parts->socket, err);

	if (code != 0)
		return code;
	task->frames = ring.frames;
	task->octets_before = ring.octets_before;
	task->ring_length = ring.length;
	task->prefetch = ring.length > PREFETCH_FRAMES;
	task->port_id = parts->port->port_id;
	task->queue_id = (uint16_t)config->queue;
	task->burst = (uint16_t)config->burst;
	task->counters = parts->counters;
	task->stamped = parts->source.stream->has_stamp;
	task->stamp =
		(struct tx_stamp){.magic = parts->stamp_magic,
				  .id = (uint16_t)(parts->source.stream->stamp + config->part)};
	if (shape.walk)
		code = walk_create(&walk, parts->source.stream, config, ring.length, parts->socket,
				   err);
	task->walk = walk;
	task->written = walk != NULL || task->stamped;
	return code == 0 ? set_schedule(task, parts, err) : code;
}

void
tx_task_free(struct tx_task *task)
{
	walk_free((struct walk *)(uintptr_t)task->walk);
	rte_free((void *)(uintptr_t)task->lap_times);
	rte_free((void *)(uintptr_t)task->frames);
	rte_free((void *)(uintptr_t)task->octets_before);
}
