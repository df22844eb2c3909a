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

#define PORT struct port_config

static const struct option offloads_options[] = {
	OPTION_BOOL(MAY_LACK, struct offloads_config, checksums),
	OPTION_BOOL(MAY_LACK, struct offloads_config, segments),
	OPTION_END,
};

/* A port that receives has mbufs. */
static void
decode_mbufs(const struct cursor *at, void *out)
{
	struct port_config *port = out;

	cursor_get_uint32(at, "mbufs", port->rx_queues > 0, CONFIG_MBUFS_MAX, &port->mbufs);
}

static const struct option port_options[] = {
	OPTION_TEXT(NEEDED, PORT, name),
	OPTION_TEXT(NEEDED, PORT, location),
	OPTION_UINT32(NEEDED, PORT, rx_queues, 0, CONFIG_QUEUES_MAX),
	OPTION_UINT32(NEEDED, PORT, tx_queues, 0, CONFIG_QUEUES_MAX),
	OPTION_UINT32(NEEDED, PORT, rx_descriptors, 0, CONFIG_DESCRIPTORS_MAX),
	OPTION_UINT32(NEEDED, PORT, tx_descriptors, 0, CONFIG_DESCRIPTORS_MAX),
	OPTION_BY("mbufs", NEEDED, decode_mbufs),
	OPTION_UINT32(NEEDED, PORT, frame_size_max, CONFIG_FRAME_SIZE_MIN, CONFIG_FRAME_SIZE_MAX),
	OPTION_BOOL(NEEDED, PORT, promiscuous),
	OPTION_BY("rss", MAY_LACK_OR_NULL, config_decode_rss),
	OPTION_UINT32(MAY_LACK, PORT, tx_loop_frames, 0, CONFIG_LOOP_FRAMES_MAX),
	OPTION_OBJECT(MAY_LACK, PORT, offloads, offloads_options),
	OPTION_BOOL(MAY_LACK, PORT, one_pool),
	OPTION_BOOL(MAY_LACK, PORT, rx_times),
	OPTION_END,
};

int
config_decode_ports(const struct json_t *params, struct ports_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_OBJECTS(NEEDED, struct ports_config, ports, 1, CONFIG_PORTS_MAX,
			       port_options),
		OPTION_BOOL(MAY_LACK, struct ports_config, any_files),
		OPTION_END,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	rc = options_decode_params(params, options, out, err);
	if (rc == 0)
		rc = config_check_ports(out, err);
	if (rc < 0)
		config_free_ports(out);
	return rc;
}

static const struct option worker_options[] = {
	OPTION_UINT32(NEEDED, struct worker_config, lcore, 0, CONFIG_LCORE_MAX),
	OPTION_UINT64(MAY_LACK, struct worker_config, sleep_ns, 0, CONFIG_SLEEP_NS_MAX),
	OPTION_OBJECTS(NEEDED, struct worker_config, tasks, 1, CONFIG_TASKS_MAX, task_options),
	OPTION_END,
};

static void
check_program(const struct cursor *at, void *out)
{
	at->d->rc = config_check_program(out, at->d->err);
	if (at->d->rc == 0)
		at->d->rc = config_check_captures(out, at->d->err);
}

static const struct option program_options[] = {
	OPTION_OBJECTS(NEEDED, struct program_config, workers, 1, CONFIG_WORKERS_MAX,
		       worker_options),
	OPTION_OBJECTS(NEEDED, struct program_config, streams, 0, CONFIG_STREAMS_MAX,
		       stream_options),
	OPTION_UINT32(MAY_LACK, struct program_config, stamp_magic, 0, UINT16_MAX),
	OPTION_OBJECTS(MAY_LACK, struct program_config, captures, 0, CONFIG_CAPTURES_MAX,
		       capture_options),
	OPTION_OBJECTS(MAY_LACK, struct program_config, rings, 0, CONFIG_RINGS_MAX, ring_options),
	OPTION_THEN(check_program),
	OPTION_END,
};

int
config_decode_program(const struct json_t *params, struct program_config *out, struct error *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	out->stamp_magic = STAMP_MAGIC_DEFAULT;
	rc = options_decode_params(params, program_options, out, err);
	if (rc < 0)
		config_free_program(out);
	return rc;
}

static const struct option preview_options[] = {
	OPTION_PATH(NEEDED, struct preview_config, path),
	OPTION_WORD_AS("format", NEEDED, struct preview_config, pcapng, capture_formats,
		       "format of captures"),
	OPTION_UINT64(NEEDED, struct preview_config, frames, 1, CONFIG_PREVIEW_FRAMES_MAX),
	OPTION_END,
};

/* Both at once, for their keys are those of one object. */
struct preview_params {
	struct program_config program;
	struct preview_config preview;
};

int
config_decode_preview(const struct json_t *params, struct program_config *program,
		      struct preview_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_PART(struct preview_params, program, program_options),
		OPTION_PART(struct preview_params, preview, preview_options),
		OPTION_END,
	};
	struct preview_params both = {.program.stamp_magic = STAMP_MAGIC_DEFAULT};
	int rc = options_decode_params(params, options, &both, err);

	config_free_captures(&both.program);
	if (rc < 0) {
		config_free_program(&both.program);
		config_free_preview(&both.preview);
	}
	*program = both.program;
	*out = both.preview;
	return rc;
}

int
config_decode_start(const struct json_t *params, struct start_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_UINT64(MAY_LACK, struct start_config, duration_ns, 1, CONFIG_DURATION_NS_MAX,
			      OPTION_IF(struct start_config, has_duration)),
		OPTION_END,
	};

	memset(out, 0, sizeof(*out));
	return options_decode_params(params, options, out, err);
}

int
config_decode_rate(const struct json_t *params, struct rate_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_TEXT(NEEDED, struct rate_config, stream),
		OPTION_DOUBLE(NEEDED, struct rate_config, fps, CONFIG_FPS_MIN, CONFIG_FPS_MAX),
		OPTION_END,
	};

	memset(out, 0, sizeof(*out));
	return options_decode_params(params, options, out, err);
}

int
config_decode_nothing(const struct json_t *params, struct error *err)
{
	static const struct option options[] = {OPTION_END};

	return options_decode_params(params, options, NULL, err);
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
