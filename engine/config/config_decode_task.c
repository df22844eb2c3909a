/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One task of a worker: keys, types and ranges of single values. Called by config_decode.c; main thread, cold path.
 * Sources: docs/design/0002-engine-interface.md, WORKER; docs/design/0005-measurement.md, forwarding.
 */
#include "config/config_decode.h"

#define TASK struct task_config
#define FORWARD struct forward_config

const struct option task_place_options[] = {
	OPTION_KEY("kind"),
	OPTION_TEXT(NEEDED, TASK, port),
	OPTION_UINT32(NEEDED, TASK, queue, 0, CONFIG_QUEUES_MAX - 1),
	OPTION_UINT32(NEEDED, TASK, burst, 1, CONFIG_BURST_MAX),
	OPTION_END,
};

/* What tasks may do besides that look at what they receive. */
static const struct option look_options[] = {
	OPTION_BOOL(MAY_LACK, TASK, answer),
	OPTION_UINT32(MAY_LACK, TASK, distinct_max, 0, CONFIG_DISTINCT_MAX),
	OPTION_END,
};

static void
check_verify(const struct cursor *at, void *out)
{
	const struct task_config *task = out;

	if (task->verify && !task->measure)
		cursor_refuse(at, "verify",
			      "only a task that measures can verify; set measure to true as well");
}

static const struct option rx_options[] = {
	OPTION_ROWS(task_place_options),     OPTION_BOOL(MAY_LACK, TASK, measure),
	OPTION_BOOL(MAY_LACK, TASK, verify), OPTION_THEN(check_verify),
	OPTION_ROWS(look_options),           OPTION_END,
};

static void
decode_part(const struct cursor *at, void *out)
{
	struct task_config *task = out;

	cursor_get_uint32(at, "part", 0, task->parts - 1, &task->part);
}

static const struct option tx_options[] = {
	OPTION_ROWS(task_place_options),
	OPTION_TEXT(NEEDED, TASK, stream),
	OPTION_UINT32(NEEDED, TASK, parts, 1, CONFIG_PARTS_MAX),
	OPTION_BY("part", NEEDED, decode_part),
	OPTION_END,
};

/* The whole stream, and no bursts: the device fetches what it finds. */
static void
take_whole_stream(const struct cursor *at, void *out)
{
	struct task_config *task = out;

	(void)at;
	task->parts = 1;
	task->burst = 1;
}

static const struct option loop_options[] = {
	OPTION_KEY("kind"),
	OPTION_TEXT(NEEDED, TASK, port),
	OPTION_UINT32(NEEDED, TASK, queue, 0, CONFIG_QUEUES_MAX - 1),
	OPTION_TEXT(NEEDED, TASK, stream),
	OPTION_THEN(take_whole_stream),
	OPTION_END,
};

static void
set_seed(const struct cursor *at, void *out)
{
	(void)at;
	((struct forward_config *)out)->seed = 1;
}

static const char *const rewrites[] = {"none", "reverse", "mac_swap", NULL};

static const struct option forward_own_options[] = {
	OPTION_THEN(set_seed),
	OPTION_TEXT(NEEDED, FORWARD, to_port),
	OPTION_UINT32(NEEDED, FORWARD, to_queue, 0, CONFIG_QUEUES_MAX - 1),
	OPTION_WORD(MAY_LACK, FORWARD, rewrite, rewrites, "way to rewrite frames"),
	OPTION_UINT64(MAY_LACK, FORWARD, work_cycles, 0, CONFIG_WORK_CYCLES_MAX),
	OPTION_DOUBLE(MAY_LACK, FORWARD, drop, 0, 1),
	OPTION_DOUBLE(MAY_LACK, FORWARD, duplicate, 0, 1),
	OPTION_DOUBLE(MAY_LACK, FORWARD, reorder, 0, 1),
	OPTION_UINT64(MAY_LACK, FORWARD, delay_ns, 0, CONFIG_DELAY_NS_MAX),
	OPTION_UINT64(MAY_LACK, FORWARD, seed, 0, INT64_MAX),
	OPTION_END,
};

static const struct option forward_options[] = {
	OPTION_ROWS(task_place_options),
	OPTION_PART(TASK, forward, forward_own_options),
	OPTION_ROWS(look_options),
	OPTION_END,
};

static const char *const kinds[] = {[TASK_RX] = "rx",           [TASK_TX] = "tx",
				    [TASK_FORWARD] = "forward", [TASK_REPLY] = "reply",
				    [TASK_LOOP] = "loop",       [TASK_BRIDGE] = "bridge",
				    [TASK_BRIDGE + 1] = NULL};

static void
decode_task(const struct cursor *at, void *out)
{
	static const struct option kind[] = {
		OPTION_WORD(NEEDED, TASK, kind, kinds, "kind of task"),
		OPTION_END,
	};
	static const struct option *const options[] = {
		[TASK_RX] = rx_options,           [TASK_TX] = tx_options,
		[TASK_FORWARD] = forward_options, [TASK_REPLY] = reply_options,
		[TASK_LOOP] = loop_options,       [TASK_BRIDGE] = bridge_options,
	};
	struct task_config *task = out;

	options_take(at, kind, task);
	if (at->d->rc == 0)
		options_decode(at, options[task->kind], task);
}

const struct option task_options[] = {OPTION_CHOICE(decode_task), OPTION_END};
