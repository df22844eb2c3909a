/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who serves which queue? Called by config_check.c; main thread, cold path. A program may have 262,144 tasks, so what must
 * not be is looked for among neighbours after sorting.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"

enum { PATH_SIZE = sizeof(((struct error *)NULL)->path) };

/* A task that receives from or sends to a queue; forward and bridge tasks do both. */
struct queue_use {
	const struct task_config *task;
	const char *port;
	uint32_t queue;
	bool tx;
	uint32_t worker;
	uint32_t index; /* of the task in its worker */
	uint32_t way;   /* of a bridge task that sends */
	uint32_t place; /* in the way's queues */
};

static int
compare_queues(const struct queue_use *x, const struct queue_use *y)
{
	int order = strcmp(x->port, y->port);

	if (order != 0)
		return order;
	if (x->tx != y->tx)
		return x->tx ? 1 : -1;
	return (x->queue > y->queue) - (x->queue < y->queue);
}

static int
compare_places(const struct queue_use *x, const struct queue_use *y)
{
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* By queue, then worker, then stream; tasks of no stream last. */
static int
compare_uses(const void *a, const void *b)
{
	const struct queue_use *x = a, *y = b;
	int order = compare_queues(x, y);

	if (order != 0)
		return order;
	if (x->worker == y->worker && config_task_streams(x->task) != config_task_streams(y->task))
		return config_task_streams(x->task) ? -1 : 1;
	if (x->worker == y->worker && x->task->stream_index != y->task->stream_index)
		return x->task->stream_index < y->task->stream_index ? -1 : 1;
	return compare_places(x, y);
}

/* May both serve the same queue? Why not goes to text. */
static bool
may_share(const struct queue_use *first, const struct queue_use *again, char *text, size_t size)
{
	const struct task_config *task = again->task;

	if (!again->tx)
		snprintf(text, size,
			 "rx queue %u of port \"%s\" is already served by workers[%u].tasks[%u]; "
			 "give each its own queue",
			 again->queue, again->port, first->worker, first->index);
	else if (first->worker != again->worker)
		snprintf(text, size,
			 "tx queue %u of port \"%s\" is already served by workers[%u].tasks[%u]; "
			 "put all tasks of a queue in one worker",
			 again->queue, again->port, first->worker, first->index);
	else if (task->kind == TASK_LOOP || first->task->kind == TASK_LOOP)
		snprintf(text, size,
			 "tx queue %u of port \"%s\" is looped, and workers[%u].tasks[%u] has it, "
			 "too; a loop needs a queue of its own",
			 again->queue, again->port, first->worker, first->index);
	else if (task->kind == TASK_TX && first->task->kind == TASK_TX &&
		 task->stream_index == first->task->stream_index)
		snprintf(text, size,
			 "tx queue %u of port \"%s\" already sends stream \"%s\" in "
			 "workers[%u].tasks[%u]; give each part its own queue",
			 again->queue, again->port, task->stream, first->worker, first->index);
	else
		return true;
	return false;
}

/* The queues of a bridge task: the one it receives on, unless that is a ring, and those of its ways. */
static size_t
collect_bridge(const struct task_config *task, uint32_t w, uint32_t t, struct queue_use *uses)
{
	size_t n = 0;

	if (config_task_receives(task))
		uses[n++] = (struct queue_use){task, task->port, task->queue, false, w, t, 0, 0};
	for (uint32_t i = 0; i < BRIDGE_WAYS; i++) {
		const struct bridge_way_config *way = &task->bridge->ways[i];

		for (uint32_t q = 0; q < way->n_queues; q++)
			uses[n++] = (struct queue_use){task, way->port, way->queues[q], true, w, t,
						       i,    q};
	}
	return n;
}

static size_t
uses_max(const struct task_config *task)
{
	size_t n = 2;

	for (uint32_t i = 0; i < BRIDGE_WAYS && task->kind == TASK_BRIDGE; i++)
		n += task->bridge->ways[i].n_queues;
	return n;
}

static size_t
collect(const struct program_config *config, struct queue_use *uses)
{
	size_t n = 0;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];

			if (task->kind == TASK_BRIDGE) {
				n += collect_bridge(task, w, t, &uses[n]);
				continue;
			}
			uses[n++] = (struct queue_use){
				task, task->port, task->queue, !config_task_receives(task),
				w,    t,          0,           0};
			if (task->kind == TASK_FORWARD)
				uses[n++] = (struct queue_use){task,
							       task->forward.to_port,
							       task->forward.to_queue,
							       true,
							       w,
							       t,
							       0,
							       0};
		}
	}
	return n;
}

/* The key of the queue in its task. */
static void
name_key(const struct queue_use *use, char *key, size_t size)
{
	if (use->task->kind == TASK_BRIDGE && use->tx)
		snprintf(key, size, "%s.to.queues[%u]", bridge_way_name(use->way), use->place);
	else if (use->task->kind == TASK_BRIDGE)
		snprintf(key, size, "from.queue");
	else
		snprintf(key, size,
			 use->tx && use->task->kind == TASK_FORWARD ? "to_queue" : "queue");
}

int
config_check_queues(const struct program_config *config, struct error *err)
{
	char text[sizeof(err->text)], path[PATH_SIZE], key[64];
	struct queue_use *uses;
	size_t n = 0;
	int rc = 0;

	for (uint32_t w = 0; w < config->n_workers; w++)
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++)
			n += uses_max(&config->workers[w].tasks[t]);
	uses = calloc(n + 1, sizeof(*uses));
	if (uses == NULL)
		return error_set(err, -ENOMEM, "workers", "out of memory for %zu queues", n);
	n = collect(config, uses);
	qsort(uses, n, sizeof(*uses), compare_uses);
	for (size_t i = 1; i < n && rc == 0; i++) {
		const struct queue_use *again = &uses[i];

		if (compare_queues(&uses[i - 1], again) != 0 ||
		    may_share(&uses[i - 1], again, text, sizeof(text)))
			continue;
		name_key(again, key, sizeof(key));
		snprintf(path, sizeof(path), "workers[%u].tasks[%u].%s", again->worker,
			 again->index, key);
		rc = error_set(err, ERROR_PARAMS, path, "%s", text);
	}
	free(uses);
	return rc;
}
