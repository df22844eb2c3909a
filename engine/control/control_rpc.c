/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line framing, request checking and replies; see control_rpc.h.
 *
 * Called by control_socket.c; main thread, never blocks.
 * A stream whose framing or JSON is broken is ended after one error: what follows cannot be
 * trusted to begin where we think it does. Nesting is bounded by jansson (2,048 levels).
 * Source: docs/design/0002-engine-interface.md, "Control".
 */
#include <stdlib.h>
#include <string.h>

#include "control/control_rpc.h"

enum { BUFFER_OCTETS_MIN = 4096, BUFFER_OCTETS_KEPT = 64 << 10 };

static bool
buffer_append(struct rpc_buffer *buffer, const char *octets, size_t len)
{
	size_t size = buffer->size > 0 ? buffer->size : BUFFER_OCTETS_MIN;
	char *grown;

	while (size - buffer->len < len)
		size *= 2; /* lengths are bounded by RPC_*_MAX: no overflow */
	if (size > buffer->size) {
		grown = realloc(buffer->octets, size);
		if (grown == NULL)
			return false;
		buffer->octets = grown;
		buffer->size = size;
	}
	if (len > 0)
		memcpy(buffer->octets + buffer->len, octets, len);
	buffer->len += len;
	return true;
}

static void
buffer_free(struct rpc_buffer *buffer)
{
	free(buffer->octets);
	*buffer = (struct rpc_buffer){0};
}

/* Empty it; keep a small allocation for the next message. */
static void
buffer_clear(struct rpc_buffer *buffer)
{
	buffer->len = 0;
	if (buffer->size > BUFFER_OCTETS_KEPT)
		buffer_free(buffer);
}

static void
conn_break(struct rpc_conn *conn)
{
	conn->broken = true;
	conn->closing = true;
}

/* Queue one message for the client; takes the reference. */
static void
conn_put(struct rpc_conn *conn, json_t *message)
{
	char *text = message != NULL ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t len = text != NULL ? strlen(text) : 0;

	json_decref(message);
	if (text == NULL || conn->out.len - conn->sent + len + 1 > RPC_UNSENT_OCTETS_MAX ||
	    !buffer_append(&conn->out, text, len) || !buffer_append(&conn->out, "\n", 1))
		conn_break(conn);
	free(text);
}

static const char *
errno_name(int code)
{
	/* ERROR_PARAMS is how we say it inside; to the client it is a plain EINVAL. */
	const char *name = strerrorname_np(code == ERROR_PARAMS ? EINVAL : -code);

	return name != NULL ? name : "EIO";
}

/* A reply that reports err; id NULL is null. */
static json_t *
error_reply(json_t *id, enum rpc_code code, const struct error *err)
{
	return json_pack("{s:s, s:O?, s:{s:i, s:s, s:{s:s, s:s}}}", "jsonrpc", "2.0", "id", id,
			 "error", "code", (int)code, "message", err->text, "data", "path",
			 err->path, "errno", errno_name(err->code));
}

void
rpc_conn_refuse(struct rpc_conn *conn, enum rpc_code code, const struct error *err)
{
	conn_put(conn, error_reply(NULL, code, err));
	conn->closing = true;
}

static enum rpc_code
code_of(const struct error *err)
{
	if (err->code == -ENOSYS && strcmp(err->path, "method") == 0)
		return RPC_UNKNOWN_METHOD;
	return err->code == ERROR_PARAMS ? RPC_INVALID_PARAMS : RPC_REFUSED;
}

/* The request's id when it is one we can send back, else NULL. */
static json_t *
usable_id(const json_t *request)
{
	json_t *id = json_object_get(request, "id");

	if (json_is_integer(id))
		return id;
	if (json_is_string(id) && json_string_length(id) <= RPC_ID_OCTETS_MAX)
		return id;
	return NULL;
}

static int
check_keys(json_t *request, struct error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(request, key, value)
		if (strcmp(key, "jsonrpc") != 0 && strcmp(key, "id") != 0 &&
		    strcmp(key, "method") != 0 && strcmp(key, "params") != 0)
			return error_set(err, -EINVAL, key,
					 "\"%.40s\" does not belong in a request; allowed: "
					 "jsonrpc, id, method, params",
					 key);
	return 0;
}

static int
check_request(json_t *request, struct error *err)
{
	const json_t *version = json_object_get(request, "jsonrpc");

	if (!json_is_object(request))
		return error_set(err, -EINVAL, "",
				 "a message must be one request, a JSON object; there are no "
				 "batches");
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return error_set(err, -EINVAL, "jsonrpc", "it must be \"2.0\"");
	if (usable_id(request) == NULL)
		return error_set(err, -EINVAL, "id",
				 "it must be an integer or a string of at most %d octets; there "
				 "are no notifications",
				 RPC_ID_OCTETS_MAX);
	if (!json_is_string(json_object_get(request, "method")))
		return error_set(err, -EINVAL, "method", "it must be a string");
	return check_keys(request, err);
}

/* Run the method; a new reference to the result, or NULL with err filled. */
static json_t *
call_method(const json_t *request, const struct rpc_handler *handler, struct error *err)
{
	const char *method = json_string_value(json_object_get(request, "method"));
	json_t *params = json_object_get(request, "params");
	json_t *result;

	if (params != NULL && !json_is_object(params)) {
		error_set(err, ERROR_PARAMS, "params", "it must be an object with named values");
		return NULL;
	}
	params = params != NULL ? json_incref(params) : json_object();
	if (params == NULL) {
		error_set(err, -ENOMEM, "", "out of memory");
		return NULL;
	}
	result = handler->dispatch(handler->user, method, params, err);
	json_decref(params);
	if (result == NULL && err->code == 0)
		error_set(err, -EIO, "", "%.64s failed and did not say why; this is a bug", method);
	return result;
}

static json_t *
answer(json_t *request, const struct rpc_handler *handler)
{
	json_t *id = usable_id(request);
	struct error err = {0};
	json_t *result;

	if (check_request(request, &err) < 0)
		return error_reply(id, RPC_INVALID_REQUEST, &err);
	result = call_method(request, handler, &err);
	if (result == NULL)
		return error_reply(id, code_of(&err), &err);
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

static void
handle_message(struct rpc_conn *conn, const char *text, size_t len,
	       const struct rpc_handler *handler)
{
	json_error_t why;
	json_t *request = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	struct error err;

	if (request == NULL) {
		error_set(&err, -EINVAL, "",
			  "the message is no JSON: %s (octet %d); this "
			  "connection is closed",
			  why.text, why.position);
		rpc_conn_refuse(conn, RPC_PARSE_ERROR, &err);
		return;
	}
	conn_put(conn, answer(request, handler));
	json_decref(request);
}

static void
refuse_long_message(struct rpc_conn *conn)
{
	struct error err;

	error_set(&err, -EMSGSIZE, "",
		  "a message may have %d octets at most; this connection is "
		  "closed",
		  RPC_MESSAGE_OCTETS_MAX);
	rpc_conn_refuse(conn, RPC_INVALID_REQUEST, &err);
}

void
rpc_conn_feed(struct rpc_conn *conn, const char *octets, size_t len,
	      const struct rpc_handler *handler)
{
	while (len > 0 && !conn->closing) {
		const char *end = memchr(octets, '\n', len);
		size_t part = end != NULL ? (size_t)(end - octets) : len;

		if (part > RPC_MESSAGE_OCTETS_MAX - conn->in.len)
			refuse_long_message(conn);
		else if (end != NULL && conn->in.len == 0)
			handle_message(conn, octets, part, handler);
		else if (!buffer_append(&conn->in, octets, part))
			conn_break(conn);
		else if (end != NULL) {
			handle_message(conn, conn->in.octets, conn->in.len, handler);
			buffer_clear(&conn->in);
		}
		part += end != NULL;
		octets += part;
		len -= part;
	}
	if (conn->closing)
		buffer_free(&conn->in);
}

size_t
rpc_conn_unsent(const struct rpc_conn *conn, const char **octets)
{
	size_t unsent = conn->out.len - conn->sent;

	*octets = unsent > 0 ? conn->out.octets + conn->sent : NULL;
	return unsent;
}

void
rpc_conn_sent(struct rpc_conn *conn, size_t n)
{
	conn->sent += n;
	if (conn->sent == conn->out.len) {
		conn->sent = 0;
		buffer_clear(&conn->out);
	} else if (conn->sent >= RPC_UNSENT_OCTETS_MAX) {
		/* A client that is always a little behind must not make the buffer grow. */
		conn->out.len -= conn->sent;
		memmove(conn->out.octets, conn->out.octets + conn->sent, conn->out.len);
		conn->sent = 0;
	}
}

void
rpc_conn_reset(struct rpc_conn *conn)
{
	buffer_free(&conn->in);
	buffer_free(&conn->out);
	*conn = (struct rpc_conn){0};
}
