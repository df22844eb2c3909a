/* SPDX-License-Identifier: BSD-3-Clause */
/* ports.steer: docs/design/0006-descriptor-loop.md, "Steering". Control thread. */
#ifndef WR_CONTROL_STEER_H
#define WR_CONTROL_STEER_H

#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "device/port.h"

/* The method's result, or NULL: params that do not decode, a port that is not open, and what port_steer() refuses. */
json_t *steer_ports(struct port *ports, uint32_t port_count, const json_t *params,
		    struct error *err);

#endif
