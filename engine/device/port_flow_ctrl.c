/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_flow_ctrl.h"

#include <stdlib.h>
#include <string.h>

void
port_flow_ctrl_off(struct port_flow_ctrl *flow, uint16_t port_id)
{
	struct rte_eth_fc_conf conf = {0}, off;

	if (rte_eth_dev_flow_ctrl_get(port_id, &conf) != 0 || conf.mode == RTE_ETH_FC_NONE)
		return;
	off = conf;
	off.mode = RTE_ETH_FC_NONE;
	if (rte_eth_dev_flow_ctrl_set(port_id, &off) != 0 || flow->changed)
		return;
	flow->found = conf;
	flow->changed = true;
}

void
port_flow_ctrl_restore(struct port_flow_ctrl *flow, uint16_t port_id)
{
	if (flow->changed)
		rte_eth_dev_flow_ctrl_set(port_id, &flow->found);
	flow->changed = false;
}

const char *
port_flow_ctrl_mode(uint16_t port_id)
{
	struct rte_eth_fc_conf conf = {0};

	if (rte_eth_dev_flow_ctrl_get(port_id, &conf) != 0)
		return NULL;
	switch (conf.mode) {
	case RTE_ETH_FC_NONE:
		return "none";
	case RTE_ETH_FC_RX_PAUSE:
		return "rx";
	case RTE_ETH_FC_TX_PAUSE:
		return "tx";
	case RTE_ETH_FC_FULL:
		return "full";
	}
	return NULL;
}

/* True when one of the words is in the text. */
static bool
has_any(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strstr(text, *words) != NULL)
			return true;
	return false;
}

bool
port_flow_ctrl_counts_pauses(const char *name)
{
	static const char *const frames[] = {"xon", "xoff", "pause", NULL};
	static const char *const other[] = {"duration", "time", "transition", "_us", NULL};
	const char *rx = strstr(name, "rx");

	return rx != NULL && has_any(rx, frames) && !has_any(rx, other);
}

/* The sum of the counters; false when the device does not answer. */
static bool
read_sum(const struct port_flow_ctrl *flow, uint16_t port_id, uint64_t *sum)
{
	uint64_t values[PORT_PAUSE_COUNTERS_MAX];

	if (flow->counters == 0 || rte_eth_xstats_get_by_id(port_id, flow->ids, values,
							    flow->counters) != (int)flow->counters)
		return false;
	*sum = 0;
	for (uint32_t i = 0; i < flow->counters; i++)
		*sum += values[i];
	return true;
}

void
port_flow_ctrl_find_counters(struct port_flow_ctrl *flow, uint16_t port_id)
{
	int count = rte_eth_xstats_get_names(port_id, NULL, 0);
	struct rte_eth_xstat_name *names;

	flow->counters = 0;
	names = count > 0 ? calloc((size_t)count, sizeof(names[0])) : NULL;
	if (names == NULL)
		return;
	if (rte_eth_xstats_get_names(port_id, names, (unsigned int)count) == count) {
		for (int i = 0; i < count && flow->counters < PORT_PAUSE_COUNTERS_MAX; i++)
			if (port_flow_ctrl_counts_pauses(names[i].name))
				flow->ids[flow->counters++] = (uint64_t)i;
	}
	free(names);
}

uint64_t
port_flow_ctrl_pauses(struct port_flow_ctrl *flow, uint16_t port_id)
{
	uint64_t now, last = flow->last;

	if (!read_sum(flow, port_id, &now))
		return 0;
	flow->last = now;
	return now < last ? now : now - last; /* less: the device counts anew */
}
