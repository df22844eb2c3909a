/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON params → configuration structs: keys, types and ranges of single values.
 *
 * Called by the methods in control/ on the main thread before anything runs.
 * Streams: config_decode_stream.c. What relates values to each other: the config_check files.
 * Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_decode.h"
#include "protocol/stamp.h"

static void
decode_offloads(const struct cursor *port, struct offloads_config *offloads)
{
	static const char *const keys[] = {"checksums", "segments", NULL};
	struct cursor at;

	if (!cursor_has(port, "offloads"))
		return;
	at = cursor_child(port, "offloads");
	cursor_closed_object(&at, keys);
	if (cursor_has(&at, "checksums"))
		cursor_get_bool(&at, "checksums", &offloads->checksums);
	if (cursor_has(&at, "segments"))
		cursor_get_bool(&at, "segments", &offloads->segments);
}

static void
decode_port(const struct cursor *at, struct port_config *port)
{
	static const char *const keys[] = {
		"name",           "location", "rx_queues",      "tx_queues",   "rx_descriptors",
		"tx_descriptors", "mbufs",    "frame_size_max", "promiscuous", "rss",
		"tx_loop_frames", "offloads", "one_pool",       "rx_times",    NULL,
	};

	cursor_closed_object(at, keys);
	cursor_get_text(at, "name", port->name, sizeof(port->name));
	cursor_get_text(at, "location", port->location, sizeof(port->location));
	cursor_get_uint32(at, "rx_queues", 0, CONFIG_QUEUES_MAX, &port->rx_queues);
	cursor_get_uint32(at, "tx_queues", 0, CONFIG_QUEUES_MAX, &port->tx_queues);
	cursor_get_uint32(at, "rx_descriptors", 0, CONFIG_DESCRIPTORS_MAX, &port->rx_descriptors);
	cursor_get_uint32(at, "tx_descriptors", 0, CONFIG_DESCRIPTORS_MAX, &port->tx_descriptors);
	cursor_get_uint32(at, "mbufs", port->rx_queues > 0, CONFIG_MBUFS_MAX, &port->mbufs);
	cursor_get_uint32(at, "frame_size_max", CONFIG_FRAME_SIZE_MIN, CONFIG_FRAME_SIZE_MAX,
			  &port->frame_size_max);
	cursor_get_bool(at, "promiscuous", &port->promiscuous);
	config_decode_rss(at, port->rx_queues, &port->rss);
	decode_offloads(at, &port->offloads);
	if (cursor_has(at, "one_pool"))
		cursor_get_bool(at, "one_pool", &port->one_pool);
	if (cursor_has(at, "rx_times"))
		cursor_get_bool(at, "rx_times", &port->rx_times);
	if (cursor_has(at, "tx_loop_frames"))
		cursor_get_uint32(at, "tx_loop_frames", 0, CONFIG_LOOP_FRAMES_MAX,
				  &port->tx_loop_frames);
}

int
config_decode_ports(const struct json_t *params, struct ports_config *out, struct error *err)
{
	static const char *const keys[] = {"ports", NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};
	struct cursor array;
	uint32_t n;

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	n = cursor_get_array(&root, "ports", 1, CONFIG_PORTS_MAX, &array);
	out->ports = cursor_new_array(&array, n, sizeof(*out->ports));
	for (uint32_t i = 0; i < n && d.rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_port(&at, &out->ports[i]);
		out->n_ports++;
	}
	if (d.rc == 0)
		d.rc = config_check_ports(out, err);
	if (d.rc < 0)
		config_free_ports(out);
	return d.rc;
}

static void
decode_streams(const struct cursor *root, struct program_config *out)
{
	struct cursor array;
	uint32_t n = cursor_get_array(root, "streams", 0, CONFIG_STREAMS_MAX, &array);

	out->streams = cursor_new_array(&array, n, sizeof(*out->streams));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		config_decode_stream(&at, &out->streams[i]);
		out->n_streams++;
		if (root->d->rc == 0)
			root->d->rc = config_check_stream(&out->streams[i], i, root->d->err);
	}
}

static void
decode_worker(const struct cursor *at, struct worker_config *worker)
{
	static const char *const keys[] = {"lcore", "sleep_ns", "tasks", NULL};
	struct cursor array;
	uint32_t n;

	cursor_closed_object(at, keys);
	cursor_get_uint32(at, "lcore", 0, CONFIG_LCORE_MAX, &worker->lcore);
	if (cursor_has(at, "sleep_ns"))
		cursor_get_uint64(at, "sleep_ns", 0, CONFIG_SLEEP_NS_MAX, &worker->sleep_ns);
	n = cursor_get_array(at, "tasks", 1, CONFIG_TASKS_MAX, &array);
	worker->tasks = cursor_new_array(&array, n, sizeof(*worker->tasks));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		config_decode_task(&element, &worker->tasks[i]);
		worker->n_tasks++;
	}
}

static void
decode_workers(const struct cursor *root, struct program_config *out)
{
	struct cursor array;
	uint32_t n = cursor_get_array(root, "workers", 1, CONFIG_WORKERS_MAX, &array);

	out->workers = cursor_new_array(&array, n, sizeof(*out->workers));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_worker(&at, &out->workers[i]);
		out->n_workers++;
	}
}

/* The keys of program.load, in an object that may have others. */
static void
decode_program(const struct cursor *root, struct program_config *out)
{
	uint32_t magic = STAMP_MAGIC_DEFAULT;

	decode_workers(root, out);
	decode_streams(root, out);
	if (cursor_has(root, "stamp_magic"))
		cursor_get_uint32(root, "stamp_magic", 0, UINT16_MAX, &magic);
	out->stamp_magic = (uint16_t)magic;
	config_decode_captures(root, out);
	config_decode_rings(root, out);
	if (root->d->rc == 0)
		root->d->rc = config_check_program(out, root->d->err);
	if (root->d->rc == 0)
		root->d->rc = config_check_captures(out, root->d->err);
}

int
config_decode_program(const struct json_t *params, struct program_config *out, struct error *err)
{
	static const char *const keys[] = {"workers",  "streams", "stamp_magic",
					   "captures", "rings",   NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	decode_program(&root, out);
	if (d.rc < 0)
		config_free_program(out);
	return d.rc;
}

int
config_decode_preview(const struct json_t *params, struct program_config *program,
		      struct preview_config *out, struct error *err)
{
	static const char *const keys[] = {
		"workers", "streams", "stamp_magic", "captures", "rings",
		"path",    "format",  "frames",      NULL,
	};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};

	memset(program, 0, sizeof(*program));
	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	cursor_get_file_path(&root, "path", CONFIG_PATH_SIZE, &out->path);
	config_decode_format(&root, &out->pcapng);
	cursor_get_uint64(&root, "frames", 1, CONFIG_PREVIEW_FRAMES_MAX, &out->frames);
	decode_program(&root, program);
	config_free_captures(program);
	if (d.rc < 0) {
		config_free_program(program);
		config_free_preview(out);
	}
	return d.rc;
}

int
config_decode_start(const struct json_t *params, struct start_config *out, struct error *err)
{
	static const char *const keys[] = {"duration_ns", NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};
	int64_t duration_ns = 0;

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	if (json_object_size(params) > 0)
		cursor_get_int64(&root, "duration_ns", 1, (int64_t)CONFIG_DURATION_NS_MAX,
				 &duration_ns);
	out->has_duration = duration_ns > 0;
	out->duration_ns = (uint64_t)duration_ns;
	return d.rc;
}

int
config_decode_rate(const struct json_t *params, struct rate_config *out, struct error *err)
{
	static const char *const keys[] = {"stream", "fps", NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	cursor_get_text(&root, "stream", out->stream, sizeof(out->stream));
	cursor_get_double(&root, "fps", CONFIG_FPS_MIN, CONFIG_FPS_MAX, &out->fps);
	return d.rc;
}

int
config_decode_nothing(const struct json_t *params, struct error *err)
{
	static const char *const keys[] = {NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};

	cursor_closed_object(&root, keys);
	return d.rc;
}

void
config_free_ports(struct ports_config *config)
{
	free(config->ports);
	memset(config, 0, sizeof(*config));
}

void
config_free_program(struct program_config *config)
{
	for (uint32_t i = 0; i < config->n_workers; i++) {
		for (uint32_t t = 0; t < config->workers[i].n_tasks; t++) {
			free(config->workers[i].tasks[t].addresses);
			free(config->workers[i].tasks[t].bridge);
		}
		free(config->workers[i].tasks);
	}
	for (uint32_t i = 0; i < config->n_streams; i++)
		config_free_stream(&config->streams[i]);
	config_free_captures(config);
	free(config->workers);
	free(config->streams);
	free(config->rings);
	memset(config, 0, sizeof(*config));
}

void
config_free_preview(struct preview_config *config)
{
	free(config->path);
	memset(config, 0, sizeof(*config));
}
