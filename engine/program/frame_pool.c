/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_pool.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mempool.h>

/*
 * One, not two: DPDK has room for 16 (RTE_MEMPOOL_MAX_OPS_IDX), and since 24.11 its own drivers, all of them in a
 * statically linked engine, take 15.
 */
#define OPS_OWNED "wirerate_owned"

struct frame_pool {
	struct rte_mempool *mempool;
	struct rte_mbuf **mbufs;
	uint32_t capacity;
	uint32_t count; /* mbufs recorded */
};

/* Nothing is kept: struct frame_pool has the frames. */
static int
owned_alloc(struct rte_mempool *mempool)
{
	(void)mempool;
	return 0;
}

/* A driver frees a frame that it has sent. HOT: once per frame with drivers that free one by one. */
static int
owned_enqueue(struct rte_mempool *mempool, void *const *objects, unsigned int n)
{
	(void)mempool;
	(void)objects;
	(void)n;
	return 0;
}

/* Nobody allocates from here: a driver that tries (none should) gets nothing. */
static int
owned_dequeue(struct rte_mempool *mempool, void **objects, unsigned int n)
{
	(void)mempool;
	(void)objects;
	(void)n;
	return -ENOBUFS;
}

static unsigned int
owned_count(const struct rte_mempool *mempool)
{
	return mempool->size; /* "all free": rte_mempool_free and audits expect it */
}

static const struct rte_mempool_ops owned_ops = {
	.name = OPS_OWNED,
	.alloc = owned_alloc,
	.enqueue = owned_enqueue,
	.dequeue = owned_dequeue,
	.get_count = owned_count,
};

RTE_MEMPOOL_REGISTER_OPS(owned_ops);

static void
take_mbuf(struct rte_mempool *mempool, void *opaque, void *object, unsigned int i)
{
	struct frame_pool *pool = opaque;

	rte_pktmbuf_init(mempool, NULL, object, i);
	pool->mbufs[pool->count++] = object;
}

static uint32_t
data_room(uint32_t octets)
{
	return RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(octets, RTE_CACHE_LINE_SIZE);
}

uint32_t
frame_pool_stride(uint32_t octets)
{
	struct rte_mempool_objsz size;

	return rte_mempool_calc_obj_size((uint32_t)sizeof(struct rte_mbuf) + data_room(octets), 0,
					 &size);
}

static int
populate(struct frame_pool *pool, const char *name, uint32_t octets, int socket)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size =
							   (uint16_t)data_room(octets)};
	int code;

	pool->mempool = rte_mempool_create_empty(
		name, pool->capacity, (unsigned int)sizeof(struct rte_mbuf) + data_room(octets), 0,
		sizeof(private), socket, 0);
	if (pool->mempool == NULL)
		return -rte_errno;
	code = rte_mempool_set_ops_byname(pool->mempool, OPS_OWNED, NULL);
	if (code != 0)
		return code;
	rte_pktmbuf_pool_init(pool->mempool, &private);
	code = rte_mempool_populate_default(pool->mempool);
	if (code < 0)
		return code;
	rte_mempool_obj_iter(pool->mempool, take_mbuf, pool);
	return pool->count == pool->capacity ? 0 : -ENOMEM;
}

int
frame_pool_create(struct frame_pool **out, const char *name, uint32_t count, uint32_t octets,
		  int socket, struct error *err)
{
	struct frame_pool *pool = calloc(1, sizeof(*pool));
	int code = -ENOMEM;

	if (pool != NULL) {
		pool->capacity = count;
		pool->mbufs = calloc(count, sizeof(pool->mbufs[0]));
		if (pool->mbufs != NULL)
			code = populate(pool, name, octets, socket);
	}
	if (code != 0) {
		frame_pool_destroy(pool);
		return error_set(
			err, code, NULL,
			"no memory for %u ready frames of %u octets (%u MiB): give the engine more memory "
			"(hugepages, or -m before --) or use fewer flows",
			count, octets,
			(uint32_t)((uint64_t)count * frame_pool_stride(octets) >> 20));
	}
	*out = pool;
	return 0;
}

void
frame_pool_destroy(struct frame_pool *pool)
{
	if (pool == NULL)
		return;
	rte_mempool_free(pool->mempool);
	free(pool->mbufs);
	free(pool);
}

struct rte_mbuf **
frame_pool_mbufs(const struct frame_pool *pool)
{
	return pool->mbufs;
}
