/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON-RPC 2.0 over a stream of octets: lines in, lines out, no socket.
 *
 * Called by control_socket.c for each client, and by tests and fuzz targets without a socket;
 * main thread. Source: https://www.jsonrpc.org/specification and
 * docs/design/0002-engine-interface.md, "Control".
 */
#ifndef WR_CONTROL_CONTROL_RPC_H
#define WR_CONTROL_CONTROL_RPC_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/error.h"

enum rpc_limit {
	RPC_MESSAGE_OCTETS_MAX = 64 << 20, /* without the '\n' */
	RPC_UNSENT_OCTETS_MAX = 1 << 20,   /* of replies the client does not read */
	RPC_ID_OCTETS_MAX = 128,           /* when the id is a string */
};

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_UNKNOWN_METHOD = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_REFUSED = -32000,
};

/*
 * Do what method says. params is an object (empty when the client sent none) and stays the
 * caller's. A new reference to the result; or NULL with err filled, which becomes
 *   -ENOSYS with path "method"   RPC_UNKNOWN_METHOD
 *   ERROR_PARAMS                 RPC_INVALID_PARAMS
 *   any other code               RPC_REFUSED
 */
typedef json_t *(*control_dispatch_fn)(void *user, const char *method, const json_t *params,
				       struct error *err);

struct rpc_handler {
	control_dispatch_fn dispatch;
	void *user;
};

struct rpc_buffer {
	char *octets;
	size_t len;
	size_t size;
};

/* One client's stream. All zero is a fresh one. */
struct rpc_conn {
	struct rpc_buffer in;  /* a message whose '\n' has not come yet */
	struct rpc_buffer out; /* replies; the first `sent` octets have been sent */
	size_t sent;
	bool closing; /* takes no more input; close when everything is sent */
	bool broken;  /* close at once: out of memory, or the client does not read */
};

/* Take octets as they came, answer every message that is complete. */
void rpc_conn_feed(struct rpc_conn *conn, const char *octets, size_t len,
		   const struct rpc_handler *handler);

/* Put an error without a request (id null) into the stream and end it. */
void rpc_conn_refuse(struct rpc_conn *conn, enum rpc_code code, const struct error *err);

/* What is to be sent, and that n octets of it have been. */
size_t rpc_conn_unsent(const struct rpc_conn *conn, const char **octets);
void rpc_conn_sent(struct rpc_conn *conn, size_t n);

/* Give the memory back; the stream is fresh again. */
void rpc_conn_reset(struct rpc_conn *conn);

#endif
