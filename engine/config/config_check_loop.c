/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * May a stream be sent by a device that is left alone with its ring? Called by config_check.c; main thread, cold
 * path. Source: docs/design/0006-descriptor-loop.md.
 */
#include <stdio.h>

#include "config/config_check.h"

enum { PATH_SIZE = sizeof(((struct error *)NULL)->path) };

/* What a loop cannot do of what the stream asks; NULL: it can all of it. Its key goes to *key. */
static const char *
excess_of(const struct stream_config *stream, const char **key)
{
	if (stream->has_stamp) {
		*key = "stamp";
		return "stamps, which are new in each frame";
	}
	if (stream->has_burst) {
		*key = "burst";
		return "bursts";
	}
	if (stream->trace.has_speed) {
		*key = "trace.speed";
		return "the trace's own times";
	}
	if (stream->trace.path == NULL && stream->period > CONFIG_LOOP_FRAMES_MAX) {
		*key = "fields";
		return "more different frames than a device's ring holds";
	}
	return NULL;
}

int
config_check_loops(const struct program_config *config, struct error *err)
{
	char path[PATH_SIZE];

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];
			const char *key = "", *excess;

			if (task->kind != TASK_LOOP)
				continue;
			excess = excess_of(&config->streams[task->stream_index], &key);
			if (excess == NULL)
				continue;
			snprintf(path, sizeof(path), "streams[%u].%s", task->stream_index, key);
			return error_set(
				err, ERROR_PARAMS, path,
				"stream \"%s\" has %s, and the descriptor loop sends the same "
				"ready frames again and again; the normal engine can do it",
				task->stream, excess);
		}
	}
	return 0;
}
