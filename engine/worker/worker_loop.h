/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops a worker may run, one body with its needs as literals; worker_launch.c chooses. */
#ifndef WR_WORKER_WORKER_LOOP_H
#define WR_WORKER_WORKER_LOOP_H

#include "worker/worker.h"

/* Bits of what a worker's tasks need. */
#define LOOP_RX (1u << 0)
#define LOOP_TX_PACED (1u << 1)
#define LOOP_TX_UNPACED (1u << 2)
#define LOOP_RINGS (1u << 3) /* loop tasks */
#define LOOP_NEEDS (1u << 4) /* combinations */

typedef int (*worker_loop_fn)(void *worker);

/* Indexed by the combination of needs. Entry 0 idles until told to quit. Each returns 0. */
extern const worker_loop_fn worker_loops[LOOP_NEEDS];

#endif
