/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/program_ports.h"

#include <errno.h>
#include <string.h>

int
program_find_port(const struct port *ports, uint32_t port_count, const char *name)
{
	for (uint32_t i = 0; i < port_count; i++) {
		if (strcmp(ports[i].config.name, name) == 0)
			return (int)i;
	}
	return -1;
}

int
program_check_queue(const struct port *ports, uint32_t port_count, const char *name, uint32_t queue,
		    bool rx, const char *path, struct error *err)
{
	int index = program_find_port(ports, port_count, name);
	uint32_t queues;

	if (index < 0)
		return error_set(err, -EINVAL, path, "no open port is called \"%s\"", name);
	queues = rx ? ports[index].config.rx_queues : ports[index].config.tx_queues;
	if (queue >= queues)
		return error_set(err, -EINVAL, path,
				 "queue %u: port %s was opened with %u %s queues", queue, name,
				 queues, rx ? "Rx" : "Tx");
	return 0;
}
