/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/capture_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "capture/capture_file.h"
#include "program/program_ports.h"
#include "worker/forward_task.h"
#include "measure/rx_measure.h"

#define TAGS_OCTETS 8u /* two VLAN tags that a DUT puts into a longest frame */
#define FLOWS (UINT16_MAX + 1u)

struct one_capture {
	struct capture *capture;
	uint32_t sinks;
	uint32_t given; /* of those, to tasks */
	uint64_t frames;
};

struct program_captures {
	struct one_capture *all; /* in the configuration's order */
	uint32_t count;
	int *blocks; /* of counters, in the order of workers, tasks and captures */
	struct capture_anchor loaded;
	char (*names)
		[CONFIG_NAME_SIZE]; /* of streams; NULL unless there is a capture of bad frames */
	struct capture_flow *flows; /* by a stamp's id; likewise */
};

/* A counters block for each capture that sees the task; *next is that of the next. */
static int
plan_task(struct program_captures *captures, const struct program_config *config, uint32_t lcore,
	  const struct task_config *task, struct segment *segment, uint32_t *next,
	  struct error *err)
{
	const struct segment_labels labels = {task->port, (int)task->queue, (int)lcore, NULL, NULL,
					      NULL};

	for (uint32_t c = 0; c < captures->count; c++) {
		int block;

		if (!config_task_captures(task, &config->captures[c]))
			continue;
		block = segment_plan(segment, COUNTERS_CAPTURE, &labels, err);
		if (block < 0)
			return -ENOMEM;
		captures->blocks[(*next)++] = block;
		captures->all[c].sinks++;
	}
	return 0;
}

int
captures_plan(struct program *program, const struct program_config *config, struct error *err)
{
	struct program_captures *captures = calloc(1, sizeof(*captures));
	uint32_t tasks = 0, next = 0;
	int code = 0;

	program->captures = captures;
	for (uint32_t w = 0; w < config->n_workers; w++)
		tasks += config->workers[w].n_tasks;
	if (captures != NULL) {
		captures->all = calloc(config->n_captures + 1u, sizeof(captures->all[0]));
		captures->blocks =
			calloc((size_t)tasks * config->n_captures + 1, sizeof(captures->blocks[0]));
	}
	if (captures == NULL || captures->all == NULL || captures->blocks == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u captures",
				 config->n_captures);
	captures->count = config->n_captures;
	for (uint32_t w = 0; w < config->n_workers; w++) {
		const struct worker_config *worker = &config->workers[w];

		for (uint32_t t = 0; t < worker->n_tasks && code == 0; t++)
			code = plan_task(captures, config, worker->lcore, &worker->tasks[t],
					 program->segment, &next, err);
	}
	return code;
}

/* Which stamp's id is which flow: comments name it when the configuration is no more. */
static int
name_flows(struct program_captures *captures, const struct program_config *config,
	   struct error *err)
{
	captures->names = calloc(config->n_streams + 1u, sizeof(captures->names[0]));
	captures->flows = calloc(FLOWS, sizeof(captures->flows[0]));
	if (captures->names == NULL || captures->flows == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for the captures' flows");
	for (uint32_t s = 0; s < config->n_streams; s++) {
		const struct stream_config *stream = &config->streams[s];

		memcpy(captures->names[s], stream->name, sizeof(captures->names[s]));
		for (uint32_t p = 0; stream->has_stamp && p < stream->parts; p++)
			captures->flows[stream->stamp + p] =
				(struct capture_flow){captures->names[s], p, stream->parts};
	}
	return 0;
}

static int
open_one(struct one_capture *one, const struct capture_config *config, uint32_t index,
	 const struct port *port, struct error *err)
{
	const uint32_t longest = port->config.frame_size_max - FCS_OCTETS + TAGS_OCTETS;
	const struct capture_spec spec = {.path = config->path,
					  .port = config->port,
					  .filter = config->filter,
					  .pcapng = config->pcapng,
					  .overwrite = config->overwrite,
					  .bad = config->bad,
					  .frames = config->frames,
					  .octets = RTE_MIN(config->octets, longest)};
	struct error why = {0};
	char path[64];
	int code = capture_open(&one->capture, &spec, one->sinks, &why);

	if (code == 0)
		return 0;
	snprintf(path, sizeof(path), "captures[%u].%.32s", index, why.path);
	return error_set(err, code, path, "%s", why.text);
}

/* The place where a task's list of sinks for such a capture begins. */
static struct capture_sink **
list_of(struct worker *worker, const struct task_config *task, const struct capture_config *capture,
	uint32_t rx, uint32_t forward)
{
	if (task->kind == TASK_FORWARD)
		return &worker->forward[forward].captures;
	if (!capture->bad)
		return &worker->rx[rx].captures;
	return &((struct measure *)(uintptr_t)worker->rx[rx].measure)->bad;
}

/* Give a worker's tasks their sinks, in the order of the plan. */
static void
give_sinks(struct program_captures *captures, const struct program_config *config,
	   const struct worker_config *worker_config, struct worker *worker,
	   const struct segment *segment, const int **block)
{
	uint32_t rx = 0, forward = 0;

	for (uint32_t t = 0; t < worker_config->n_tasks; t++) {
		const struct task_config *task = &worker_config->tasks[t];

		for (uint32_t c = 0; c < captures->count; c++) {
			struct one_capture *one = &captures->all[c];
			struct capture_sink **list, *sink;

			if (!config_task_captures(task, &config->captures[c]))
				continue;
			list = list_of(worker, task, &config->captures[c], rx, forward);
			sink = capture_get_sink(one->capture, one->given++);
			sink->counters = segment_block(segment, *(*block)++);
			sink->other = *list;
			*list = sink;
		}
		rx += task->kind == TASK_RX;
		forward += task->kind == TASK_FORWARD;
	}
}

int
captures_open(struct program *program, const struct program_config *config, struct error *err)
{
	struct program_captures *captures = program->captures;
	const int *block = captures->blocks;
	int code = 0;

	for (uint32_t c = 0; c < captures->count && code == 0; c++) {
		int p = program_find_port(program->ports, program->port_count,
					  config->captures[c].port);

		if (config->captures[c].bad && captures->flows == NULL)
			code = name_flows(captures, config, err);
		if (code == 0)
			code = open_one(&captures->all[c], &config->captures[c], c,
					&program->ports[p], err);
	}
	for (uint32_t w = 0; w < config->n_workers && code == 0; w++)
		give_sinks(captures, config, &config->workers[w], &program->workers[w],
			   program->segment, &block);
	captures->loaded = capture_anchor_now();
	return code;
}

uint32_t
captures_count(const struct program_captures *captures)
{
	return captures->count;
}

const char *
captures_path(const struct program_captures *captures, uint32_t i)
{
	return capture_path(captures->all[i].capture);
}

uint64_t
captures_frames(const struct program_captures *captures, uint32_t i)
{
	return captures->all[i].frames;
}

int
captures_write(struct program *program, struct error *err)
{
	struct program_captures *captures = program->captures;
	const struct capture_clock clock =
		capture_clock_between(captures->loaded, capture_anchor_now(), program->hz);
	int code = 0;

	for (uint32_t c = 0; c < captures->count; c++) {
		struct one_capture *one = &captures->all[c];
		int rc = capture_write(one->capture, &clock, captures->flows, &one->frames,
				       code == 0 ? err : NULL);

		code = code == 0 ? rc : code;
	}
	return code;
}

void
captures_close(struct program_captures *captures)
{
	if (captures == NULL)
		return;
	for (uint32_t c = 0; c < captures->count; c++)
		capture_close(captures->all[c].capture);
	free(captures->all);
	free(captures->blocks);
	free(captures->names);
	free(captures->flows);
	free(captures);
}
