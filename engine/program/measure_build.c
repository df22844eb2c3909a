/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/measure_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "base/units.h"
#include "program/program_ports.h"

/* Clocks of two lcores differ by some ten cycles; a device's is known to some microseconds (port_clock.h). */
#define SKEW_NS 1000u
#define SKEW_DEVICE_NS 20000u
/* All windows of copies together, as far as each has as many frames as a task's own. */
#define COPIES_FRAMES_ALL (1u << 22)

static int
no_memory(struct error *err, uint32_t flows)
{
	return error_set(err, -ENOMEM, NULL, "no memory to measure %u flows", flows);
}

static uint32_t
count_flows(const struct program_config *config)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < config->n_streams; s++)
		count += config->streams[s].has_stamp ? config->streams[s].parts : 0;
	return count;
}

/* How many rx tasks of each port measure. */
static void
count_tasks(const struct program_config *config, const struct port *ports, uint32_t port_count,
	    uint32_t *tasks)
{
	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];

			if (task->kind == TASK_RX && task->measure)
				tasks[program_find_port(ports, port_count, task->port)]++;
		}
	}
}

/* The ports that receive a stream, and how many tasks there. */
static int
find_receivers(const struct program_config *config, uint32_t s, const struct port *ports,
	       uint32_t port_count, const uint32_t *tasks, uint64_t *mask, uint32_t *receivers,
	       struct error *err)
{
	const struct stream_config *stream = &config->streams[s];
	char path[64];

	*mask = 0;
	*receivers = 0;
	for (uint32_t r = 0; r < stream->n_receivers; r++) {
		int p = program_find_port(ports, port_count, stream->receivers[r]);

		snprintf(path, sizeof(path), "streams[%u].receivers[%u]", s, r);
		if (p < 0 || tasks[p] == 0)
			return error_set(err, -EINVAL, path,
					 "no rx task with measure receives from port \"%s\"; add "
					 "one, or leave it out",
					 stream->receivers[r]);
		*mask |= UINT64_C(1) << p;
	}
	if (stream->n_receivers == 0)
		*mask = UINT64_MAX;
	for (uint32_t p = 0; p < port_count; p++)
		*receivers += (*mask >> p & 1) != 0 ? tasks[p] : 0;
	return 0;
}

/* A window for one of `flows`: the fewer there are, the further its receivers may be apart. */
static int
create_copies(struct copies_window *copies, uint32_t flows, struct error *err)
{
	uint32_t frames = RTE_MAX(COPIES_FRAMES_ALL / rte_align32pow2(flows), MEASURE_WINDOW);

	copies->words = frames / COPIES_WORD_FRAMES;
	copies->turn_shift = (uint32_t)__builtin_ctz(frames);
	copies->word =
		rte_zmalloc("copies", copies->words * sizeof(copies->word[0]), COUNTERS_ALIGN);
	return copies->word == NULL ? no_memory(err, flows) : 0;
}

static int
fill_flows(struct measured *measured, const struct program_config *config, const struct port *ports,
	   uint32_t port_count, struct error *err)
{
	uint32_t tasks[CONFIG_PORTS_MAX] = {0}, receivers = 0;
	uint16_t next = 0;
	uint64_t mask = 0;
	int code = 0;

	count_tasks(config, ports, port_count, tasks);
	for (uint32_t s = 0; s < config->n_streams && code == 0; s++) {
		const struct stream_config *stream = &config->streams[s];

		if (!stream->has_stamp)
			continue;
		code = find_receivers(config, s, ports, port_count, tasks, &mask, &receivers, err);
		for (uint32_t part = 0; part < stream->parts && code == 0; part++) {
			measured->flow[next].ports = mask;
			if (receivers > 1)
				code = create_copies(&measured->flow[next].copies, measured->flows,
						     err);
			measured->index_of[stream->stamp + part] = next++;
		}
	}
	return code;
}

int
measured_create(struct measured **out, const struct program_config *config,
		const struct port *ports, uint32_t port_count, struct error *err)
{
	struct measured *measured = calloc(1, sizeof(*measured));
	int code;

	*out = NULL;
	if (measured == NULL)
		return no_memory(err, 0);
	measured->flows = count_flows(config);
	measured->flow = calloc(measured->flows + 1, sizeof(measured->flow[0]));
	for (uint32_t i = 0; i <= UINT16_MAX; i++)
		measured->index_of[i] = MEASURE_UNKNOWN;
	code = measured->flow == NULL ? no_memory(err, measured->flows)
				      : fill_flows(measured, config, ports, port_count, err);
	if (code == 0)
		*out = measured;
	else
		measured_free(measured);
	return code;
}

void
measured_free(struct measured *measured)
{
	if (measured == NULL)
		return;
	for (uint32_t f = 0; measured->flow != NULL && f < measured->flows; f++)
		rte_free(measured->flow[f].copies.word);
	free(measured->flow);
	free(measured);
}

void
measured_set_sender(struct measured *measured, const struct stream_config *stream,
		    const struct task_config *task, const struct tx_counters *counters)
{
	if (stream->has_stamp)
		measured->flow[measured->index_of[stream->stamp + task->part]].sender =
			(struct flow_sender){counters, task->burst};
}

int
measure_plan(struct segment *segment, const struct program_config *config,
	     const struct segment_labels *task, struct error *err)
{
	struct segment_labels labels = *task;

	for (uint32_t s = 0; s < config->n_streams; s++) {
		if (!config->streams[s].has_stamp)
			continue;
		labels.stream = config->streams[s].name;
		for (uint32_t part = 0; part < config->streams[s].parts; part++) {
			if (segment_plan(segment, COUNTERS_FLOW, &labels, err) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* The flows as one task sees them. True when it shares any with other tasks. */
static bool
bind_flows(struct measure *measure, const struct measure_parts *parts)
{
	bool shares = false;

	for (uint32_t f = 0; f < parts->measured->flows; f++) {
		struct measured_flow *flow = &parts->measured->flow[f];

		measure->flows[f].sender = flow->sender;
		if ((flow->ports >> parts->port_index & 1) == 0 || flow->copies.word == NULL)
			continue;
		measure->flows[f].copies = &flow->copies;
		shares = true;
	}
	return shares;
}

int
measure_create(struct measure **out, const struct measure_parts *parts, struct error *err)
{
	uint32_t flows = parts->measured->flows;
	const struct frame_times *times = &parts->port->clock.times;
	uint64_t skew_ns = times->relation == NULL ? SKEW_NS : SKEW_DEVICE_NS;
	struct measure *measure =
		rte_zmalloc_socket("measure", sizeof(*measure), COUNTERS_ALIGN, parts->socket);

	if (measure == NULL)
		return no_memory(err, flows);
	measure->flows = rte_zmalloc_socket("flows", RTE_MAX(flows, 1u) * sizeof(measure->flows[0]),
					    COUNTERS_ALIGN, parts->socket);
	measure->copies = rte_zmalloc_socket("copies", sizeof(*measure->copies), COUNTERS_ALIGN,
					     parts->socket);
	if (measure->flows == NULL || measure->copies == NULL) {
		measure_free(measure);
		return no_memory(err, flows);
	}
	measure->magic = parts->config->stamp_magic;
	measure->index_of = parts->measured->index_of;
	measure->counters = parts->counters;
	measure->times = *times;
	measure->verify = parts->verify;
	measure->start = &parts->traffic->start_tsc;
	measure->skew_cycles = cycles_of_ns(skew_ns, parts->hz);
	if (!bind_flows(measure, parts)) {
		rte_free(measure->copies);
		measure->copies = NULL;
	}
	*out = measure;
	return 0;
}

void
measure_free(struct measure *measure)
{
	if (measure == NULL)
		return;
	rte_free(measure->copies);
	rte_free(measure->flows);
	rte_free(measure);
}
