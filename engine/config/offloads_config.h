/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a port's device is to be switched on: docs/design/0009-kernel-path.md, PORT. */
#ifndef WR_CONFIG_OFFLOADS_CONFIG_H
#define WR_CONFIG_OFFLOADS_CONFIG_H

#include <stdbool.h>

/* Both false unless given. It is no error when the device has none. */
struct offloads_config {
	bool checksums; /* Rx and Tx checksums of TCP, UDP and IPv4 */
	bool segments;  /* TSO, LRO and frames of several mbufs */
};

#endif
