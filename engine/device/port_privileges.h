/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which capabilities an open port still needs, until it is closed: docs/security.md. Pure.
 */
#ifndef WR_DEVICE_PORT_PRIVILEGES_H
#define WR_DEVICE_PORT_PRIVILEGES_H

#include <stdint.h>

#include "device/location.h"

/*
 * A mask of base/privileges.h; all of it for a driver that is not known here. `text` is the location as it was given,
 * `driver` what DPDK calls the device's.
 */
uint64_t port_privileges(const struct location *location, const char *text, const char *driver);

#endif
