/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/program_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>

#include "base/units.h"
#include "program/bridge_build.h"
#include "program/program_ports.h"

static int
check_lcore(uint32_t lcore, uint32_t worker, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "workers[%u].lcore", worker);
	if (!rte_lcore_is_enabled(lcore))
		return error_set(err, -EINVAL, path, "lcore %u is not one of this engine's", lcore);
	if (lcore == rte_get_main_lcore())
		return error_set(err, -EINVAL, path,
				 "lcore %u is the main lcore: it serves the control socket", lcore);
	return 0;
}

static int
check_frame_size(const struct stream_config *stream, const struct port *port, const char *path,
		 struct error *err)
{
	uint32_t frame_size = stream->frame_len_no_fcs + FCS_OCTETS;

	if (frame_size <= port->config.frame_size_max)
		return 0;
	return error_set(err, -EINVAL, path,
			 "frames of %u octets (stream %s) on port %s, which was opened for %u",
			 frame_size, stream->name, port->config.name, port->config.frame_size_max);
}

static int
check_loop(const struct port *port, const char *path, struct error *err)
{
	if (port->tx_loop != NULL)
		return 0;
	return error_set(err, -EINVAL, path,
			 "a loop on port %s, which was opened for the normal engine; open it with "
			 "tx_loop_frames",
			 port->config.name);
}

static int
check_task(const struct program_config *config, const struct task_config *task,
	   const struct port *ports, uint32_t port_count, const char *path, struct error *err)
{
	int code;

	if (task->kind == TASK_BRIDGE)
		return bridge_check(task, ports, port_count, path, err);
	code = program_check_queue(ports, port_count, task->port, task->queue,
				   config_task_receives(task), path, err);

	if (code != 0 || task->kind == TASK_RX || task->kind == TASK_REPLY)
		return code;
	if (task->kind == TASK_FORWARD)
		return program_check_queue(ports, port_count, task->forward.to_port,
					   task->forward.to_queue, false, path, err);
	if (task->kind == TASK_LOOP) {
		code = check_loop(&ports[program_find_port(ports, port_count, task->port)], path,
				  err);
		if (code != 0)
			return code;
	}
	return check_frame_size(&config->streams[task->stream_index],
				&ports[program_find_port(ports, port_count, task->port)], path,
				err);
}

int
program_check(const struct program_config *config, const struct port *ports, uint32_t port_count,
	      struct error *err)
{
	for (uint32_t w = 0; w < config->n_workers; w++) {
		const struct worker_config *worker = &config->workers[w];
		int code = check_lcore(worker->lcore, w, err);

		for (uint32_t t = 0; t < worker->n_tasks && code == 0; t++) {
			char path[64];

			snprintf(path, sizeof(path), "workers[%u].tasks[%u]", w, t);
			code = check_task(config, &worker->tasks[t], ports, port_count, path, err);
		}
		if (code != 0)
			return code;
	}
	return 0;
}
