/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/tx_pools.h"

#include <errno.h>
#include <stdio.h>

#include "program/program_ports.h"

/* Sources that are no port's receive pool. */
static const char ready[] = "ready frames";
static const char mixed[] = "frames of any pool";

static const char *
name_source(const void *source, const struct port *ports, uint32_t port_count)
{
	if (source == ready || source == mixed)
		return source;
	for (uint32_t p = 0; p < port_count; p++) {
		if (ports[p].rx_pool == source)
			return ports[p].config.name;
	}
	return "received frames";
}

static int
claim(struct port *port, const void *source, const struct port *ports, uint32_t port_count,
      const char *path, struct error *err)
{
	if (!port->offloads.fast_free)
		return 0;
	if (source != mixed && (port->tx_source == NULL || port->tx_source == source)) {
		port->tx_source = source;
		return 0;
	}
	return error_set(
		err, -EINVAL, path,
		"port %s (%s) is open for frames of one pool, which its device frees without looking: "
		"%s%s%s cannot be sent on it; open it without one_pool",
		port->config.name, port->driver, name_source(source, ports, port_count),
		port->tx_source == NULL ? "" : " besides ",
		port->tx_source == NULL ? "" : name_source(port->tx_source, ports, port_count));
}

/*
 * What a port receives is of its own pool, but for a ring, which gives back what was sent, and devices of which nothing
 * is known. Chains are not forwarded to a port with FAST_FREE (struct forward_task, chains).
 */
static const void *
received_on(const struct port *port)
{
	bool own = port->location.kind != LOCATION_RING && port->location.kind != LOCATION_VDEV;

	return own ? (const void *)port->rx_pool : mixed;
}

static int
check_bridge(const struct bridge_config *bridge, struct port *ports, uint32_t port_count,
	     const char *path, struct error *err)
{
	for (uint32_t i = 0; i < BRIDGE_WAYS; i++) {
		int p = program_find_port(ports, port_count, bridge->ways[i].port);
		int code = p < 0 ? 0 : claim(&ports[p], mixed, ports, port_count, path, err);

		if (code != 0)
			return code;
	}
	return 0;
}

static int
check_task(const struct task_config *task, struct port *ports, uint32_t port_count,
	   const char *path, struct error *err)
{
	int from = program_find_port(ports, port_count, task->port), to;

	if (task->kind == TASK_BRIDGE)
		return check_bridge(task->bridge, ports, port_count, path, err);
	if (task->kind == TASK_RX)
		return 0;
	if (task->kind != TASK_FORWARD)
		return claim(&ports[from], ready, ports, port_count, path, err);
	to = program_find_port(ports, port_count, task->forward.to_port);
	return claim(&ports[to], received_on(&ports[from]), ports, port_count, path, err);
}

int
tx_pools_check(const struct program_config *config, struct port *ports, uint32_t port_count,
	       struct error *err)
{
	for (uint32_t w = 0; w < config->n_workers; w++) {
		for (uint32_t t = 0; t < config->workers[w].n_tasks; t++) {
			char path[64];
			int code;

			snprintf(path, sizeof(path), "workers[%u].tasks[%u]", w, t);
			code = check_task(&config->workers[w].tasks[t], ports, port_count, path,
					  err);
			if (code != 0)
				return code;
		}
	}
	return 0;
}

int
tx_pools_claim_ready(struct port *port, const char *path, struct error *err)
{
	return claim(port, ready, port, 1, path, err);
}
