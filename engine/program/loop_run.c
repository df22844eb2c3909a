/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/loop_run.h"

#include "base/units.h"
#include "counters/counters.h"

/* Nothing is written yet. */
static int
take(struct program_loop *loop, struct error *err)
{
	const struct tx_task *task = &loop->task->tx;
	int code = tx_loop_open(&loop->device, loop->port, task->queue_id, err);

	return code != 0 ? code
			 : tx_loop_check_frames(loop->device, task->frames, task->ring_length, err);
}

/* All there is to one lap, in the order in which it is sent. */
static int
fill(struct program_loop *loop, struct error *err)
{
	struct loop_task *task = loop->task;
	int code = tx_loop_fill(loop->device, task->tx.frames, err);

	if (code != 0)
		return code;
	task->ring = loop->device->ring;
	task->tx.burst = (uint16_t)task->ring.capacity;
	return 0;
}

/* The port of loop `l` when no loop before it has the same. */
static struct port *
first_of_port(const struct program *program, uint32_t l)
{
	for (uint32_t before = 0; before < l; before++) {
		if (program->loops[before].port == program->loops[l].port)
			return NULL;
	}
	return program->loops[l].port;
}

int
loops_attach(struct program *program, struct error *err)
{
	int code = 0;

	for (uint32_t l = 0; l < program->loop_count && code == 0; l++)
		code = take(&program->loops[l], err);
	if (code != 0) {
		loops_close(program); /* nothing to be given back */
		return code;
	}
	for (uint32_t l = 0; l < program->loop_count && code == 0; l++)
		code = fill(&program->loops[l], err);
	return code;
}

void
loops_sample(struct program *program)
{
	for (uint32_t l = 0; l < program->loop_count; l++) {
		struct program_loop *loop = &program->loops[l];
		uint64_t frames = loop->task->tx.counters->frames;
		uint64_t octets = loop->task->tx.counters->octets;

		if (loop->port->tx_loop->counts)
			continue;
		/* Devices count frames without FCS. */
		counter_add(&loop->counters->opackets, frames - loop->frames);
		counter_add(&loop->counters->obytes,
			    octets - loop->octets - (frames - loop->frames) * FCS_OCTETS);
		loop->frames = frames;
		loop->octets = octets;
	}
}

void
loops_detach(struct program *program)
{
	for (uint32_t l = 0; l < program->loop_count; l++) {
		if (program->loops[l].device != NULL)
			program->loops[l].changed = tx_loop_changed(program->loops[l].device);
	}
	for (uint32_t l = 0; l < program->loop_count; l++) {
		struct program_loop *loop = &program->loops[l];
		const struct port *port = loop->device != NULL ? first_of_port(program, l) : NULL;

		if (port != NULL && port->tx_loop->restore != TX_LOOP_RESTORE_NOTHING)
			loop->failed = port_restart(
				loop->port, port->tx_loop->restore == TX_LOOP_RESTORE_CONFIGURE,
				&loop->err);
	}
	loops_close(program);
}

int
loops_failed(const struct program *program, struct error *err)
{
	for (uint32_t l = 0; l < program->loop_count; l++) {
		const struct program_loop *loop = &program->loops[l];

		if (loop->failed != 0)
			return error_set(err, loop->failed, NULL, "%s", loop->err.text);
	}
	return 0;
}

void
loops_close(struct program *program)
{
	for (uint32_t l = 0; l < program->loop_count; l++) {
		tx_loop_close(program->loops[l].device);
		program->loops[l].device = NULL;
	}
}
