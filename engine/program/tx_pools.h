/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From which pool are the frames that a port sends?
 *
 * With RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE drivers look at the first of the frames that they free, and give all of them to
 * its pool; since DPDK 25.07 Intel's do so with the first one that the queue has ever seen. So a port has this offload
 * only where it is opened with one_pool, and nothing is then sent on it, as long as it is open, but frames of one
 * source: ready ones (streams, answers, ports.exchange), or what one port has received. Ready frames are of several
 * pools, but these are all alike: they belong to no pool's free list, and what goes back to one is forgotten
 * (program/frame_pool.h).
 *
 * Control thread. Source: rte_ethdev.h, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE; docs/design/0002-engine-interface.md, PORT.
 */
#ifndef WR_PROGRAM_TX_POOLS_H
#define WR_PROGRAM_TX_POOLS_H

#include "config/config.h"
#include "device/port.h"

/* All tasks that send, on ports and queues that exist. -EINVAL: two sources on a port with one_pool. */
int tx_pools_check(const struct program_config *config, struct port *ports, uint32_t port_count,
		   struct error *err);

/* The same for ready frames that no task sends; `path` of the port in the params. */
int tx_pools_claim_ready(struct port *port, const char *path, struct error *err);

#endif
