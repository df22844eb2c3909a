/* SPDX-License-Identifier: BSD-3-Clause */
/* The params of ports.steer. Main thread, cold path. Source: docs/design/0006-descriptor-loop.md, "Steering". */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_decode.h"

static void
decode_rule(const struct cursor *at, struct steer_rule *rule)
{
	static const char *const keys[] = {"ipv4_dst", "ipv6_dst", "udp_dst", "queue", NULL};
	char text[INET6_ADDRSTRLEN] = "";
	uint32_t udp_dst = 0;
	const char *key;

	cursor_closed_object(at, keys);
	rule->ipv6 = cursor_has(at, "ipv6_dst");
	key = rule->ipv6 ? "ipv6_dst" : "ipv4_dst";
	if (rule->ipv6 && cursor_has(at, "ipv4_dst"))
		cursor_refuse(at, "ipv6_dst",
			      "there is an \"ipv4_dst\" too; a rule has one of them");
	cursor_get_text(at, key, text, sizeof(text));
	if (inet_pton(rule->ipv6 ? AF_INET6 : AF_INET, text, rule->ip) != 1)
		cursor_refuse(at, key, "\"%s\" is no %s address; give one like \"%s\"", text,
			      rule->ipv6 ? "IPv6" : "IPv4", rule->ipv6 ? "fd00::1" : "10.0.0.1");
	rule->has_udp = cursor_has(at, "udp_dst");
	if (rule->has_udp)
		cursor_get_uint32(at, "udp_dst", 0, UINT16_MAX, &udp_dst);
	rule->udp_dst = (uint16_t)udp_dst;
	cursor_get_uint32(at, "queue", 0, CONFIG_QUEUES_MAX - 1, &rule->queue);
}

int
config_decode_steer(const json_t *params, struct steer_config *out, struct error *err)
{
	static const char *const keys[] = {"port", "rules", NULL};
	struct decoding d = {.err = err};
	const struct cursor root = {.d = &d, .json = params};
	struct cursor array;
	uint32_t n;

	memset(out, 0, sizeof(*out));
	cursor_closed_object(&root, keys);
	cursor_get_text(&root, "port", out->port, sizeof(out->port));
	n = cursor_get_array(&root, "rules", 0, CONFIG_RULES_MAX, &array);
	out->rules = cursor_new_array(&array, n, sizeof(out->rules[0]));
	for (uint32_t i = 0; i < n && d.rc == 0; i++) {
		const struct cursor at = cursor_element(&array, i);

		decode_rule(&at, &out->rules[i]);
		out->n_rules++;
	}
	if (d.rc < 0)
		config_free_steer(out);
	return d.rc;
}

void
config_free_steer(struct steer_config *config)
{
	free(config->rules);
	memset(config, 0, sizeof(*config));
}
