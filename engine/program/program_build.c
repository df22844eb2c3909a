/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a checked configuration to frozen tasks. Order matters: counters first (tasks point into them), then frames, then
 * tasks. Everything is undone by program_destroy(), however far it came.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/units.h"
#include "program/bridge_build.h"
#include "program/capture_build.h"
#include "program/flow_table_build.h"
#include "program/forward_build.h"
#include "program/loop_build.h"
#include "program/loop_run.h"
#include "program/measure_build.h"
#include "program/program.h"
#include "program/program_check.h"
#include "program/program_ports.h"
#include "program/program_rate.h"
#include "program/reply_build.h"
#include "program/tx_build.h"
#include "program/tx_pools.h"

struct build {
	const struct program_config *config;
	struct program *program;
	struct frame_source *sources; /* of the streams; two of the same file share its frames */
	uint32_t forward_tasks;       /* built so far */
	uint32_t *mbufs_used;         /* per port: taken from its pool so far */
	int *block_of_task; /* counters block of every task, in order of the configuration */
	int *block_of_worker;
	int *block_of_port;
	int block_of_engine;
};

static uint32_t
count_tasks(const struct program_config *config)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < config->n_workers; w++)
		count += config->workers[w].n_tasks;
	return count;
}

static int
no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, NULL, "no memory for the program");
}

/* Where a bridge task's frames come from: a port's name, or "ring " and the ring's. */
#define SOURCE_NAME_SIZE (CONFIG_NAME_SIZE + 8)
static const char *
name_source(const struct task_config *task, char *name, size_t size)
{
	if (config_task_receives(task))
		snprintf(name, size, "%s", task->port);
	else
		snprintf(name, size, "ring %s", task->bridge->from_ring);
	return name;
}

static int
plan_worker(struct build *build, uint32_t w, int *block, struct error *err)
{
	const struct worker_config *worker = &build->config->workers[w];
	struct segment *segment = build->program->segment;
	struct segment_labels labels = {NULL, -1, (int)worker->lcore, NULL, NULL, NULL};
	char from[SOURCE_NAME_SIZE];

	build->block_of_worker[w] = segment_plan(segment, COUNTERS_WORKER, &labels, err);
	if (build->block_of_worker[w] < 0)
		return -ENOMEM;
	for (uint32_t t = 0; t < worker->n_tasks; t++) {
		const struct task_config *task = &worker->tasks[t];
		static const enum counters_kind kinds[] = {
			[TASK_RX] = COUNTERS_RX,           [TASK_TX] = COUNTERS_TX,
			[TASK_FORWARD] = COUNTERS_FORWARD, [TASK_REPLY] = COUNTERS_REPLY,
			[TASK_LOOP] = COUNTERS_TX,         [TASK_BRIDGE] = COUNTERS_BRIDGE,
		};

		labels.port = task->port;
		labels.queue = (int)task->queue;
		labels.stream = config_task_streams(task) ? task->stream : NULL;
		labels.to_port = task->kind == TASK_FORWARD ? task->forward.to_port : NULL;
		labels.from =
			task->kind == TASK_BRIDGE ? name_source(task, from, sizeof(from)) : NULL;
		if (labels.from != NULL)
			labels.port = NULL;
		block[t] = segment_plan(segment, kinds[task->kind], &labels, err);
		if (block[t] < 0)
			return -ENOMEM;
		if (task->measure && measure_plan(segment, build->config, &labels, err) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int
plan_counters(struct build *build, struct error *err)
{
	struct program *program = build->program;
	struct segment_labels labels = {NULL, -1, -1, NULL, NULL, NULL};
	int *block = build->block_of_task;

	build->block_of_engine = segment_plan(program->segment, COUNTERS_ENGINE, &labels, err);
	if (build->block_of_engine < 0)
		return -ENOMEM;
	for (uint32_t p = 0; p < program->port_count; p++) {
		labels.port = program->ports[p].config.name;
		build->block_of_port[p] =
			segment_plan(program->segment, COUNTERS_PORT, &labels, err);
		if (build->block_of_port[p] < 0)
			return -ENOMEM;
	}
	for (uint32_t w = 0; w < build->config->n_workers; w++) {
		if (plan_worker(build, w, block, err) != 0)
			return -ENOMEM;
		block += build->config->workers[w].n_tasks;
	}
	if (captures_plan(program, build->config, err) != 0)
		return -ENOMEM;
	return segment_map(program->segment, err);
}

static void
bind_counters(struct build *build)
{
	struct program *program = build->program;

	program->engine_counters = segment_block(program->segment, build->block_of_engine);
	for (uint32_t p = 0; p < program->port_count; p++)
		program->port_counters[p] =
			segment_block(program->segment, build->block_of_port[p]);
}

/* Who sends each measured flow: receivers ask its counters what has been sent. */
static void
bind_senders(struct build *build)
{
	const struct program_config *config = build->config;
	const int *block = build->block_of_task;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++, block++) {
			const struct task_config *task = &config->workers[w].tasks[t];

			if (config_task_streams(task))
				measured_set_sender(build->program->measured,
						    &config->streams[task->stream_index], task,
						    segment_block(build->program->segment, *block));
		}
	}
}

/* Frames of a file are known only now: does each fit its port? */
static int
check_trace_sizes(const struct build *build, struct error *err)
{
	const struct program_config *config = build->config;
	const struct program *program = build->program;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];
			const struct trace_frames *trace = build->sources[task->stream_index].trace;
			const struct port *port;

			if (!config_task_streams(task) || trace == NULL)
				continue;
			port = &program->ports[program_find_port(program->ports,
								 program->port_count, task->port)];
			if (trace->longest + FCS_OCTETS > port->config.frame_size_max)
				return error_set(err, -EINVAL, NULL,
						 "%s: a frame of %u octets with FCS; port %s was "
						 "opened for %u",
						 config->streams[task->stream_index].trace.path,
						 trace->longest + FCS_OCTETS, task->port,
						 port->config.frame_size_max);
		}
	}
	return 0;
}

/* Frames of all rings of a port, and their octets if there is room for them. */
static uint64_t
port_ring_frames(const struct build *build, uint32_t p, uint16_t *octets)
{
	const struct program_config *config = build->config;
	const struct port *port = &build->program->ports[p];
	uint64_t frames = 0;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];
			const struct frame_source *source = &build->sources[task->stream_index];
			uint32_t length;

			if (!config_task_streams(task) ||
			    strcmp(task->port, port->config.name) != 0)
				continue;
			length = tx_ring_shape(source, task, port).length;
			if (octets != NULL)
				frame_ring_octets(source, task, length, octets + frames);
			frames += length;
		}
	}
	return frames;
}

/* One pool per port. */
static int
create_pool(struct build *build, uint32_t p, uint32_t number, struct error *err)
{
	uint64_t frames = port_ring_frames(build, p, NULL);
	uint16_t *octets;
	char name[24];
	int code;

	if (frames == 0)
		return 0;
	octets = frames < UINT32_MAX ? malloc(frames * sizeof(octets[0])) : NULL;
	if (octets == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %lu ready frames",
				 (unsigned long)frames);
	port_ring_frames(build, p, octets);
	snprintf(name, sizeof(name), "wr_tx_%u_%u", number, p);
	code = frame_pool_create(&build->program->pools[p], name, octets, (uint32_t)frames,
				 port_socket(&build->program->ports[p]), err);
	free(octets);
	return code;
}

static int
build_tx_task(struct build *build, struct tx_task *task, const struct task_config *config,
	      uint64_t sleep_ns, int block, int socket, struct error *err)
{
	struct program *program = build->program;
	int p = program_find_port(program->ports, program->port_count, config->port);
	struct tx_parts parts = {
		.config = config,
		.source = build->sources[config->stream_index],
		.port = &program->ports[p],
		.mbufs = frame_pool_mbufs(program->pools[p]) + build->mbufs_used[p],
		.counters = segment_block(program->segment, block),
		.stamp_magic = build->config->stamp_magic,
		.rate = program_rate_of(program->rates, config->stream_index),
		.sleep_ns = sleep_ns,
		.hz = program->hz,
		.socket = socket,
	};
	int code = tx_task_build(task, &parts, err);

	build->mbufs_used[p] += task->ring_length;
	return code;
}

static int
build_loop_task(struct build *build, struct loop_task *task, const struct task_config *config,
		uint64_t sleep_ns, int block, int socket, struct error *err)
{
	struct program *program = build->program;
	int p = program_find_port(program->ports, program->port_count, config->port);
	int code = build_tx_task(build, &task->tx, config, sleep_ns, block, socket, err);

	program->loops[program->loop_count++] = (struct program_loop){
		.task = task, .port = &program->ports[p], .counters = program->port_counters[p]};
	return code != 0 ? code
			 : loop_task_settle(task, config, &program->ports[p], program->hz, err);
}

/* The blocks of its flows were planned behind the task's own, and have octets of a whole alignment. */
static int
build_measure(struct build *build, struct measure **out, const struct task_config *config,
	      int block, int socket, struct error *err)
{
	struct program *program = build->program;
	int p = program_find_port(program->ports, program->port_count, config->port);
	const struct measure_parts parts = {
		.config = build->config,
		.measured = program->measured,
		.traffic = &program->traffic,
		.port = &program->ports[p],
		.port_index = (uint32_t)p,
		.counters = program->measured->flows > 0
				    ? segment_block(program->segment, block + 1)
				    : NULL,
		.verify = config->verify,
		.hz = program->hz,
		.socket = socket,
	};

	return measure_create(out, &parts, err);
}

static int
build_rx_task(struct build *build, struct rx_task *task, const struct task_config *config,
	      int block, int socket, struct error *err)
{
	struct program *program = build->program;
	struct measure *measure = NULL;
	int code = 0;
	int p = program_find_port(program->ports, program->port_count, config->port);

	task->counters = segment_block(program->segment, block);
	task->port_id = program->ports[p].port_id;
	task->queue_id = (uint16_t)config->queue;
	task->burst = worker_rx_burst(config->burst);
	task->answers = config->answer ? program->answers[p] : NULL;
	if (config->distinct_max > 0)
		code = flow_table_create(&task->distinct, config->distinct_max,
					 port_socket(&program->ports[p]), err);
	if (code == 0 && config->measure)
		code = build_measure(build, &measure, config, block, socket, err);
	task->measure = measure;
	return code;
}

static int
build_forward_task(struct build *build, struct forward_task *task, const struct task_config *config,
		   int block, int socket, struct error *err)
{
	struct program *program = build->program;
	int from = program_find_port(program->ports, program->port_count, config->port);
	int to = program_find_port(program->ports, program->port_count, config->forward.to_port);
	int code;

	task->counters = segment_block(program->segment, block);
	task->answers = config->answer ? program->answers[from] : NULL;
	code = forward_build(task, config, &program->ports[from], &program->ports[to],
			     build->forward_tasks++, program->hz, socket, err);
	if (code == 0 && config->distinct_max > 0)
		code = flow_table_create(&task->distinct, config->distinct_max,
					 port_socket(&program->ports[from]), err);
	return code;
}

static void
build_reply_task(struct build *build, struct reply_task *task, const struct task_config *config,
		 int block)
{
	struct program *program = build->program;
	int p = program_find_port(program->ports, program->port_count, config->port);

	reply_build(task, config, &program->ports[p], program->answers[p],
		    segment_block(program->segment, block), program->hz);
}

static int
build_worker(struct build *build, struct worker *worker, uint32_t w, const int *block,
	     struct error *err)
{
	const struct worker_config *config = &build->config->workers[w];
	int socket = (int)rte_lcore_to_socket_id(config->lcore), code = 0;
	size_t slots = config->n_tasks;

	worker->lcore = config->lcore;
	worker->traffic = &build->program->traffic;
	worker->stall_cycles = cycles_of_ns(STALL_NS, build->program->hz);
	worker->sleep_cycles = cycles_of_ns(config->sleep_ns, build->program->hz);
	worker->ns_per_cycle = (double)NS_PER_SECOND / (double)build->program->hz;
	worker->counters = segment_block(build->program->segment, build->block_of_worker[w]);
	worker->tx = rte_zmalloc_socket("tx tasks", slots * sizeof(worker->tx[0]), COUNTERS_ALIGN,
					socket);
	worker->rx = rte_zmalloc_socket("rx tasks", slots * sizeof(worker->rx[0]), COUNTERS_ALIGN,
					socket);
	worker->forward = rte_zmalloc_socket("forward tasks", slots * sizeof(worker->forward[0]),
					     COUNTERS_ALIGN, socket);
	worker->reply = rte_zmalloc_socket("reply tasks", slots * sizeof(worker->reply[0]),
					   COUNTERS_ALIGN, socket);
	worker->loop = rte_zmalloc_socket("loop tasks", slots * sizeof(worker->loop[0]),
					  COUNTERS_ALIGN, socket);
	worker->bridge = rte_zmalloc_socket("bridge tasks", slots * sizeof(worker->bridge[0]),
					    COUNTERS_ALIGN, socket);
	if (worker->bridge == NULL || worker->loop == NULL || worker->tx == NULL ||
	    worker->rx == NULL || worker->forward == NULL || worker->reply == NULL)
		return no_memory(err);
	for (uint32_t t = 0; t < config->n_tasks && code == 0; t++) {
		const struct task_config *task = &config->tasks[t];

		if (task->kind == TASK_FORWARD)
			code = build_forward_task(build, &worker->forward[worker->forward_count++],
						  task, block[t], socket, err);
		else if (task->kind == TASK_REPLY)
			build_reply_task(build, &worker->reply[worker->reply_count++], task,
					 block[t]);
		else if (task->kind == TASK_BRIDGE)
			code = bridge_build(
				&worker->bridge[worker->bridge_count++], task, build->program,
				segment_block(build->program->segment, block[t]), socket, err);
		else if (task->kind == TASK_LOOP)
			code = build_loop_task(build, &worker->loop[worker->loop_count++], task,
					       config->sleep_ns, block[t], socket, err);
		else if (task->kind == TASK_RX)
			code = build_rx_task(build, &worker->rx[worker->rx_count++], task, block[t],
					     socket, err);
		else
			code = build_tx_task(build, &worker->tx[worker->tx_count++], task,
					     config->sleep_ns, block[t], socket, err);
	}
	return code;
}

static int
build_all(struct build *build, uint32_t number, struct error *err)
{
	struct program *program = build->program;
	const int *block = build->block_of_task;
	int code = plan_counters(build, err);

	if (code != 0)
		return code;
	bind_counters(build);
	code = measured_create(&program->measured, build->config, program->ports,
			       program->port_count, err);
	if (code == 0)
		bind_senders(build);
	if (code == 0)
		code = program_rates_create(&program->rates, build->config, program->hz, err);
	if (code == 0)
		code = frame_sources_load(&build->sources, build->config, err);
	if (code == 0)
		code = check_trace_sizes(build, err);
	for (uint32_t p = 0; p < program->port_count && code == 0; p++)
		code = create_pool(build, p, number, err);
	if (code == 0)
		code = reply_queues_create(program->answers, build->config, program->ports,
					   program->port_count, number, err);
	if (code == 0)
		code = rings_create(program, build->config, number, err);
	for (uint32_t w = 0; w < program->worker_count && code == 0; w++) {
		code = build_worker(build, &program->workers[w], w, block, err);
		block += build->config->workers[w].n_tasks;
	}
	if (code == 0)
		code = captures_open(program, build->config, err);
	return code;
}

static uint32_t
count_loops(const struct program_config *config)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++)
			count += config->workers[w].tasks[t].kind == TASK_LOOP;
	}
	return count;
}

static struct program *
allocate(const struct program_config *config, struct port *ports, uint32_t port_count)
{
	struct program *program = rte_zmalloc("program", sizeof(*program), COUNTERS_ALIGN);

	if (program == NULL)
		return NULL;
	program->ports = ports;
	program->port_count = port_count;
	program->worker_count = config->n_workers;
	program->workers = rte_zmalloc("workers", config->n_workers * sizeof(program->workers[0]),
				       COUNTERS_ALIGN);
	program->port_counters = calloc(port_count, sizeof(program->port_counters[0]));
	program->pools = calloc(port_count, sizeof(program->pools[0]));
	program->answers = calloc(port_count, sizeof(program->answers[0]));
	program->loops = calloc(count_loops(config) + 1, sizeof(program->loops[0]));
	atomic_init(&program->traffic.start_tsc, TRAFFIC_NOT_STARTED);
	atomic_init(&program->traffic.stop_tsc, UINT64_MAX);
	return program;
}

int
program_create(struct program **out, const struct program_config *config, struct port *ports,
	       uint32_t port_count, uint32_t number, const char *counters_path, uint64_t hz,
	       struct error *err)
{
	struct build build = {.config = config};
	int code = program_check(config, ports, port_count, err);

	if (code == 0)
		code = tx_pools_check(config, ports, port_count, err);
	if (code != 0)
		return code;
	build.program = allocate(config, ports, port_count);
	build.mbufs_used = calloc(port_count, sizeof(build.mbufs_used[0]));
	build.block_of_task = calloc(count_tasks(config), sizeof(build.block_of_task[0]));
	build.block_of_worker = calloc(config->n_workers, sizeof(build.block_of_worker[0]));
	build.block_of_port = calloc(port_count, sizeof(build.block_of_port[0]));
	if (build.program != NULL)
		build.program->hz = hz;
	if (build.program == NULL || build.program->workers == NULL ||
	    build.program->port_counters == NULL || build.program->pools == NULL ||
	    build.program->answers == NULL || build.program->loops == NULL ||
	    build.mbufs_used == NULL || build.block_of_task == NULL ||
	    build.block_of_worker == NULL || build.block_of_port == NULL)
		code = no_memory(err);
	if (code == 0)
		code = segment_create(&build.program->segment, counters_path, hz, err);
	if (code == 0)
		code = build_all(&build, number, err);
	frame_sources_free(build.sources, config);
	free(build.mbufs_used);
	free(build.block_of_task);
	free(build.block_of_worker);
	free(build.block_of_port);
	if (code == 0)
		*out = build.program;
	else
		program_destroy(build.program);
	return code;
}

static void
free_worker(struct worker *worker)
{
	for (uint32_t t = 0; t < worker->tx_count; t++)
		tx_task_free(&worker->tx[t]);
	for (uint32_t l = 0; l < worker->loop_count; l++)
		tx_task_free(&worker->loop[l].tx);
	for (uint32_t r = 0; r < worker->rx_count; r++) {
		measure_free((struct measure *)(uintptr_t)worker->rx[r].measure);
		flow_table_free(worker->rx[r].distinct);
	}
	for (uint32_t f = 0; f < worker->forward_count; f++)
		forward_free(&worker->forward[f]);
	for (uint32_t b = 0; b < worker->bridge_count; b++)
		bridge_free(&worker->bridge[b]);
	rte_free(worker->bridge);
	rte_free(worker->loop);
	rte_free(worker->reply);
	rte_free(worker->forward);
	rte_free(worker->tx);
	rte_free(worker->rx);
}

void
program_destroy(struct program *program)
{
	if (program == NULL)
		return;
	for (uint32_t w = 0; program->workers != NULL && w < program->worker_count; w++)
		free_worker(&program->workers[w]);
	for (uint32_t p = 0; program->pools != NULL && p < program->port_count; p++)
		frame_pool_destroy(program->pools[p]);
	rings_free(program);
	captures_close(program->captures);
	reply_queues_free(program->answers, program->port_count);
	program_rates_free(program->rates);
	free(program->answers);
	loops_close(program);
	free(program->loops);
	segment_close(program->segment);
	measured_free(program->measured);
	free(program->pools);
	free(program->port_counters);
	rte_free(program->workers);
	rte_free(program);
}
