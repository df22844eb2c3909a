/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive side scaling of a port: asked for before the device is configured, read back once it runs.
 *
 * Called by port_open.c; control thread. Source: docs/design/0006-descriptor-loop.md, "RSS".
 */
#ifndef WR_DEVICE_PORT_RSS_H
#define WR_DEVICE_PORT_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "base/error.h"
#include "config/rss_config.h"

struct port;

/*
 * Put what the port's configuration asks for into *conf, for rte_eth_dev_configure(). Refused, with what the device can
 * do: fields, a key or a table that it does not take. *port must stay where it is while the device is open: drivers keep
 * a pointer to the key.
 */
int port_rss_configure(struct port *port, const struct rte_eth_dev_info *info,
		       struct rte_eth_conf *conf, const char *path, struct error *err);

/* Write the table to the started device and read everything back. Refused where that is not what was asked for. */
int port_rss_start(struct port *port, const struct rte_eth_dev_info *info, const char *path,
		   struct error *err);

#endif
