/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: what goes to an address is to be received on a queue. Rules are given to the driver, which may take them
 * and do nothing; whoever relies on one tries it first.
 *
 * Control thread. Source: docs/design/0006-descriptor-loop.md, "Steering".
 */
#ifndef WR_DEVICE_PORT_STEER_H
#define WR_DEVICE_PORT_STEER_H

#include <stdint.h>

#include "base/error.h"
#include "config/rss_config.h"

struct port;

/* What the driver said of a rule: "" when it took it, else why not. */
struct steer_reply {
	char reason[128];
};

/*
 * Give the driver these rules instead of all that it was given before; replies[] has one for each. 0, or -EINVAL for a
 * queue that the port lacks (path "rules[1].queue"; all is as it was), -ENOMEM, or the driver's own error where it does
 * not give up an old rule.
 */
int port_steer(struct port *port, const struct steer_rule *rules, uint32_t count,
	       struct steer_reply *replies, struct error *err);

/* Take all rules back; before the device is stopped. */
void port_steer_end(struct port *port);

#endif
