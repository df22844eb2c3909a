/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which NUMA node memory is wanted, and where it is.
 *
 * Hugepages are taken from the node that EAL is asked for. Ordinary pages (--no-huge) come from the node of the CPU
 * that touches them first, which is any one the main lcore happens to run on; so the kernel is told before mbufs
 * are made. Both are requests: what came of them is looked up page by page. Control thread only.
 */
#ifndef WR_DEVICE_MEMORY_NODE_H
#define WR_DEVICE_MEMORY_NODE_H

#include <stdint.h>

#include <rte_mempool.h>

#define MEMORY_NODES_MAX 64 /* nodes that can be told; the kernel's own limit on PCs */

/*
 * Let pages that this thread touches first come from `node` if it has any; -1 or a node beyond the limit: from
 * wherever the thread runs, as at the start. Where the kernel does not let us (containers), nothing changes.
 */
void memory_node_prefer(int node);

/* The nodes that hold pages with these addresses, bit n for node n; 0 where the kernel does not tell. */
uint64_t memory_nodes_of(void *const *addresses, uint32_t count);

/* The same of a pool's objects: of 64 that are spread over it. NULL: 0. */
uint64_t memory_nodes_of_pool(struct rte_mempool *pool);

#endif
