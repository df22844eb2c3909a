/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any octets as the params of every method that has some.
 *
 * Called by libFuzzer; with -DWR_FUZZ_STANDALONE a program that replays the files given to it.
 * What decodes is read through to the end, so that the sanitizers see a pointer or a length that
 * promises too much; what does not must have an error and leave nothing behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/config.h"
#include "fuzz/fuzz_standalone.h"

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
use_stream(const struct stream_config *stream)
{
	uint32_t octets = stream->frame_len_no_fcs;

	must(octets >= 60 && octets <= 16380 && stream->period >= 1);
	for (uint32_t i = 0; i < stream->n_fields; i++) {
		const struct field_config *field = &stream->fields[i];

		must(field->count >= 1 && stream->period % field->count == 0);
		must(field->octets <= 8);
		memset(stream->template + field->offset, 0, field->octets);
	}
	for (uint32_t i = 0; i < stream->n_checksums; i++) {
		const struct checksum_config *checksum = &stream->checksums[i];

		memset(stream->template + checksum->offset, 0, 2);
		for (uint32_t r = 0; r < checksum->n_ranges; r++)
			memset(stream->template + checksum->ranges[r].offset, 0,
			       checksum->ranges[r].octets);
	}
}

static void
try_program(const json_t *params)
{
	struct program_config config;
	struct error err = {0};

	must_agree(config_decode_program(params, &config, &err), &err);
	for (uint32_t i = 0; i < config.n_streams; i++)
		use_stream(&config.streams[i]);
	for (uint32_t w = 0; w < config.n_workers; w++)
		for (uint32_t t = 0; t < config.workers[w].n_tasks; t++) {
			const struct task_config *task = &config.workers[w].tasks[t];

			if (task->kind == TASK_TX)
				must(task->stream_index < config.n_streams &&
				     task->part < task->parts);
		}
	config_free_program(&config);
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
	must_agree(config_decode_start(params, &start, &err), &err);
	json_decref(params);
	return 0;
}
