/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures among themselves, and whether anything is there to capture. Main thread, cold path. */
#include <stdio.h>
#include <string.h>

#include "config/config_check.h"

enum { PATH_SIZE = sizeof(((struct error *)NULL)->path) };

bool
config_task_captures(const struct task_config *task, const struct capture_config *capture)
{
	if (strcmp(task->port, capture->port) != 0)
		return false;
	if (capture->bad)
		return task->kind == TASK_RX && task->measure;
	return task->kind == TASK_RX || task->kind == TASK_FORWARD;
}

static uint32_t
count_tasks(const struct program_config *config, const struct capture_config *capture)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < config->n_workers; w++)
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++)
			count += config_task_captures(&config->workers[w].tasks[t], capture);
	return count;
}

/* Two captures into the same file would leave that of the second only. */
static int
check_path(const struct program_config *config, uint32_t index, const char *path, struct error *err)
{
	for (uint32_t i = 0; i < index; i++) {
		if (strcmp(config->captures[i].path, config->captures[index].path) == 0)
			return error_set(err, ERROR_PARAMS, path,
					 "captures[%u] is written to the same file; paths must "
					 "differ",
					 i);
	}
	return 0;
}

static int
check_capture(const struct program_config *config, uint32_t index, struct error *err)
{
	const struct capture_config *capture = &config->captures[index];
	uint32_t tasks = count_tasks(config, capture);
	char path[PATH_SIZE];

	if (tasks == 0) {
		snprintf(path, sizeof(path), "captures[%u].port", index);
		return error_set(err, ERROR_PARAMS, path,
				 capture->bad
					 ? "no rx task with measure receives from port \"%s\", and "
					   "only such a task knows what is bad; add one"
					 : "no rx or forward task receives from port \"%s\"; add "
					   "one",
				 capture->port);
	}
	if (capture->bad && !capture->pcapng) {
		snprintf(path, sizeof(path), "captures[%u].format", index);
		return error_set(err, ERROR_PARAMS, path,
				 "pcap has no place for what is bad about a frame; it must be "
				 "\"pcapng\"");
	}
	if (capture->frames < tasks) {
		snprintf(path, sizeof(path), "captures[%u].frames", index);
		return error_set(err, ERROR_PARAMS, path,
				 "it is %u, to be shared by %u tasks; each needs one at least",
				 capture->frames, tasks);
	}
	snprintf(path, sizeof(path), "captures[%u].path", index);
	return check_path(config, index, path, err);
}

int
config_check_captures(const struct program_config *config, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < config->n_captures && rc == 0; i++)
		rc = check_capture(config, i, err);
	return rc;
}
