/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_flow.h>

#include "device/port.h"

/* A rule in ethdev's words: Ethernet, IP, and UDP if it is in the rule; every bit of what is given must match. */
struct pattern {
	struct rte_flow_item_ipv4 ipv4, ipv4_mask;
	struct rte_flow_item_ipv6 ipv6, ipv6_mask;
	struct rte_flow_item_udp udp, udp_mask;
	struct rte_flow_item items[4];
};

static void
fill_pattern(struct pattern *pattern, const struct steer_rule *rule)
{
	struct rte_flow_item *ip = &pattern->items[1], *udp = &pattern->items[2];

	memset(pattern, 0, sizeof(*pattern)); /* type 0 is RTE_FLOW_ITEM_TYPE_END */
	pattern->items[0].type = RTE_FLOW_ITEM_TYPE_ETH;
	if (rule->ipv6) {
		memcpy(&pattern->ipv6.hdr.dst_addr, rule->ip, IPV6_OCTETS);
		memset(&pattern->ipv6_mask.hdr.dst_addr, 0xff, IPV6_OCTETS);
		*ip = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_IPV6,
					     .spec = &pattern->ipv6,
					     .mask = &pattern->ipv6_mask};
	} else {
		memcpy(&pattern->ipv4.hdr.dst_addr, rule->ip, IPV4_OCTETS);
		memset(&pattern->ipv4_mask.hdr.dst_addr, 0xff, IPV4_OCTETS);
		*ip = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_IPV4,
					     .spec = &pattern->ipv4,
					     .mask = &pattern->ipv4_mask};
	}
	if (!rule->has_udp)
		return;
	pattern->udp.hdr.dst_port = rte_cpu_to_be_16(rule->udp_dst);
	pattern->udp_mask.hdr.dst_port = UINT16_MAX;
	*udp = (struct rte_flow_item){
		.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &pattern->udp, .mask = &pattern->udp_mask};
}

static struct rte_flow *
create_rule(uint16_t port_id, const struct steer_rule *rule, struct steer_reply *reply)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_action_queue queue = {.index = (uint16_t)rule->queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_error why = {0};
	struct pattern pattern;
	struct rte_flow *flow;

	fill_pattern(&pattern, rule);
	reply->reason[0] = '\0';
	if (rte_flow_validate(port_id, &attr, pattern.items, actions, &why) == 0) {
		flow = rte_flow_create(port_id, &attr, pattern.items, actions, &why);
		if (flow != NULL)
			return flow;
	}
	snprintf(reply->reason, sizeof(reply->reason), "%s",
		 why.message != NULL && why.message[0] != '\0' ? why.message : strerror(rte_errno));
	return NULL;
}

static int
end_rules(struct port *port, struct error *err)
{
	while (port->rule_count > 0) {
		struct rte_flow_error why = {0};
		int code = rte_flow_destroy(port->port_id, port->rules[port->rule_count - 1], &why);

		if (code != 0)
			return error_set(
				err, code, "rules",
				"%s (%s) does not give up a rule: %s; a new session begins without",
				port->config.location, port->driver,
				why.message != NULL ? why.message : strerror(-code));
		port->rule_count--;
	}
	free(port->rules);
	port->rules = NULL;
	return 0;
}

static int
check_queues(const struct port *port, const struct steer_rule *rules, uint32_t count,
	     struct error *err)
{
	char path[32];

	for (uint32_t i = 0; i < count; i++) {
		if (rules[i].queue < port->config.rx_queues)
			continue;
		snprintf(path, sizeof(path), "rules[%u].queue", i);
		return error_set(err, -EINVAL, path,
				 "queue %u: port %s was opened with %u Rx queues", rules[i].queue,
				 port->config.name, port->config.rx_queues);
	}
	return 0;
}

int
port_steer(struct port *port, const struct steer_rule *rules, uint32_t count,
	   struct steer_reply *replies, struct error *err)
{
	int code = check_queues(port, rules, count, err);

	if (code == 0)
		code = end_rules(port, err);
	if (code != 0 || count == 0)
		return code;
	port->rules = calloc(count, sizeof(port->rules[0]));
	if (port->rules == NULL)
		return error_set(err, -ENOMEM, "rules", "no memory for %u rules", count);
	for (uint32_t i = 0; i < count; i++) {
		struct rte_flow *flow = create_rule(port->port_id, &rules[i], &replies[i]);

		if (flow != NULL)
			port->rules[port->rule_count++] = flow;
	}
	return 0;
}

void
port_steer_end(struct port *port)
{
	end_rules(port, NULL);
	free(port->rules);
	port->rules = NULL;
	port->rule_count = 0;
}
