/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any octets as the params of every method that has some.
 *
 * Called by libFuzzer; with -DWR_FUZZ_STANDALONE a program that replays the files given to it.
 * What decodes is read through to the end and rendered, so that the sanitizers see a pointer or a
 * length that promises too much; what does not must have an error and leave nothing behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/config.h"
#include "fuzz/fuzz_standalone.h"
#include "program/frame_render.h"

static void
must(int condition)
{
	if (!condition)
		abort();
}

static void
must_agree(int rc, const struct error *err)
{
	must(rc == 0 || rc == ERROR_PARAMS);
	must(rc == err->code);
	must((rc == 0) == (err->text[0] == '\0') && (rc == 0) == (err->path[0] == '\0'));
}

static void
try_ports(const json_t *params)
{
	struct ports_config config;
	struct error err = {0};
	int rc = config_decode_ports(params, &config, &err);

	must_agree(rc, &err);
	must((rc == 0) == (config.n_ports > 0));
	for (uint32_t i = 0; i < config.n_ports; i++)
		must(strlen(config.ports[i].name) > 0 && strlen(config.ports[i].location) > 0);
	config_free_ports(&config);
}

static void
use_trace(const struct stream_config *stream)
{
	const struct trace_config *trace = &stream->trace;

	must(trace->path[0] == '/' && strlen(trace->path) < CONFIG_PATH_SIZE);
	must(stream->template == NULL && stream->n_fields == 0 && stream->n_checksums == 0);
	must(stream->period == 0 && !(trace->has_speed && stream->has_fps));
	for (uint32_t i = 0; i < trace->n_overwrites; i++) {
		const struct overwrite_config *overwrite = &trace->overwrites[i];

		must(overwrite->n_octets >= 1);
		must(overwrite->offset + overwrite->n_octets <= CONFIG_TEMPLATE_OCTETS_MAX);
		memset(overwrite->octets, 0, overwrite->n_octets);
	}
}

static void
must_repeat(const struct stream_config *stream)
{
	must(stream->period >= 1);
	if (stream->period == UINT64_MAX)
		return;
	must(stream->period <= CONFIG_PERIOD_MAX);
	must(stream->n_lengths == 0 || stream->period % stream->n_lengths == 0);
	for (uint32_t i = 0; i < stream->n_fields; i++) {
		const struct field_config *field = &stream->fields[i];

		must(field->count == 1 || stream->period % (field->every * field->count) == 0);
	}
}

static void
use_ramp(const struct stream_config *stream)
{
	const struct ramp_config *ramp = &stream->ramp;

	if (ramp->flows == 0)
		return;
	must(ramp->flows <= CONFIG_FLOWS_MAX && ramp->start >= 1 && ramp->start <= ramp->flows);
	must(ramp->per_second > 0 && stream->n_lengths <= 1 && stream->template != NULL);
}

/* Render into just as much memory as the longest frame may take; the period's frame is frame 0. */
static void
use_template(const struct stream_config *stream)
{
	uint32_t octets = stream->frame_len_no_fcs, first_octets;
	uint8_t *frame = malloc(octets), *first = malloc(octets);

	must(octets >= 60 && octets <= 16380 && frame != NULL && first != NULL);
	must_repeat(stream);
	first_octets = frame_render(stream, 0, first);
	for (uint64_t i = 0; i < 4; i++) {
		uint32_t length = frame_render(stream, i, frame);

		must(length == frame_length(stream, i) && length >= 60 && length <= octets);
	}
	if (stream->period <= CONFIG_PERIOD_MAX) {
		must(frame_render(stream, stream->period, frame) == first_octets);
		must(memcmp(frame, first, first_octets) == 0);
	}
	free(frame);
	free(first);
}

static void
use_bridge(const struct program_config *config, const struct task_config *task)
{
	const struct bridge_config *bridge = task->bridge;

	must((task->port[0] == '\0') == (bridge->from_ring[0] != '\0'));
	must(bridge->n_addresses <= CONFIG_BRIDGE_ADDRESSES_MAX);
	if (bridge->from_ring[0] != '\0')
		must(strcmp(config->rings[bridge->from_ring_index].name, bridge->from_ring) == 0);
	for (uint32_t i = 0; i < BRIDGE_WAYS; i++) {
		const struct bridge_way_config *way = &bridge->ways[i];

		must(way->port[0] == '\0' || way->ring[0] == '\0');
		must((way->port[0] == '\0') == (way->n_queues == 0));
		if (way->ring[0] != '\0')
			must(strcmp(config->rings[way->ring_index].name, way->ring) == 0);
	}
}

static void
use_program(const struct program_config *config)
{
	for (uint32_t i = 0; i < config->n_streams; i++) {
		const struct stream_config *stream = &config->streams[i];

		must(!stream->has_burst || (stream->has_fps && stream->burst_frames >= 1));
		use_ramp(stream);
		if (stream->trace.path != NULL)
			use_trace(stream);
		else
			use_template(stream);
	}
	for (uint32_t i = 0; i < config->n_rings; i++)
		must(config->rings[i].frames >= 64 && strlen(config->rings[i].name) > 0);
	for (uint32_t w = 0; w < config->n_workers; w++)
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];

			must((task->kind == TASK_BRIDGE) == (task->bridge != NULL));
			if (task->kind == TASK_BRIDGE)
				use_bridge(config, task);
			if (task->kind == TASK_TX)
				must(task->stream_index < config->n_streams &&
				     task->part < task->parts);
			must((task->kind == TASK_REPLY) == (task->n_addresses >= 1));
			for (uint32_t a = 0; a < task->n_addresses; a++)
				must((task->addresses[a].mac[0] & 1) == 0);
		}
}

static void
try_program(const json_t *params)
{
	struct program_config config;
	struct error err = {0};

	must_agree(config_decode_program(params, &config, &err), &err);
	use_program(&config);
	config_free_program(&config);
}

static void
try_preview(const json_t *params)
{
	struct program_config program;
	struct preview_config config;
	struct error err = {0};
	int rc = config_decode_preview(params, &program, &config, &err);

	must_agree(rc, &err);
	must((rc == 0) == (config.path != NULL) && (rc == 0) == (config.frames >= 1));
	use_program(&program);
	config_free_program(&program);
	config_free_preview(&config);
}

static void
try_exchange(const json_t *params)
{
	struct exchange_config config;
	struct error err = {0};
	int rc = config_decode_exchange(params, &config, &err);

	must_agree(rc, &err);
	must((rc == 0) == (config.filter != NULL) && (rc == 0) == (config.answers >= 1));
	for (uint32_t i = 0; i < config.n_frames; i++) {
		must(config.frames[i].n_octets >= 14 && config.frames[i].n_octets <= 16380);
		memset(config.frames[i].octets, 0, config.frames[i].n_octets);
	}
	config_free_exchange(&config);
}

static void
try_hash(const json_t *params)
{
	struct hash_config config;
	struct error err = {0};

	must_agree(config_decode_hash(params, &config, &err), &err);
	for (uint32_t i = 0; i < config.n_inputs; i++)
		must(config.inputs[i].n_octets + 4 <= config.key_octets);
	config_free_hash(&config);
}

static void
try_steer(const json_t *params)
{
	struct steer_config config;
	struct error err = {0};

	must_agree(config_decode_steer(params, &config, &err), &err);
	for (uint32_t i = 0; i < config.n_rules; i++)
		must(config.rules[i].queue < CONFIG_QUEUES_MAX);
	config_free_steer(&config);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *params = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
	struct start_config start;
	struct error err = {0};

	if (params == NULL)
		return 0;
	try_ports(params);
	try_program(params);
	try_preview(params);
	try_exchange(params);
	try_hash(params);
	try_steer(params);
	must_agree(config_decode_start(params, &start, &err), &err);
	json_decref(params);
	return 0;
}
