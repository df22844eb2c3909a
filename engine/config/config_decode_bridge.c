/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge task and the rings of a program: keys, types and ranges of single values. Called by config_decode.c and
 * config_decode_task.c; main thread, cold path. Source: docs/design/0009-kernel-path.md.
 */
#include <arpa/inet.h>
#include <string.h>

#include "config/config_decode.h"

/* The index in words (NULL at the end) of an optional key's; 0 where it is missing. */
static uint32_t
decode_word(const struct cursor *at, const char *key, const char *const *words)
{
	char word[CONFIG_NAME_SIZE] = "", allowed[128] = "";
	size_t used = 0;

	if (!cursor_has(at, key))
		return 0;
	cursor_get_text(at, key, word, sizeof(word));
	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (strcmp(word, words[i]) == 0)
			return i;
		used += (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s\"%s\"",
					 i == 0                 ? ""
					 : words[i + 1] == NULL ? " or "
								: ", ",
					 words[i]);
	}
	cursor_refuse(at, key, "it is \"%s\"; it must be %s", word, allowed);
	return 0;
}

static void
decode_queues(const struct cursor *to, struct bridge_way_config *way)
{
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
decode_to(const struct cursor *at, struct bridge_way_config *way)
{
	static const char *const port_keys[] = {"port", "queues", NULL};
	static const char *const ring_keys[] = {"ring", NULL};
	struct cursor to;

	cursor_get(at, "to"); /* null is a choice, no key is an oversight */
	if (!cursor_has_value(at, "to"))
		return;
	to = cursor_child(at, "to");
	if (json_is_object(to.json) && json_object_get(to.json, "ring") != NULL) {
		cursor_closed_object(&to, ring_keys);
		cursor_get_text(&to, "ring", way->ring, sizeof(way->ring));
		return;
	}
	cursor_closed_object(&to, port_keys);
	cursor_get_text(&to, "port", way->port, sizeof(way->port));
	decode_queues(&to, way);
}

static void
decode_way(const struct cursor *task, const char *key, struct bridge_way_config *way)
{
	static const char *const keys[] = {"to",        "rewrite",  "work_cycles",
					   "checksums", "segments", NULL};
	static const char *const rewrites[] = {"none", "reverse", NULL};
	static const char *const checksums[] = {"as-is", "complete", NULL};
	static const char *const segments[] = {"as-is", "split", "merge", NULL};
	const struct cursor at = cursor_child(task, key);

	cursor_closed_object(&at, keys);
	decode_to(&at, way);
	way->rewrite = decode_word(&at, "rewrite", rewrites) == 1 ? REWRITE_REVERSE : REWRITE_NONE;
	if (cursor_has(&at, "work_cycles"))
		cursor_get_uint64(&at, "work_cycles", 0, CONFIG_WORK_CYCLES_MAX, &way->work_cycles);
	way->complete = decode_word(&at, "checksums", checksums) == 1;
	way->segments = (enum bridge_segments)decode_word(&at, "segments", segments);
}

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
decode_addresses(const struct cursor *task, struct bridge_config *bridge)
{
	struct cursor array;
	uint32_t n;

	bridge->tells_apart = cursor_has_value(task, "addresses");
	if (!bridge->tells_apart)
		return;
	n = cursor_get_array(task, "addresses", 0, CONFIG_BRIDGE_ADDRESSES_MAX, &array);
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
decode_from(const struct cursor *at, struct task_config *task)
{
	static const char *const port_keys[] = {"port", "queue", NULL};
	static const char *const ring_keys[] = {"ring", NULL};
	const struct cursor from = cursor_child(at, "from");

	if (json_is_object(from.json) && json_object_get(from.json, "ring") != NULL) {
		cursor_closed_object(&from, ring_keys);
		cursor_get_text(&from, "ring", task->bridge->from_ring,
				sizeof(task->bridge->from_ring));
		return;
	}
	cursor_closed_object(&from, port_keys);
	cursor_get_text(&from, "port", task->port, sizeof(task->port));
	cursor_get_uint32(&from, "queue", 0, CONFIG_QUEUES_MAX - 1, &task->queue);
}

void
config_decode_bridge(const struct cursor *at, struct task_config *task)
{
	task->bridge = cursor_new_array(at, 1, sizeof(*task->bridge));
	if (task->bridge == NULL)
		return;
	decode_from(at, task);
	decode_addresses(at, task->bridge);
	decode_way(at, bridge_way_name(BRIDGE_KERNEL), &task->bridge->ways[BRIDGE_KERNEL]);
	if (cursor_has_value(at, bridge_way_name(BRIDGE_FAST)))
		decode_way(at, bridge_way_name(BRIDGE_FAST), &task->bridge->ways[BRIDGE_FAST]);
}

static void
decode_ring(const struct cursor *at, struct ring_config *ring)
{
	static const char *const keys[] = {"name", "frames", NULL};

	cursor_closed_object(at, keys);
	cursor_get_text(at, "name", ring->name, sizeof(ring->name));
	cursor_get_uint32(at, "frames", CONFIG_RING_FRAMES_MIN, CONFIG_RING_FRAMES_MAX,
			  &ring->frames);
	if ((ring->frames & (ring->frames - 1)) != 0)
		cursor_refuse(at, "frames", "it is %u; it must be a power of two", ring->frames);
}

void
config_decode_rings(const struct cursor *root, struct program_config *out)
{
	struct cursor array;
	uint32_t n;

	if (!cursor_has(root, "rings"))
		return;
	n = cursor_get_array(root, "rings", 0, CONFIG_RINGS_MAX, &array);
	out->rings = cursor_new_array(&array, n, sizeof(*out->rings));
	for (uint32_t i = 0; i < n && root->d->rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_ring(&at, &out->rings[i]);
		out->n_rings++;
	}
}
