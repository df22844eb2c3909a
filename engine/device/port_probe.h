/* SPDX-License-Identifier: BSD-3-Clause */
/* From a parsed location to an ethdev: found, made from rings, or plugged in. Control thread. */
#ifndef WR_DEVICE_PORT_PROBE_H
#define WR_DEVICE_PORT_PROBE_H

#include "base/error.h"
#include "device/port.h"

/* Sets port->port_id. On failure nothing was made; err names `path` and, where it can, the cure. */
int port_probe(struct port *port, const char *path, struct error *err);

/* Remove the virtual device and the rings that it has made, after the port was closed. Nothing made: nothing happens. */
void port_unmake(struct port *port);

#endif
