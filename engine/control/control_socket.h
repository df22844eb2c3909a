/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: up to 16 clients, one thread, never blocking.
 *
 * Called by main.c; main thread only. The caller waits on control_epoll_fd() together with
 * whatever else it waits for and calls control_poll() when that is readable. Methods run inside
 * control_poll(), one at a time, in the order each client sent them.
 * Source: docs/design/0002-engine-interface.md, "Control".
 */
#ifndef WR_CONTROL_CONTROL_SOCKET_H
#define WR_CONTROL_CONTROL_SOCKET_H

#include "base/error.h"
#include "control/control_rpc.h"

enum { CONTROL_CLIENTS_MAX = 16 };

struct control;

/*
 * Create the socket (mode 0600) and listen. The path must be free and have at most 107 octets.
 * 0, or negative errno with err filled: -ENAMETOOLONG, -EADDRINUSE, -ENOMEM, or what a system
 * call said. user is handed to dispatch.
 */
int control_open(struct control **out, const char *socket_path, control_dispatch_fn dispatch,
		 void *user, struct error *err);

/* Readable when control_poll() has something to do. Level-triggered; owned by control. */
int control_epoll_fd(const struct control *control);

/*
 * Handle what is ready and return. Replies that the client's socket takes are sent before this
 * returns, so an answer to engine.shutdown is out when the dispatcher's caller sees the flag.
 */
void control_poll(struct control *control);

/* Close all clients, remove the socket, free control. NULL is fine. */
void control_close(struct control *control);

#endif
