/* SPDX-License-Identifier: BSD-3-Clause */
/* The open ports by the names that a configuration gives them. Control thread. */
#ifndef WR_PROGRAM_PROGRAM_PORTS_H
#define WR_PROGRAM_PROGRAM_PORTS_H

#include "device/port.h"

/* Index of the port called name, or -1. */
int program_find_port(const struct port *ports, uint32_t port_count, const char *name);

/* The port is open and was opened with so many Rx or Tx queues. -EINVAL. */
int program_check_queue(const struct port *ports, uint32_t port_count, const char *name,
			uint32_t queue, bool rx, const char *path, struct error *err);

#endif
