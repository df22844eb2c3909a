/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/kept_frames.h"

#include <stdlib.h>

#include "program/reply_build.h"

struct kept_frames {
	struct kept_frames *next;
	struct frame_pool *pool;
	const struct port *port;
	uint64_t home_at[]; /* per Tx queue: frames handed to it when those of the pool are home */
};

/* The port's share of what a program handed over, added up over its tasks. */
static void
add_sent(const struct program *program, uint16_t port_id, uint64_t *sent)
{
	for (uint32_t w = 0; w < program->worker_count; w++) {
		const struct worker *worker = &program->workers[w];

		for (uint32_t t = 0; t < worker->tx_count; t++) {
			if (worker->tx[t].port_id == port_id)
				sent[worker->tx[t].queue_id] += worker->tx[t].counters->frames;
		}
		for (uint32_t r = 0; r < worker->reply_count; r++) {
			const struct reply_task *reply = &worker->reply[r];

			if (reply->port_id == port_id)
				sent[reply->queue_id] += reply->answers->counters->frames;
		}
	}
}

static bool
is_home(const struct kept_frames *kept)
{
	for (uint16_t q = 0; q < kept->port->tx_queues; q++) {
		if (kept->port->tx_handed[q] < kept->home_at[q])
			return false;
	}
	return true;
}

/* Without memory for a note the pool stays where it is for good: frames that a device holds are not freed. */
static void
keep(struct kept_frames **list, struct frame_pool *pool, const struct port *port,
     const uint64_t *sent)
{
	struct kept_frames *kept;

	if (pool == NULL)
		return;
	kept = calloc(1, sizeof(*kept) + port->tx_queues * sizeof(kept->home_at[0]));
	if (kept == NULL)
		return;
	kept->pool = pool;
	kept->port = port;
	for (uint16_t q = 0; q < port->tx_queues; q++)
		kept->home_at[q] =
			sent[q] > 0 ? port->tx_handed[q] + port_frames_held_max(port) : 0;
	kept->next = *list;
	*list = kept;
}

void
kept_frames_take(struct kept_frames **list, struct program *program)
{
	for (uint32_t p = 0; p < program->port_count; p++) {
		struct port *port = &program->ports[p];
		uint64_t sent[RTE_MAX_QUEUES_PER_PORT] = {0};

		add_sent(program, port->port_id, sent);
		for (uint16_t q = 0; q < port->tx_queues; q++)
			port->tx_handed[q] += sent[q];
		if (port_reclaim(port))
			continue;
		keep(list, program->pools[p], port, sent);
		program->pools[p] = NULL;
		if (program->answers[p] != NULL)
			keep(list, reply_queue_take_frames(program->answers[p]), port, sent);
	}
}

void
kept_frames_release(struct kept_frames **list, bool all)
{
	while (*list != NULL) {
		struct kept_frames *kept = *list;

		if (!all && !is_home(kept)) {
			list = &kept->next;
			continue;
		}
		*list = kept->next;
		frame_pool_destroy(kept->pool);
		free(kept);
	}
}

static bool
any_of(const struct kept_frames *kept, const struct port *port)
{
	while (kept != NULL && kept->port != port)
		kept = kept->next;
	return kept != NULL;
}

int
kept_frames_recall(struct kept_frames **list, struct port *ports, uint32_t port_count,
		   struct error *err)
{
	for (uint32_t p = 0; p < port_count; p++) {
		int code = any_of(*list, &ports[p]) ? port_restart(&ports[p], false, err) : 0;

		if (code != 0)
			return code;
	}
	kept_frames_release(list, true);
	return 0;
}
