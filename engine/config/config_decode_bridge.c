/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge task and the rings of a program: keys, types and ranges of single values. Called by config_decode.c and
 * config_decode_task.c; main thread, cold path. Source: docs/design/0009-kernel-path.md.
 */
#include <arpa/inet.h>
#include <string.h>

#include "config/config_decode.h"

#define WAY struct bridge_way_config
#define BRIDGE struct bridge_config

static void
decode_queues(const struct cursor *to, void *out)
{
	struct bridge_way_config *way = out;
	struct cursor array;
	uint32_t n = cursor_get_array(to, "queues", 1, CONFIG_BRIDGE_QUEUES_MAX, &array);

	for (uint32_t i = 0; i < n; i++) {
		cursor_element_uint32(&array, i, 0, CONFIG_QUEUES_MAX - 1, &way->queues[i]);
		for (uint32_t j = 0; j < i && to->d->rc == 0; j++) {
			const struct cursor at = cursor_element(&array, i);

			if (way->queues[j] == way->queues[i])
				cursor_refuse(&at, NULL,
					      "queue %u is in the list already; each must differ",
					      way->queues[i]);
		}
	}
	way->n_queues = n;
}

static void
decode_to(const struct cursor *at, void *out)
{
	static const struct option to_port[] = {
		OPTION_TEXT(NEEDED, WAY, port),
		OPTION_BY("queues", NEEDED, decode_queues),
		OPTION_END,
	};
	static const struct option to_ring[] = {OPTION_TEXT(NEEDED, WAY, ring), OPTION_END};
	const struct cursor to = cursor_child(at, "to");

	options_decode(&to, json_object_get(to.json, "ring") != NULL ? to_ring : to_port, out);
}

static const char *const rewrites[] = {"none", "reverse", NULL};
static const char *const checksums[] = {"as-is", "complete", NULL};
static const char *const segments[] = {"as-is", "split", "merge", NULL};

static const struct option way_options[] = {
	OPTION_BY("to", OR_NULL, decode_to), /* null is a choice, no key is an oversight */
	OPTION_WORD(MAY_LACK, WAY, rewrite, rewrites, "way to rewrite frames here"),
	OPTION_UINT64(MAY_LACK, WAY, work_cycles, 0, CONFIG_WORK_CYCLES_MAX),
	OPTION_WORD_AS("checksums", MAY_LACK, WAY, complete, checksums, "treatment of checksums"),
	OPTION_WORD(MAY_LACK, WAY, segments, segments, "treatment of segments"),
	OPTION_END,
};

static void
decode_address(const struct cursor *at, struct host_address *address)
{
	const char *text = json_string_value(at->json);

	if (text == NULL) {
		cursor_refuse_value(at, NULL, at->json, "an IP address like \"10.0.0.1\"");
		return;
	}
	address->ipv6 = strchr(text, ':') != NULL;
	if (inet_pton(address->ipv6 ? AF_INET6 : AF_INET, text, address->ip) == 1 &&
	    (address->ipv6 ? ipv6_is_hosts(address->ip) : ipv4_is_hosts(address->ip)))
		return;
	cursor_refuse(at, NULL,
		      "\"%.40s\" is no IP address of a host; give one like \"10.0.0.1\" or "
		      "\"fd00::1\"",
		      text);
}

static bool
is_twin(const struct host_address *a, const struct host_address *b)
{
	return a->ipv6 == b->ipv6 && memcmp(a->ip, b->ip, IPV6_OCTETS) == 0;
}

static void
decode_addresses(const struct cursor *task, void *out)
{
	struct bridge_config *bridge = ((struct task_config *)out)->bridge;
	struct cursor array;
	uint32_t n = cursor_get_array(task, "addresses", 0, CONFIG_BRIDGE_ADDRESSES_MAX, &array);

	bridge->tells_apart = true;
	for (uint32_t i = 0; i < n && task->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_address(&at, &bridge->addresses[i]);
		for (uint32_t j = 0; j < i && task->d->rc == 0; j++)
			if (is_twin(&bridge->addresses[j], &bridge->addresses[i]))
				cursor_refuse(&at, NULL,
					      "addresses[%u] is the same; each must differ", j);
		bridge->n_addresses++;
	}
}

static void
new_bridge(const struct cursor *at, void *out)
{
	((struct task_config *)out)->bridge = cursor_new_array(at, 1, sizeof(BRIDGE));
}

static void
decode_from(const struct cursor *at, void *out)
{
	static const struct option from_port[] = {
		OPTION_TEXT(NEEDED, struct task_config, port),
		OPTION_UINT32(NEEDED, struct task_config, queue, 0, CONFIG_QUEUES_MAX - 1),
		OPTION_END,
	};
	static const struct option from_ring[] = {
		OPTION_TEXT_AS("ring", NEEDED, BRIDGE, from_ring),
		OPTION_END,
	};
	const struct cursor from = cursor_child(at, "from");

	if (json_object_get(from.json, "ring") != NULL)
		options_decode(&from, from_ring, ((struct task_config *)out)->bridge);
	else
		options_decode(&from, from_port, out);
}

static void
decode_ways(const struct cursor *at, void *out)
{
	for (uint32_t i = 0; i < BRIDGE_WAYS; i++) {
		const char *name = bridge_way_name(i);

		if (i == BRIDGE_KERNEL || cursor_has_value(at, name)) {
			const struct cursor way = cursor_child(at, name);

			options_decode(&way, way_options,
				       &((struct task_config *)out)->bridge->ways[i]);
		}
	}
}

const struct option bridge_options[] = {
	OPTION_KEY("kind"),
	OPTION_THEN(new_bridge),
	OPTION_BY("from", NEEDED, decode_from),
	OPTION_UINT32(NEEDED, struct task_config, burst, 1, CONFIG_BURST_MAX),
	OPTION_BY("addresses", MAY_LACK_OR_NULL, decode_addresses),
	OPTION_KEY("kernel"),
	OPTION_KEY("fast"),
	OPTION_THEN(decode_ways),
	OPTION_END,
};

static void
refuse_uneven(const struct cursor *at, void *out)
{
	uint32_t frames = ((struct ring_config *)out)->frames;

	if ((frames & (frames - 1)) != 0)
		cursor_refuse(at, "frames", "it is %u; it must be a power of two", frames);
}

const struct option ring_options[] = {
	OPTION_TEXT(NEEDED, struct ring_config, name),
	OPTION_UINT32(NEEDED, struct ring_config, frames, CONFIG_RING_FRAMES_MIN,
		      CONFIG_RING_FRAMES_MAX),
	OPTION_THEN(refuse_uneven),
	OPTION_END,
};
