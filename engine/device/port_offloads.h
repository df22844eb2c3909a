/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device does to frames besides carrying them: checksums, segmentation (TSO) and its opposite (LRO).
 *
 * Control thread, while a port is configured; workers read struct port_offloads. Source: docs/design/0009-kernel-path.md.
 */
#ifndef WR_DEVICE_PORT_OFFLOADS_H
#define WR_DEVICE_PORT_OFFLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "config/offloads_config.h"

/* What is on: asked for, and the device has it. */
struct port_offloads {
	bool tx_checksums;      /* of TCP and UDP, over IPv4 and IPv6 */
	bool tx_ipv4_checksums; /* of the IPv4 header */
	bool rx_checksums; /* of TCP and UDP: the driver marks good ones, or those that are to be completed */
	bool tso;       /* of TCP over IPv4 and IPv6; with it, frames of several mbufs */
	bool fast_free; /* sent frames go back to the pool of one of them: program/tx_pools.h */
	bool lro;       /* the driver hands over large frames, and marks them */
};

/*
 * Add to *conf what is asked and there, and say so in *out. Nothing asked: *conf stays as it is. `one_pool`: drivers may
 * free frames without looking, unless `segments` chains mbufs.
 */
void port_offloads_choose(const struct offloads_config *asked, bool one_pool,
			  const struct rte_eth_dev_info *info, struct rte_eth_conf *conf,
			  struct port_offloads *out);

#endif
