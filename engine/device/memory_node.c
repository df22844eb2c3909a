/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/memory_node.h"

#include <stdbool.h>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>

#define SAMPLES 64

/* Called by number: the C library has no wrappers, and libnuma would be a dependency for two calls. */
void
memory_node_prefer(int node)
{
	unsigned long mask = 0;
	bool known = node >= 0 && node < MEMORY_NODES_MAX;

	if (known)
		mask = 1ul << node;
	/* The kernel takes one bit off the length it is given: mm/mempolicy.c, get_nodes(). */
	(void)syscall(SYS_set_mempolicy, known ? MPOL_PREFERRED : MPOL_DEFAULT,
		      known ? &mask : NULL, known ? MEMORY_NODES_MAX + 1ul : 0ul);
}

uint64_t
memory_nodes_of(void *const *addresses, uint32_t count)
{
	uint64_t nodes = 0;

	for (uint32_t i = 0; i < count; i++) {
		int node = -1;
		long code = syscall(SYS_get_mempolicy, &node, NULL, 0ul, addresses[i],
				    MPOL_F_NODE | MPOL_F_ADDR);

		if (code == 0 && node >= 0 && node < MEMORY_NODES_MAX)
			nodes |= 1ull << node;
	}
	return nodes;
}

struct samples {
	void *addresses[SAMPLES];
	uint32_t count;
	uint32_t step; /* objects from one that is looked at to the next */
};

static void
take_sample(struct rte_mempool *pool, void *opaque, void *object, unsigned int index)
{
	struct samples *samples = opaque;

	RTE_SET_USED(pool);
	if (index % samples->step == 0 && samples->count < SAMPLES)
		samples->addresses[samples->count++] = object;
}

uint64_t
memory_nodes_of_pool(struct rte_mempool *pool)
{
	struct samples samples = {.step = 1};

	if (pool == NULL)
		return 0;
	samples.step = pool->size / SAMPLES + 1;
	rte_mempool_obj_iter(pool, take_sample, &samples);
	return memory_nodes_of(samples.addresses, samples.count);
}
