/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/program_preview.h"

#include "trace/trace_writer.h"
#include "worker/loop_task.h"
#include "worker/tx_task.h"

/* Clock after the start of traffic at which the task's next frame is due; UINT64_MAX when there is none. */
static uint64_t
next_due(const struct tx_task *task)
{
	uint64_t due;

	if (task->done == task->limit)
		return UINT64_MAX;
	due = tx_task_due_cycle(task, task->done);
	return due < task->duration_cycles ? task->delay_cycles + due : UINT64_MAX;
}

/* Task number t of a worker, NULL beyond the last. */
static struct tx_task *
task_of(const struct worker *worker, uint32_t t)
{
	if (t < worker->tx_count)
		return &worker->tx[t];
	t -= worker->tx_count;
	return t < worker->loop_count ? &worker->loop[t].tx : NULL;
}

/* The task whose frame comes next, the first one among equals; NULL when all are done. */
static struct tx_task *
next_task(const struct program *program, uint64_t *due)
{
	struct tx_task *first = NULL, *task;

	*due = UINT64_MAX;
	for (uint32_t w = 0; w < program->worker_count; w++) {
		for (uint32_t t = 0; (task = task_of(&program->workers[w], t)) != NULL; t++) {
			uint64_t task_due = next_due(task);

			if (task_due < *due) {
				*due = task_due;
				first = task;
			}
		}
	}
	return first;
}

static uint32_t
port_of(const struct program *program, const struct tx_task *task)
{
	uint32_t p = 0;

	while (program->ports[p].port_id != task->port_id)
		p++;
	return p;
}

/* What a worker does to a frame, but for handing it to a device. */
static const struct rte_mbuf *
take_frame(struct tx_task *task, uint64_t due)
{
	struct rte_mbuf *const *mbufs = &task->frames[task->position];

	if (task->walk != NULL)
		tx_task_write(task, due - task->delay_cycles, 1);
	if (task->ramp.flows > 0)
		tx_ramp_advance(&task->ramp, 1);
	if (task->stamped)
		tx_stamp_write(&task->stamp, mbufs, task->done, 1, due);
	tx_task_advance(task, 1);
	return mbufs[0];
}

static void
write_frames(struct program *program, struct trace_writer *writer, uint64_t frames,
	     struct preview_counts *counts)
{
	const uint64_t cycles_per_ns = PREVIEW_HZ / NS_PER_SECOND;

	while (counts->frames < frames) {
		uint64_t due;
		struct tx_task *task = next_task(program, &due);
		const struct rte_mbuf *mbuf;

		if (task == NULL)
			break;
		mbuf = take_frame(task, due);
		trace_writer_add(
			writer, port_of(program, task), (due + cycles_per_ns / 2) / cycles_per_ns,
			rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));
		counts->frames++;
		counts->octets += rte_pktmbuf_data_len(mbuf) + FCS_OCTETS;
	}
}

int
program_preview(struct program *program, const struct preview_config *config,
		struct preview_counts *counts, struct error *err)
{
	const char *names[CONFIG_PORTS_MAX];
	struct trace_writer *writer = NULL;
	int code;

	for (uint32_t p = 0; p < program->port_count; p++)
		names[p] = program->ports[p].config.name;
	code = trace_writer_open(&writer, config->path, config->pcapng, names, program->port_count,
				 err);
	if (code != 0)
		return code;
	write_frames(program, writer, config->frames, counts);
	return trace_writer_close(writer, err);
}
