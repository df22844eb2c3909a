/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of a reply task, and who needs one. Called by config_decode_task.c and config_check.c; main thread,
 * cold path. Source: docs/design/0005-measurement.md, "Answering".
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_decode.h"

enum { PATH_SIZE = sizeof(((struct error *)NULL)->path) };

/* Six pairs of hex digits with colons between. */
static bool
parse_mac(const char *text, uint8_t *mac)
{
	unsigned int octets[MAC_OCTETS];
	int end = 0;

	if (strspn(text, "0123456789abcdefABCDEF:") != 17 || text[17] != '\0')
		return false;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &octets[0], &octets[1], &octets[2],
		   &octets[3], &octets[4], &octets[5], &end) != 6 ||
	    end != 17)
		return false;
	for (uint32_t i = 0; i < MAC_OCTETS; i++)
		mac[i] = (uint8_t)octets[i];
	return true;
}

static void
decode_mac(const struct cursor *at, uint8_t *mac)
{
	static const uint8_t zeros[MAC_OCTETS];
	char text[CONFIG_NAME_SIZE] = "";

	cursor_get_text(at, "mac", text, sizeof(text));
	if (!parse_mac(text, mac) || mac_is_group(mac) || memcmp(mac, zeros, MAC_OCTETS) == 0)
		cursor_refuse(at, "mac",
			      "\"%s\" is no Ethernet address of a host; give one like "
			      "\"02:57:52:00:00:01\"",
			      text);
}

static void
decode_ip(const struct cursor *at, struct host_address *address)
{
	const char *key = address->ipv6 ? "ipv6" : "ipv4";
	char text[INET6_ADDRSTRLEN] = "";

	cursor_get_text(at, key, text, sizeof(text));
	if (inet_pton(address->ipv6 ? AF_INET6 : AF_INET, text, address->ip) == 1 &&
	    (address->ipv6 ? ipv6_is_hosts(address->ip) : ipv4_is_hosts(address->ip)))
		return;
	cursor_refuse(at, key, "\"%s\" is no %s address of a host; give one like \"%s\"", text,
		      address->ipv6 ? "IPv6" : "IPv4", address->ipv6 ? "fd00::1" : "10.0.0.1");
}

static void
decode_host(const struct cursor *at, void *out)
{
	struct host_address *address = out;

	decode_mac(at, address->mac);
	address->ipv6 = cursor_has(at, "ipv6");
	if (address->ipv6 && cursor_has(at, "ipv4"))
		cursor_refuse(at, "ipv6", "there is an \"ipv4\" too; give each its own entry");
	decode_ip(at, address);
}

static const struct option address_options[] = {
	OPTION_KEY("mac"),        OPTION_KEY("ipv4"), OPTION_KEY("ipv6"),
	OPTION_THEN(decode_host), OPTION_END,
};

static int
compare_addresses(const void *a, const void *b)
{
	const struct host_address *x = *(struct host_address *const *)a;
	const struct host_address *y = *(struct host_address *const *)b;
	int order = memcmp(x->ip, y->ip, IPV6_OCTETS);

	if (order != 0)
		return order;
	if (x->ipv6 != y->ipv6)
		return x->ipv6 ? 1 : -1;
	return (x > y) - (x < y);
}

static void
refuse_twins(const struct cursor *at, void *out)
{
	const struct task_config *task = out;
	const struct cursor array = cursor_child(at, "addresses");
	uint32_t n = task->n_addresses;
	const struct host_address **sorted = cursor_new_array(&array, n, sizeof(sorted[0]));

	for (uint32_t i = 0; i < n && sorted != NULL; i++)
		sorted[i] = &task->addresses[i];
	if (sorted != NULL)
		qsort(sorted, n, sizeof(sorted[0]), compare_addresses);
	for (uint32_t i = 1; i < n && sorted != NULL; i++) {
		const struct host_address *first = sorted[i - 1], *again = sorted[i];

		if (first->ipv6 == again->ipv6 && memcmp(first->ip, again->ip, IPV6_OCTETS) == 0) {
			const struct cursor twin =
				cursor_element(&array, (size_t)(again - task->addresses));

			cursor_refuse(&twin, again->ipv6 ? "ipv6" : "ipv4",
				      "addresses[%u] has it already; each must differ",
				      (unsigned int)(first - task->addresses));
			break;
		}
	}
	free(sorted);
}

const struct option reply_options[] = {
	OPTION_ROWS(task_place_options),
	OPTION_OBJECTS(NEEDED, struct task_config, addresses, 1, CONFIG_ADDRESSES_MAX,
		       address_options),
	OPTION_THEN(refuse_twins),
	OPTION_END,
};

/* A reply task and its place. */
struct reply_ref {
	const char *port;
	uint32_t worker;
	uint32_t index;
};

static int
compare_refs(const void *a, const void *b)
{
	const struct reply_ref *x = a, *y = b;
	int order = strcmp(x->port, y->port);

	if (order != 0)
		return order;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int
find_port(const void *key, const void *ref)
{
	return strcmp(key, ((const struct reply_ref *)ref)->port);
}

static size_t
collect_replies(const struct program_config *config, struct reply_ref *refs)
{
	size_t n = 0;

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];

			if (task->kind == TASK_REPLY && refs != NULL)
				refs[n] = (struct reply_ref){task->port, w, t};
			n += task->kind == TASK_REPLY;
		}
	}
	return n;
}

static int
check_askers(const struct program_config *config, const struct reply_ref *refs, size_t n,
	     struct error *err)
{
	char path[PATH_SIZE];

	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			const struct task_config *task = &config->workers[w].tasks[t];

			if (!task->answer ||
			    bsearch(task->port, refs, n, sizeof(refs[0]), find_port) != NULL)
				continue;
			snprintf(path, sizeof(path), "workers[%u].tasks[%u].answer", w, t);
			return error_set(err, ERROR_PARAMS, path,
					 "port \"%s\" has no reply task; add one, or do not answer",
					 task->port);
		}
	}
	return 0;
}

int
config_check_replies(const struct program_config *config, struct error *err)
{
	size_t n = collect_replies(config, NULL);
	struct reply_ref *refs = calloc(n + 1, sizeof(refs[0]));
	char path[PATH_SIZE];
	int rc = 0;

	if (refs == NULL)
		return error_set(err, -ENOMEM, "workers", "out of memory for %zu reply tasks", n);
	collect_replies(config, refs);
	qsort(refs, n, sizeof(refs[0]), compare_refs);
	for (size_t i = 1; i < n && rc == 0; i++) {
		if (strcmp(refs[i - 1].port, refs[i].port) != 0)
			continue;
		snprintf(path, sizeof(path), "workers[%u].tasks[%u].port", refs[i].worker,
			 refs[i].index);
		rc = error_set(err, ERROR_PARAMS, path,
			       "workers[%u].tasks[%u] answers for port \"%s\" already; give it all "
			       "addresses",
			       refs[i - 1].worker, refs[i - 1].index, refs[i].port);
	}
	if (rc == 0)
		rc = check_askers(config, refs, n, err);
	free(refs);
	return rc;
}
