/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports among themselves; workers, tasks and streams among themselves.
 *
 * Called by config_decode.c with every value in range; main thread, cold path.
 * A program may have 65,536 streams and more tasks, so uniqueness is looked up by sorting.
 * Source: docs/design/0002-engine-interface.md, "WORKER and its tasks".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"

enum { PATH_SIZE = sizeof(((struct error *)NULL)->path) };

int
config_check_ports(const struct ports_config *config, struct error *err)
{
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < config->n_ports; i++)
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(config->ports[i].name, config->ports[j].name) == 0) {
				snprintf(path, sizeof(path), "ports[%u].name", i);
				return error_set(err, ERROR_PARAMS, path,
						 "\"%s\" is already the name of ports[%u]; names "
						 "must differ",
						 config->ports[i].name, j);
			}
	for (uint32_t i = 0; i < config->n_ports; i++) {
		const struct port_config *port = &config->ports[i];

		if (port->tx_loop_frames == 0)
			continue;
		snprintf(path, sizeof(path), "ports[%u].tx_descriptors", i);
		if (port->tx_descriptors != 0)
			return error_set(err, ERROR_PARAMS, path,
					 "%u descriptors asked for a port whose Tx ring is looped "
					 "over %u frames; leave it at 0, the engine chooses",
					 port->tx_descriptors, port->tx_loop_frames);
		snprintf(path, sizeof(path), "ports[%u].tx_loop_frames", i);
		if (port->tx_queues == 0)
			return error_set(err, ERROR_PARAMS, path,
					 "a loop of %u frames on a port without Tx queues; give it "
					 "one in tx_queues",
					 port->tx_loop_frames);
	}
	return 0;
}

static int
check_lcores(const struct program_config *config, struct error *err)
{
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < config->n_workers; i++)
		for (uint32_t j = 0; j < i; j++)
			if (config->workers[i].lcore == config->workers[j].lcore) {
				snprintf(path, sizeof(path), "workers[%u].lcore", i);
				return error_set(err, ERROR_PARAMS, path,
						 "lcore %u is already used by workers[%u]; put all "
						 "its tasks in one worker",
						 config->workers[i].lcore, j);
			}
	return 0;
}

/* A stream's name and its place, sorted by name. */
struct name_ref {
	const char *name;
	uint32_t index;
};

static int
compare_names(const void *a, const void *b)
{
	const struct name_ref *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int
find_name(const void *key, const void *ref)
{
	return strcmp(key, ((const struct name_ref *)ref)->name);
}

/* Sort the streams' names and refuse the first one that occurs twice. */
static int
sort_names(const struct program_config *config, struct name_ref *names, struct error *err)
{
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < config->n_streams; i++)
		names[i] = (struct name_ref){.name = config->streams[i].name, .index = i};
	qsort(names, config->n_streams, sizeof(*names), compare_names);
	for (uint32_t i = 1; i < config->n_streams; i++)
		if (strcmp(names[i - 1].name, names[i].name) == 0) {
			snprintf(path, sizeof(path), "streams[%u].name", names[i].index);
			return error_set(err, ERROR_PARAMS, path,
					 "\"%s\" is already the name of streams[%u]; names must "
					 "differ",
					 names[i].name, names[i - 1].index);
		}
	return 0;
}

/* A task and its place in the params. */
struct task_ref {
	struct task_config *task;
	uint32_t worker;
	uint32_t index;
};

static int
refuse_task(struct error *err, const struct task_ref *ref, const char *key, const char *text)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "workers[%u].tasks[%u].%s", ref->worker, ref->index, key);
	return error_set(err, ERROR_PARAMS, path, "%s", text);
}

static int
resolve_streams(const struct program_config *config, const struct task_ref *refs, size_t n,
		struct error *err)
{
	struct name_ref *names = calloc((size_t)config->n_streams + 1, sizeof(*names));
	char text[sizeof(err->text)];
	int rc;

	if (names == NULL)
		return error_set(err, -ENOMEM, "streams", "out of memory for %u streams",
				 config->n_streams);
	rc = sort_names(config, names, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct task_config *task = refs[i].task;
		const struct name_ref *found;

		if (!config_task_streams(task))
			continue;
		found = bsearch(task->stream, names, config->n_streams, sizeof(*names), find_name);
		if (found != NULL) {
			task->stream_index = found->index;
			continue;
		}
		snprintf(text, sizeof(text), "there is no stream \"%s\"; add it to streams",
			 task->stream);
		rc = refuse_task(err, &refs[i], "stream", text);
	}
	free(names);
	return rc;
}

static int
compare_places(const struct task_ref *x, const struct task_ref *y)
{
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Tasks that send streams by stream and part, then all others. */
static int
sort_by_part(const void *a, const void *b)
{
	const struct task_ref *x = a, *y = b;
	const struct task_config *s = x->task, *t = y->task;

	if (config_task_streams(s) != config_task_streams(t))
		return config_task_streams(s) ? -1 : 1;
	if (s->stream_index != t->stream_index)
		return s->stream_index < t->stream_index ? -1 : 1;
	if (s->part != t->part)
		return s->part < t->part ? -1 : 1;
	return compare_places(x, y);
}

/* The tasks of one stream, by part: must be 0, 1, … parts-1. */
static int
check_parts_of_stream(const struct task_ref *refs, size_t n, struct error *err)
{
	const struct task_config *first = refs[0].task;
	char text[sizeof(err->text)];

	for (size_t i = 0; i < n; i++) {
		const struct task_config *task = refs[i].task;

		if (task->parts != first->parts) {
			snprintf(text, sizeof(text),
				 "%u parts here, but %u in workers[%u].tasks[%u]; stream \"%s\" "
				 "needs the same number everywhere",
				 task->parts, first->parts, refs[0].worker, refs[0].index,
				 task->stream);
			return refuse_task(err, &refs[i], "parts", text);
		}
		if (i > 0 && task->part == refs[i - 1].task->part) {
			snprintf(text, sizeof(text),
				 "part %u of stream \"%s\" is already sent by "
				 "workers[%u].tasks[%u]; each part needs one task",
				 task->part, task->stream, refs[i - 1].worker, refs[i - 1].index);
			return refuse_task(err, &refs[i], "part", text);
		}
	}
	if (n == first->parts)
		return 0;
	snprintf(text, sizeof(text),
		 "stream \"%s\" has %u parts, but only %zu of them have a task; each part needs "
		 "one task",
		 first->stream, first->parts, n);
	return refuse_task(err, &refs[0], "parts", text);
}

/* A burst is counted in frames of the whole stream, which one task must send then. */
static int
check_burst_parts(const struct stream_config *stream, uint32_t index, uint32_t parts,
		  struct error *err)
{
	char path[PATH_SIZE];

	if (!stream->has_burst || parts == 1)
		return 0;
	snprintf(path, sizeof(path), "streams[%u].burst", index);
	return error_set(err, ERROR_PARAMS, path,
			 "stream \"%s\" is sent in %u parts; with a burst it must be one part",
			 stream->name, parts);
}

static int
check_parts(struct program_config *config, struct task_ref *refs, size_t n, struct error *err)
{
	char path[PATH_SIZE];
	size_t next = 0;

	qsort(refs, n, sizeof(*refs), sort_by_part);
	for (uint32_t stream = 0; stream < config->n_streams; stream++) {
		size_t begin = next;
		int rc;

		while (next < n && config_task_streams(refs[next].task) &&
		       refs[next].task->stream_index == stream)
			next++;
		if (next == begin) {
			snprintf(path, sizeof(path), "streams[%u].name", stream);
			return error_set(err, ERROR_PARAMS, path,
					 "no tx task sends stream \"%s\"; add one or leave it out",
					 config->streams[stream].name);
		}
		rc = check_parts_of_stream(&refs[begin], next - begin, err);
		config->streams[stream].parts = refs[begin].task->parts;
		if (rc == 0)
			rc = check_burst_parts(&config->streams[stream], stream,
					       refs[begin].task->parts, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static size_t
collect_tasks(const struct program_config *config, struct task_ref *refs)
{
	size_t n = 0;

	for (uint32_t w = 0; w < config->n_workers; w++)
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++)
			refs[n++] = (struct task_ref){
				.task = &config->workers[w].tasks[t], .worker = w, .index = t};
	return n;
}

/* The receiver tells the parts of streams apart by these. */
static int
check_stamps(const struct program_config *config, struct error *err)
{
	uint32_t *owner = calloc(UINT16_MAX + 1, sizeof(*owner)); /* index + 1 */
	char path[PATH_SIZE];
	int rc = 0;

	if (owner == NULL)
		return error_set(err, -ENOMEM, "streams", "out of memory for stamps");
	for (uint32_t i = 0; i < config->n_streams && rc == 0; i++) {
		const struct stream_config *stream = &config->streams[i];

		if (!stream->has_stamp)
			continue;
		snprintf(path, sizeof(path), "streams[%u].stamp", i);
		if (stream->stamp + stream->parts > CONFIG_STAMPS_MAX)
			rc = error_set(
				err, ERROR_PARAMS, path,
				"%u and those of %u parts from there on exceed %u; begin at a "
				"lower one",
				stream->stamp, stream->parts, CONFIG_STAMPS_MAX - 1);
		for (uint32_t id = stream->stamp; id < stream->stamp + stream->parts && rc == 0;
		     id++) {
			if (owner[id] != 0)
				rc = error_set(err, ERROR_PARAMS, path,
					       "%u is already a stamp of streams[%u]; stamps must "
					       "differ, and each part has one",
					       id, owner[id] - 1);
			owner[id] = i + 1;
		}
	}
	free(owner);
	return rc;
}

int
config_check_program(struct program_config *config, struct error *err)
{
	struct task_ref *refs;
	size_t n = 0;
	int rc = check_lcores(config, err);

	if (rc < 0)
		return rc;
	for (uint32_t w = 0; w < config->n_workers; w++)
		n += config->workers[w].n_tasks;
	refs = calloc(n + 1, sizeof(*refs));
	if (refs == NULL)
		return error_set(err, -ENOMEM, "workers", "out of memory for %zu tasks", n);
	n = collect_tasks(config, refs);
	rc = resolve_streams(config, refs, n, err);
	if (rc == 0)
		rc = config_check_queues(config, err);
	if (rc == 0)
		rc = config_check_rings(config, err);
	if (rc == 0)
		rc = config_check_replies(config, err);
	if (rc == 0)
		rc = check_parts(config, refs, n, err);
	if (rc == 0)
		rc = check_stamps(config, err);
	if (rc == 0)
		rc = config_check_loops(config, err);
	free(refs);
	return rc;
}
