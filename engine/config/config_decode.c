/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON params → configuration structs: keys, types and ranges of single values.
 *
 * Called by the methods in control/ on the main thread before anything runs.
 * What relates values to each other (overlaps, double names, parts) is in config_check.c.
 * Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_check.h"
#include "config/json_cursor.h"

/* Room for n elements, or NULL and refused; n 0 gives NULL. */
static void *
new_array(const struct cursor *at, size_t n, size_t size)
{
	void *array;

	if (at->d->rc < 0 || n == 0)
		return NULL;
	array = calloc(n, size);
	if (array == NULL)
		cursor_no_memory(at);
	return array;
}

static void
decode_port(const struct cursor *at, struct port_config *port)
{
	static const char *const keys[] = {
		"name",           "location", "rx_queues",      "tx_queues",   "rx_descriptors",
		"tx_descriptors", "mbufs",    "frame_size_max", "promiscuous", NULL,
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
	out->ports = new_array(&array, n, sizeof(*out->ports));
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

/* The largest value of a field of that many octets, as far as JSON integers reach. */
static int64_t
field_value_max(uint32_t octets)
{
	return octets >= 8 ? INT64_MAX : (INT64_C(1) << (8 * octets)) - 1;
}

static void
decode_field(const struct cursor *at, struct field_config *field)
{
	static const char *const keys[] = {"offset", "octets", "first", "step", "count", NULL};
	int64_t first = 0, step = 0, count = 0, max;

	cursor_closed_object(at, keys);
	cursor_get_uint32(at, "offset", 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &field->offset);
	cursor_get_uint32(at, "octets", 1, 8, &field->octets);
	max = field_value_max(field->octets);
	/* JSON integers here end at 2^63-1; the upper half of 8 octets is reached as negative. */
	cursor_get_int64(at, "first", field->octets == 8 ? INT64_MIN : 0, max, &first);
	cursor_get_int64(at, "step", -max, max, &step);
	cursor_get_int64(at, "count", 1, (int64_t)CONFIG_COUNT_MAX, &count);
	field->first = (uint64_t)first;
	field->step = (uint64_t)step;
	field->count = (uint64_t)count;
}

static void
decode_fields(const struct cursor *at, struct stream_config *stream)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "fields", 0, CONFIG_FIELDS_MAX, &array);

	stream->fields = new_array(&array, n, sizeof(*stream->fields));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_field(&element, &stream->fields[i]);
		stream->n_fields++;
	}
}

/* One [offset, octets]. */
static void
decode_range(const struct cursor *at, struct octet_range *range)
{
	if (!json_is_array(at->json) || json_array_size(at->json) != 2) {
		cursor_refuse(at, NULL, "it must be an array of two integers, [offset, octets]");
		return;
	}
	cursor_element_uint32(at, 0, 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &range->offset);
	cursor_element_uint32(at, 1, 1, CONFIG_TEMPLATE_OCTETS_MAX, &range->octets);
}

static void
decode_checksum(const struct cursor *at, struct checksum_config *checksum)
{
	static const char *const keys[] = {"offset", "ranges", "add", "udp", NULL};
	struct cursor array;
	uint32_t n;

	cursor_closed_object(at, keys);
	cursor_get_uint32(at, "offset", 0, CONFIG_TEMPLATE_OCTETS_MAX - 1, &checksum->offset);
	n = cursor_get_array(at, "ranges", 1, CONFIG_RANGES_MAX, &array);
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_range(&element, &checksum->ranges[i]);
		checksum->n_ranges++;
	}
	cursor_get_uint32(at, "add", 0, UINT16_MAX, &checksum->add);
	cursor_get_bool(at, "udp", &checksum->udp);
}

static void
decode_checksums(const struct cursor *at, struct stream_config *stream)
{
	struct cursor array;
	uint32_t n = cursor_get_array(at, "checksums", 0, CONFIG_CHECKSUMS_MAX, &array);

	stream->checksums = new_array(&array, n, sizeof(*stream->checksums));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_checksum(&element, &stream->checksums[i]);
		stream->n_checksums++;
	}
}

static void
decode_stream(const struct cursor *at, struct stream_config *stream)
{
	static const char *const keys[] = {
		"name", "template", "fields", "checksums", "fps", "frames", NULL,
	};

	cursor_closed_object(at, keys);
	cursor_get_text(at, "name", stream->name, sizeof(stream->name));
	cursor_get_hex(at, "template", CONFIG_TEMPLATE_OCTETS_MIN, CONFIG_TEMPLATE_OCTETS_MAX,
		       &stream->template, &stream->frame_len_no_fcs);
	decode_fields(at, stream);
	decode_checksums(at, stream);
	cursor_get_double_or_null(at, "fps", CONFIG_FPS_MIN, CONFIG_FPS_MAX, &stream->has_fps,
				  &stream->fps);
	cursor_get_uint64_or_null(at, "frames", 1, INT64_MAX, &stream->has_frames, &stream->frames);
}

static void
decode_streams(const struct cursor *root, struct program_config *out)
{
	struct cursor array;
	uint32_t n = cursor_get_array(root, "streams", 0, CONFIG_STREAMS_MAX, &array);

	out->streams = new_array(&array, n, sizeof(*out->streams));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_stream(&at, &out->streams[i]);
		out->n_streams++;
		if (root->d->rc == 0)
			root->d->rc = config_check_stream(&out->streams[i], i, root->d->err);
	}
}

static void
decode_task_kind(const struct cursor *at, struct task_config *task)
{
	char kind[CONFIG_NAME_SIZE] = "";

	cursor_get_text(at, "kind", kind, sizeof(kind));
	if (strcmp(kind, "tx") == 0)
		task->kind = TASK_TX;
	else if (strcmp(kind, "rx") == 0)
		task->kind = TASK_RX;
	else
		cursor_refuse(at, "kind",
			      "\"%s\" is no kind of task; it must be \"rx\" or "
			      "\"tx\"",
			      kind);
}

static void
decode_task(const struct cursor *at, struct task_config *task)
{
	static const char *const any_keys[] = {
		"kind", "port", "queue", "burst", "stream", "part", "parts", NULL,
	};
	static const char *const rx_keys[] = {"kind", "port", "queue", "burst", NULL};

	cursor_closed_object(at, any_keys);
	decode_task_kind(at, task);
	cursor_get_text(at, "port", task->port, sizeof(task->port));
	cursor_get_uint32(at, "queue", 0, CONFIG_QUEUES_MAX - 1, &task->queue);
	cursor_get_uint32(at, "burst", 1, CONFIG_BURST_MAX, &task->burst);
	if (task->kind == TASK_RX) {
		cursor_closed_object(at, rx_keys);
		return;
	}
	cursor_get_text(at, "stream", task->stream, sizeof(task->stream));
	cursor_get_uint32(at, "parts", 1, CONFIG_PARTS_MAX, &task->parts);
	cursor_get_uint32(at, "part", 0, task->parts - 1, &task->part);
}

static void
decode_worker(const struct cursor *at, struct worker_config *worker)
{
	static const char *const keys[] = {"lcore", "tasks", NULL};
	struct cursor array;
	uint32_t n;

	cursor_closed_object(at, keys);
	cursor_get_uint32(at, "lcore", 0, CONFIG_LCORE_MAX, &worker->lcore);
	n = cursor_get_array(at, "tasks", 1, CONFIG_TASKS_MAX, &array);
	worker->tasks = new_array(&array, n, sizeof(*worker->tasks));
	for (uint32_t i = 0; i < n && at->d->rc == 0; i++) {
		const struct cursor element = cursor_element(&array, i);

		decode_task(&element, &worker->tasks[i]);
		worker->n_tasks++;
	}
}

static void
decode_workers(const struct cursor *root, struct program_config *out)
{
	struct cursor array;
	uint32_t n = cursor_get_array(root, "workers", 1, CONFIG_WORKERS_MAX, &array);

	out->workers = new_array(&array, n, sizeof(*out->workers));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_worker(&at, &out->workers[i]);
		out->n_workers++;
	}
}

int
config_decode_program(const struct json_t *params, struct program_config *out, struct error *err)
{
	static const char *const keys[] = {"workers", "streams", NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	decode_workers(&root, out);
	decode_streams(&root, out);
	if (d.rc == 0)
		d.rc = config_check_program(out, err);
	if (d.rc < 0)
		config_free_program(out);
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
	for (uint32_t i = 0; i < config->n_workers; i++)
		free(config->workers[i].tasks);
	for (uint32_t i = 0; i < config->n_streams; i++) {
		free(config->streams[i].template);
		free(config->streams[i].fields);
		free(config->streams[i].checksums);
	}
	free(config->workers);
	free(config->streams);
	memset(config, 0, sizeof(*config));
}
