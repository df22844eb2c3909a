/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any octets as what a client of the control socket sends, without the socket.
 *
 * Called by libFuzzer; with -DWR_FUZZ_STANDALONE a program that replays the files given to it.
 * The same octets are fed twice, at once and in small pieces: the replies must be the same, each
 * must be one line of JSON, and an error must be an error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "control/control_rpc.h"
#include "fuzz/fuzz_standalone.h"

static void
must(int condition)
{
	if (!condition)
		abort();
}

/* Stands for the real methods: a result, a refusal and a decode error can all be had. */
static json_t *
dispatch(void *user, const char *method, const json_t *params, struct error *err)
{
	struct start_config start;

	(void)user;
	if (strcmp(method, "echo") == 0)
		return json_deep_copy(params);
	if (strcmp(method, "traffic.start") == 0)
		return config_decode_start(params, &start, err) == 0 ? json_object() : NULL;
	if (strcmp(method, "silent") == 0)
		return NULL;
	if (strcmp(method, "fail") == 0)
		error_set(err, -EIO, method, "it failed with %zu params", json_object_size(params));
	else
		error_set(err, -ENOSYS, "method", "\"%.64s\" is no method", method);
	return NULL;
}

static void
check_reply(const char *line, size_t len)
{
	json_t *reply = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *error = json_object_get(reply, "error");

	must(reply != NULL && json_object_size(reply) == 3);
	must((error != NULL) != (json_object_get(reply, "result") != NULL));
	if (error != NULL)
		must(json_string_length(json_object_get(error, "message")) > 0);
	json_decref(reply);
}

static void
check_replies(const char *octets, size_t len)
{
	while (len > 0) {
		const char *end = memchr(octets, '\n', len);

		must(end != NULL);
		check_reply(octets, (size_t)(end - octets));
		len -= (size_t)(end - octets) + 1;
		octets = end + 1;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rpc_handler handler = {.dispatch = dispatch};
	const char *octets = (const char *)data, *at_once, *in_pieces;
	struct rpc_conn one = {0}, other = {0};
	size_t len;

	rpc_conn_feed(&one, octets, size, &handler);
	for (size_t i = 0, piece = 1; i < size; i += piece, piece = piece % 17 + 1) {
		if (piece > size - i)
			piece = size - i;
		rpc_conn_feed(&other, octets + i, piece, &handler);
	}
	len = rpc_conn_unsent(&one, &at_once);
	must(len == rpc_conn_unsent(&other, &in_pieces));
	must(one.closing == other.closing && one.broken == other.broken);
	must(len == 0 || memcmp(at_once, in_pieces, len) == 0);
	check_replies(at_once, len);
	rpc_conn_reset(&one);
	rpc_conn_reset(&other);
	return 0;
}
