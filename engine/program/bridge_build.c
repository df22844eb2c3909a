/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/bridge_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/units.h"
#include "program/forward_build.h"
#include "program/program_ports.h"
#include "schedule/tx_state.h"
#include "worker/worker.h"

/* Frames are cut to what a port takes, and merged for one that cuts them again. */
static int
check_segments(const struct bridge_way_config *way, const struct port *ports, uint32_t port_count,
	       const char *task, uint32_t number, struct error *err)
{
	const char *wanted = bridge_segments_name(way->segments);
	char path[96];
	int p;

	if (way->segments == SEGMENTS_AS_IS)
		return 0;
	snprintf(path, sizeof(path), "%s.%s.segments", task, bridge_way_name(number));
	if (way->port[0] == '\0')
		return error_set(err, -EINVAL, path,
				 "frames are %s for a port only; it must be \"as-is\"",
				 way->segments == SEGMENTS_SPLIT ? "cut" : "merged");
	p = program_find_port(ports, port_count, way->port);
	if (way->segments == SEGMENTS_SPLIT || ports[p].offloads.tso)
		return 0;
	return error_set(err, -EINVAL, path,
			 "\"%s\" is for a port with TSO on, which %s (%s) has not; open it with "
			 "offloads.segments, or use \"as-is\"",
			 wanted, way->port, ports[p].driver);
}

static int
check_way(const struct bridge_way_config *way, const struct port *ports, uint32_t port_count,
	  const char *task, uint32_t number, struct error *err)
{
	const char *name = bridge_way_name(number);
	char path[96];

	for (uint32_t q = 0; q < way->n_queues; q++) {
		int code;

		snprintf(path, sizeof(path), "%s.%s.to", task, name);
		code = program_check_queue(ports, port_count, way->port, way->queues[q], false,
					   path, err);
		if (code != 0)
			return code;
	}
	return check_segments(way, ports, port_count, task, number, err);
}

int
bridge_check(const struct task_config *task, const struct port *ports, uint32_t port_count,
	     const char *path, struct error *err)
{
	char from[96];
	int code = 0;

	snprintf(from, sizeof(from), "%s.from", path);
	if (config_task_receives(task))
		code = program_check_queue(ports, port_count, task->port, task->queue, true, from,
					   err);
	for (uint32_t i = 0; i < BRIDGE_WAYS && code == 0; i++)
		code = check_way(&task->bridge->ways[i], ports, port_count, path, i, err);
	return code;
}

/* Of the tasks that take from a ring and put into it: on which node it is best, and whether one worker puts only. */
struct ring_place {
	int socket;
	uint32_t givers; /* workers */
};

static struct ring_place
place_of(const struct program_config *config, uint32_t index)
{
	struct ring_place place = {SOCKET_ID_ANY, 0};

	for (uint32_t w = 0; w < config->n_workers; w++) {
		const struct worker_config *worker = &config->workers[w];
		bool gives = false;

		for (uint32_t t = 0; t < worker->n_tasks; t++) {
			const struct bridge_config *bridge = worker->tasks[t].bridge;

			if (bridge == NULL)
				continue;
			if (bridge->from_ring[0] != '\0' && bridge->from_ring_index == index)
				place.socket = (int)rte_lcore_to_socket_id(worker->lcore);
			for (uint32_t i = 0; i < BRIDGE_WAYS; i++)
				gives |= bridge->ways[i].ring[0] != '\0' &&
					 bridge->ways[i].ring_index == index;
		}
		place.givers += gives;
	}
	return place;
}

/* As many frames as asked for, not one less. Of several givers one that is not running holds up nobody (RTS). */
static int
create_ring(struct rte_ring **out, const struct ring_config *config, struct ring_place place,
	    const char *name, struct error *err)
{
	unsigned int flags = RING_F_EXACT_SZ | RING_F_SC_DEQ |
			     (place.givers > 1 ? RING_F_MP_RTS_ENQ : RING_F_SP_ENQ);
	ssize_t octets = rte_ring_get_memsize(2 * config->frames);
	struct rte_ring *ring = rte_zmalloc_socket("bridge ring", (size_t)octets,
						   RTE_CACHE_LINE_SIZE, place.socket);

	if (ring == NULL || rte_ring_init(ring, name, config->frames, flags) != 0) {
		rte_free(ring);
		return error_set(err, -ENOMEM, NULL, "no memory for ring \"%s\" of %u frames",
				 config->name, config->frames);
	}
	*out = ring;
	return 0;
}

int
rings_create(struct program *program, const struct program_config *config, uint32_t number,
	     struct error *err)
{
	int code = 0;

	if (config->n_rings == 0)
		return 0;
	program->rings = calloc(config->n_rings, sizeof(program->rings[0]));
	if (program->rings == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u rings", config->n_rings);
	program->ring_count = config->n_rings;
	for (uint32_t i = 0; i < config->n_rings && code == 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "wr_bridge_%u_%u", number, i);
		code = create_ring(&program->rings[i], &config->rings[i], place_of(config, i), name,
				   err);
	}
	return code;
}

void
rings_free(struct program *program)
{
	for (uint32_t i = 0; i < program->ring_count; i++)
		rte_free(program->rings[i]);
	free(program->rings);
}

static int
build_queues(struct bridge_way *way, const struct bridge_way_config *config, int socket,
	     struct error *err)
{
	way->queues = rte_zmalloc_socket("bridge queues", config->n_queues * sizeof(way->queues[0]),
					 RTE_CACHE_LINE_SIZE, socket);
	if (way->queues == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for the frames of %u queues",
				 config->n_queues);
	way->queue_count = config->n_queues;
	for (uint32_t q = 0; q < config->n_queues; q++)
		way->queues[q].queue_id = (uint16_t)config->queues[q];
	return 0;
}

static void
build_segments(struct bridge_way *way, const struct bridge_way_config *config,
	       const struct port *port)
{
	uint16_t mtu = 0;

	rte_eth_dev_get_mtu(port->port_id, &mtu);
	way->merges = config->segments == SEGMENTS_MERGE;
	way->splits = config->segments == SEGMENTS_SPLIT;
	way->splitter = (struct segment_splitter){.mtu = mtu, .tso = port->offloads.tso};
	way->prepares = (way->complete && way->offload) ||
			((way->merges || way->splits) && port->offloads.tso);
}

static int
build_way(struct bridge_way *way, const struct bridge_way_config *config, uint32_t burst,
	  const struct program *program, int socket, struct error *err)
{
	const struct port *port;

	way->rewrite = frame_rewrite_of(config->rewrite);
	way->work_cycles = config->work_cycles;
	way->complete = config->complete;
	way->burst = (uint16_t)burst;
	way->window_cycles = cycles_of_ns(TX_WINDOW_NS, program->hz);
	if (config->ring[0] != '\0') {
		way->end = WAY_RING;
		way->ring = program->rings[config->ring_index];
		return 0;
	}
	if (config->port[0] == '\0')
		return 0;
	port = &program->ports[program_find_port(program->ports, program->port_count,
						 config->port)];
	way->end = WAY_PORT;
	way->port_id = port->port_id;
	way->chains = port_sends_chains(port);
	way->offload = port->offloads.tx_checksums;
	build_segments(way, config, port);
	return build_queues(way, config, socket, err);
}

static int
build_addresses(struct bridge_task *task, const struct bridge_config *config, int socket,
		struct error *err)
{
	struct address_set *set;

	if (!config->tells_apart)
		return 0;
	set = rte_zmalloc_socket("addresses", sizeof(*set), RTE_CACHE_LINE_SIZE, socket);
	task->addresses = set;
	if (set == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u addresses",
				 config->n_addresses);
	for (uint32_t i = 0; i < config->n_addresses; i++)
		address_set_add(set, config->addresses[i].ip, config->addresses[i].ipv6);
	return 0;
}

static void
bind_counters(struct bridge_task *task, struct bridge_counters *counters)
{
	task->counters = counters;
	task->kernel.frames = &counters->kernel_frames;
	task->kernel.octets = &counters->kernel_octets;
	task->kernel.lost = &counters->kernel_lost;
	task->fast.frames = &counters->fast_frames;
	task->fast.octets = &counters->fast_octets;
	task->fast.lost = &counters->fast_lost;
}

int
bridge_build(struct bridge_task *task, const struct task_config *config,
	     const struct program *program, struct bridge_counters *counters, int socket,
	     struct error *err)
{
	const struct bridge_config *bridge = config->bridge;
	int code;

	bind_counters(task, counters);
	task->burst = worker_rx_burst(config->burst);
	if (config_task_receives(config)) {
		int p = program_find_port(program->ports, program->port_count, config->port);

		task->port_id = program->ports[p].port_id;
		task->queue_id = (uint16_t)config->queue;
	} else {
		task->ring = program->rings[bridge->from_ring_index];
	}
	code = build_addresses(task, bridge, socket, err);
	if (code == 0)
		code = build_way(&task->kernel, &bridge->ways[BRIDGE_KERNEL], task->burst, program,
				 socket, err);
	if (code == 0)
		code = build_way(&task->fast, &bridge->ways[BRIDGE_FAST], task->burst, program,
				 socket, err);
	return code;
}

void
bridge_free(struct bridge_task *task)
{
	rte_free(task->kernel.queues);
	rte_free(task->fast.queues);
	rte_free((void *)(uintptr_t)task->addresses);
}

void
bridges_drain(const struct program *program)
{
	for (uint32_t w = 0; w < program->worker_count; w++)
		for (uint32_t t = 0; t < program->workers[w].bridge_count; t++)
			bridge_task_drain(&program->workers[w].bridge[t]);
}
