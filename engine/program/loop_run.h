/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The looped queues of a program while it runs: their devices' rings taken, counted, checked and given back. Cold,
 * control thread, while no worker runs (but for loops_sample()).
 */
#ifndef WR_PROGRAM_LOOP_RUN_H
#define WR_PROGRAM_LOOP_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "device/tx_loop.h"
#include "program/program.h"
#include "worker/loop_task.h"

struct program_loop {
	struct loop_task *task;
	struct port *port;
	struct port_counters *counters;
	struct tx_loop *device; /* NULL: not taken, or given back */
	uint64_t frames;        /* of the task, as the port's counters have them */
	uint64_t octets;
	uint32_t changed; /* descriptors that were not as they had been written, at the end */
	int failed;       /* the port did not start again */
	struct error err; /* why */
};

/* Check all rings, then fill all: where one is not what it should be, nothing has been written to any device. */
int loops_attach(struct program *program, struct error *err);

/* Add to the ports' counters what drivers do not count that are passed by. */
void loops_sample(struct program *program);

/* Compare the rings with what was written, stop the devices, let their drivers start anew. May be called again. */
void loops_detach(struct program *program);

/* 0, or why a port did not start again. */
int loops_failed(const struct program *program, struct error *err);

/* Forget what was attached. */
void loops_close(struct program *program);

#endif
