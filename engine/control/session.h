/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: what one engine process holds between start and exit, and the methods that act on it.
 *
 * Control thread only. Contract of the methods: docs/design/0002-engine-interface.md.
 */
#ifndef WR_CONTROL_SESSION_H
#define WR_CONTROL_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/tsc_clock.h"
#include "control/exchange.h"
#include "device/port.h"
#include "program/program.h"

struct session {
	const char *run_dir;        /* not owned */
	struct tsc_clock clock;     /* started and settled before the session is */
	struct port *ports;         /* port_count of them, NULL until ports.open */
	struct exchange *exchanges; /* for ports.exchange, one for each port */
	uint32_t port_count;
	struct program *program;  /* the one that is loaded, or NULL */
	struct kept_frames *kept; /* of those that were */
	uint32_t programs;
	bool shutdown; /* engine.shutdown was called */
};

/* control_dispatch_fn; user is the session. */
json_t *session_dispatch(void *session, const char *method, const json_t *params,
			 struct error *err);

/* Let transmission end; the program stays loaded, its counters readable, until program.unload. */
void session_end_traffic(struct session *session);

/* To be called every 100 ms. */
void session_tick(struct session *session);

/* Stop sending, stop workers, close ports, free everything. */
void session_close(struct session *session);

#endif
