/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/reply_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/units.h"
#include "program/frame_pool.h"
#include "program/program_ports.h"
#include "worker/worker.h"

/* A queue with what it owns; the queue comes first, so that a pointer to it is one to this. */
struct owned_queue {
	struct answer_queue queue;
	struct answer_table *table;
	struct frame_pool *frames;
};

/* Answers are written into frames in turn, so there are more of them than the device may hold. */
static int
create_frames(struct owned_queue *owned, const struct task_config *task, const struct port *port,
	      const char *name, struct error *err)
{
	uint32_t count = port_frames_held_max(port) + task->burst;
	uint32_t octets = RTE_MAX(owned->queue.octets_max, FRAME_OCTETS_MIN);
	uint16_t *room = malloc(count * sizeof(room[0]));
	int code;

	if (room == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for %u answers", count);
	for (uint32_t i = 0; i < count; i++)
		room[i] = (uint16_t)octets;
	code = frame_pool_create(&owned->frames, name, room, count, port_socket(port), err);
	free(room);
	if (code != 0)
		return code;
	owned->queue.frames = frame_pool_mbufs(owned->frames);
	owned->queue.frame_count = count;
	return 0;
}

static int
create_ring(struct owned_queue *owned, const char *name, int socket, struct error *err)
{
	ssize_t octets = rte_ring_get_memsize(ANSWER_QUEUE_FRAMES);
	struct rte_ring *ring =
		rte_zmalloc_socket("answers", (size_t)octets, RTE_CACHE_LINE_SIZE, socket);

	if (ring == NULL || rte_ring_init(ring, name, ANSWER_QUEUE_FRAMES, RING_F_SC_DEQ) != 0) {
		rte_free(ring);
		return error_set(err, -ENOMEM, NULL, "no memory for a queue of %u answers",
				 ANSWER_QUEUE_FRAMES);
	}
	owned->queue.ring = ring;
	return 0;
}

static int
create_queue(struct answer_queue **out, const struct task_config *task, const struct port *port,
	     uint16_t stamp_magic, const char *name, struct error *err)
{
	int socket = port_socket(port), code;
	struct owned_queue *owned =
		rte_zmalloc_socket("answers", sizeof(*owned), COUNTERS_ALIGN, socket);

	if (owned == NULL)
		return error_set(err, -ENOMEM, NULL, "no memory for answers");
	*out = &owned->queue;
	owned->queue.pool = port->rx_pool;
	owned->queue.stamp_magic = stamp_magic;
	owned->queue.octets_max = port->config.frame_size_max - FCS_OCTETS;
	code = answer_table_create(&owned->table, task->addresses, task->n_addresses, err);
	owned->queue.table = owned->table;
	if (code == 0)
		code = create_ring(owned, name, socket, err);
	if (code == 0)
		code = create_frames(owned, task, port, name, err);
	return code;
}

int
reply_queues_create(struct answer_queue **queues, const struct program_config *config,
		    const struct port *ports, uint32_t port_count, uint32_t number,
		    struct error *err)
{
	int code = 0;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks && code == 0; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];
			char name[24];
			int p;

			if (task->kind != TASK_REPLY)
				continue;
			p = program_find_port(ports, port_count, task->port);
			snprintf(name, sizeof(name), "wr_answer_%u_%d", number, p);
			code = create_queue(&queues[p], task, &ports[p], config->stamp_magic, name,
					    err);
		}
	}
	return code;
}

void
reply_queues_free(struct answer_queue **queues, uint32_t port_count)
{
	for (uint32_t p = 0; queues != NULL && p < port_count; p++) {
		struct owned_queue *owned = (struct owned_queue *)queues[p];

		if (owned == NULL)
			continue;
		frame_pool_destroy(owned->frames);
		rte_free(owned->queue.ring);
		answer_table_free(owned->table);
		rte_free(owned);
	}
}

struct frame_pool *
reply_queue_take_frames(struct answer_queue *queue)
{
	struct owned_queue *owned = (struct owned_queue *)queue;
	struct frame_pool *frames = owned->frames;

	owned->frames = NULL;
	return frames;
}

void
reply_build(struct reply_task *task, const struct task_config *config, const struct port *port,
	    struct answer_queue *queue, struct reply_counters *counters, uint64_t hz)
{
	queue->counters = counters;
	task->answers = queue;
	task->port_id = port->port_id;
	task->queue_id = (uint16_t)config->queue;
	task->burst = (uint16_t)config->burst;
	task->window_cycles = cycles_of_ns(TX_WINDOW_NS, hz);
}
