/* SPDX-License-Identifier: BSD-3-Clause */
/* The params of ports.steer. Main thread, cold path. Source: docs/design/0006-descriptor-loop.md, "Steering". */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_decode.h"

/* Of either family, in one key or the other. */
static void
decode_address(const struct cursor *at, void *out)
{
	struct steer_rule *rule = out;
	char text[INET6_ADDRSTRLEN] = "";
	const char *key;

	rule->ipv6 = cursor_has(at, "ipv6_dst");
	key = rule->ipv6 ? "ipv6_dst" : "ipv4_dst";
	if (rule->ipv6 && cursor_has(at, "ipv4_dst"))
		cursor_refuse(at, "ipv6_dst",
			      "there is an \"ipv4_dst\" too; a rule has one of them");
	cursor_get_text(at, key, text, sizeof(text));
	if (inet_pton(rule->ipv6 ? AF_INET6 : AF_INET, text, rule->ip) != 1)
		cursor_refuse(at, key, "\"%s\" is no %s address; give one like \"%s\"", text,
			      rule->ipv6 ? "IPv6" : "IPv4", rule->ipv6 ? "fd00::1" : "10.0.0.1");
}

static const struct option rule_options[] = {
	OPTION_KEY("ipv4_dst"),
	OPTION_KEY("ipv6_dst"),
	OPTION_THEN(decode_address),
	OPTION_UINT32(MAY_LACK, struct steer_rule, udp_dst, 0, UINT16_MAX,
		      OPTION_IF(struct steer_rule, has_udp)),
	OPTION_UINT32(NEEDED, struct steer_rule, queue, 0, CONFIG_QUEUES_MAX - 1),
	OPTION_END,
};

int
config_decode_steer(const json_t *params, struct steer_config *out, struct error *err)
{
	static const struct option options[] = {
		OPTION_TEXT(NEEDED, struct steer_config, port),
		OPTION_OBJECTS(NEEDED, struct steer_config, rules, 0, CONFIG_RULES_MAX,
			       rule_options),
		OPTION_END,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	rc = options_decode_params(params, options, out, err);
	if (rc < 0)
		config_free_steer(out);
	return rc;
}

void
config_free_steer(struct steer_config *config)
{
	free(config->rules);
	memset(config, 0, sizeof(*config));
}
