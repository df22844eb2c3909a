/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One task of a worker: keys, types and ranges of single values. Called by config_decode.c; main thread, cold path.
 * Sources: docs/design/0002-engine-interface.md, WORKER; docs/design/0005-measurement.md, forwarding.
 */
#include <string.h>

#include "config/config_decode.h"

static void
decode_kind(const struct cursor *at, struct task_config *task)
{
	char kind[CONFIG_NAME_SIZE] = "";

	cursor_get_text(at, "kind", kind, sizeof(kind));
	if (strcmp(kind, "tx") == 0)
		task->kind = TASK_TX;
	else if (strcmp(kind, "rx") == 0)
		task->kind = TASK_RX;
	else if (strcmp(kind, "forward") == 0)
		task->kind = TASK_FORWARD;
	else if (strcmp(kind, "reply") == 0)
		task->kind = TASK_REPLY;
	else if (strcmp(kind, "loop") == 0)
		task->kind = TASK_LOOP;
	else if (strcmp(kind, "bridge") == 0)
		task->kind = TASK_BRIDGE;
	else
		cursor_refuse(at, "kind",
			      "\"%s\" is no kind of task; it must be \"rx\", \"tx\", "
			      "\"forward\", \"reply\", \"loop\" or \"bridge\"",
			      kind);
}

static void
decode_rewrite(const struct cursor *at, enum rewrite *rewrite)
{
	static const char *const words[] = {
		[REWRITE_NONE] = "none",
		[REWRITE_MAC_SWAP] = "mac_swap",
		[REWRITE_REVERSE] = "reverse",
	};
	char word[CONFIG_NAME_SIZE] = "";

	if (!cursor_has(at, "rewrite"))
		return;
	cursor_get_text(at, "rewrite", word, sizeof(word));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*rewrite = (enum rewrite)i;
			return;
		}
	}
	cursor_refuse(at, "rewrite",
		      "\"%s\" is no way to rewrite frames; it must be \"none\", \"mac_swap\" or "
		      "\"reverse\"",
		      word);
}

static void
decode_forward(const struct cursor *at, struct forward_config *forward)
{
	forward->seed = 1;
	cursor_get_text(at, "to_port", forward->to_port, sizeof(forward->to_port));
	cursor_get_uint32(at, "to_queue", 0, CONFIG_QUEUES_MAX - 1, &forward->to_queue);
	decode_rewrite(at, &forward->rewrite);
	if (cursor_has(at, "work_cycles"))
		cursor_get_uint64(at, "work_cycles", 0, CONFIG_WORK_CYCLES_MAX,
				  &forward->work_cycles);
	if (cursor_has(at, "drop"))
		cursor_get_double(at, "drop", 0, 1, &forward->drop);
	if (cursor_has(at, "duplicate"))
		cursor_get_double(at, "duplicate", 0, 1, &forward->duplicate);
	if (cursor_has(at, "reorder"))
		cursor_get_double(at, "reorder", 0, 1, &forward->reorder);
	if (cursor_has(at, "delay_ns"))
		cursor_get_uint64(at, "delay_ns", 0, CONFIG_DELAY_NS_MAX, &forward->delay_ns);
	if (cursor_has(at, "seed"))
		cursor_get_uint64(at, "seed", 0, INT64_MAX, &forward->seed);
}

static void
decode_tx(const struct cursor *at, struct task_config *task)
{
	cursor_get_text(at, "stream", task->stream, sizeof(task->stream));
	cursor_get_uint32(at, "parts", 1, CONFIG_PARTS_MAX, &task->parts);
	cursor_get_uint32(at, "part", 0, task->parts - 1, &task->part);
}

/* The whole stream, and no bursts: the device fetches what it finds. */
static void
decode_loop(const struct cursor *at, struct task_config *task)
{
	cursor_get_text(at, "stream", task->stream, sizeof(task->stream));
	task->part = 0;
	task->parts = 1;
	task->burst = 1;
}

static void
decode_rx(const struct cursor *at, struct task_config *task)
{
	if (cursor_has(at, "measure"))
		cursor_get_bool(at, "measure", &task->measure);
	if (cursor_has(at, "verify"))
		cursor_get_bool(at, "verify", &task->verify);
	if (task->verify && !task->measure)
		cursor_refuse(at, "verify",
			      "only a task that measures can verify; set measure to true as well");
}

void
config_decode_task(const struct cursor *at, struct task_config *task)
{
	static const char *const rx_keys[] = {
		"kind",   "port",   "queue",        "burst", "measure",
		"verify", "answer", "distinct_max", NULL,
	};
	static const char *const tx_keys[] = {
		"kind", "port", "queue", "burst", "stream", "part", "parts", NULL,
	};
	static const char *const forward_keys[] = {
		"kind",    "port",        "queue",        "burst",     "to_port", "to_queue",
		"rewrite", "work_cycles", "drop",         "duplicate", "reorder", "delay_ns",
		"seed",    "answer",      "distinct_max", NULL,
	};
	static const char *const reply_keys[] = {
		"kind", "port", "queue", "burst", "addresses", NULL,
	};
	static const char *const loop_keys[] = {"kind", "port", "queue", "stream", NULL};
	static const char *const bridge_keys[] = {
		"kind", "from", "burst", "addresses", "kernel", "fast", NULL,
	};
	static const char *const any_keys[] = {
		"kind",         "port",        "queue",  "burst",     "measure",
		"stream",       "part",        "parts",  "to_port",   "to_queue",
		"rewrite",      "work_cycles", "drop",   "duplicate", "reorder",
		"delay_ns",     "seed",        "verify", "answer",    "addresses",
		"distinct_max", "from",        "kernel", "fast",      NULL,
	};
	static const char *const *const keys[] = {
		[TASK_RX] = rx_keys,       [TASK_TX] = tx_keys,     [TASK_FORWARD] = forward_keys,
		[TASK_REPLY] = reply_keys, [TASK_LOOP] = loop_keys, [TASK_BRIDGE] = bridge_keys};

	cursor_closed_object(at, any_keys); /* an object at all */
	decode_kind(at, task);
	cursor_closed_object(at, keys[task->kind]);
	if (task->kind == TASK_BRIDGE) {
		cursor_get_uint32(at, "burst", 1, CONFIG_BURST_MAX, &task->burst);
		config_decode_bridge(at, task);
		return;
	}
	cursor_get_text(at, "port", task->port, sizeof(task->port));
	cursor_get_uint32(at, "queue", 0, CONFIG_QUEUES_MAX - 1, &task->queue);
	if (task->kind == TASK_LOOP) {
		decode_loop(at, task);
		return;
	}
	cursor_get_uint32(at, "burst", 1, CONFIG_BURST_MAX, &task->burst);
	if (task->kind == TASK_TX)
		decode_tx(at, task);
	else if (task->kind == TASK_FORWARD)
		decode_forward(at, &task->forward);
	else if (task->kind == TASK_REPLY)
		config_decode_addresses(at, task);
	else
		decode_rx(at, task);
	if (cursor_has(at, "answer"))
		cursor_get_bool(at, "answer", &task->answer);
	if (cursor_has(at, "distinct_max"))
		cursor_get_uint32(at, "distinct_max", 0, CONFIG_DISTINCT_MAX, &task->distinct_max);
}
