/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_pool.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#include "device/memory_node.h"

/*
 * One, not two: DPDK has room for 16 (RTE_MEMPOOL_MAX_OPS_IDX), and since 24.11 its own drivers, all of them in a
 * statically linked engine, take 15.
 */
#define OPS_OWNED "wirerate_owned"

struct frame_pool {
	struct rte_mempool *mempool;
	struct rte_mbuf **mbufs;
	const uint16_t *octets; /* of each frame; the caller's, during creation only */
	uint32_t capacity;
	uint32_t count; /* mbufs recorded */
	uint32_t octets_max;
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

static uint32_t
data_room(uint32_t octets)
{
	return RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(octets, RTE_CACHE_LINE_SIZE);
}

uint32_t
frame_pool_stride(uint32_t octets)
{
	return RTE_CACHE_LINE_ROUNDUP(sizeof(struct rte_mempool_objhdr)) +
	       (uint32_t)sizeof(struct rte_mbuf) + data_room(octets);
}

/*
 * What the pool's last `count` objects take. None may cross the end of a page, so each page loses less than the largest;
 * the memory may begin anywhere in a page.
 */
static ssize_t
owned_mem_size(const struct rte_mempool *mempool, uint32_t count, uint32_t page_shift,
	       size_t *chunk_min, size_t *align)
{
	const struct frame_pool *pool = mempool->pool_config;
	size_t octets = 0, largest = frame_pool_stride(pool->octets_max), page, pages;

	for (uint32_t i = pool->capacity - count; i < pool->capacity; i++)
		octets += frame_pool_stride(pool->octets[i]);
	*chunk_min = largest;
	*align = RTE_CACHE_LINE_SIZE;
	if (page_shift == 0)
		return (ssize_t)octets;
	page = (size_t)1 << page_shift;
	pages = octets / (page - largest) + 2;
	return (ssize_t)(octets + pages * largest);
}

/* Lay objects of different sizes into a piece of memory, none across the end of a page. */
static int
owned_populate(struct rte_mempool *mempool, unsigned int objects_max, void *memory, rte_iova_t iova,
	       size_t octets, rte_mempool_populate_obj_cb_t *add, void *add_arg)
{
	const struct frame_pool *pool = mempool->pool_config;
	const uint16_t *lengths = &pool->octets[pool->capacity - objects_max];
	size_t page = 0, offset = 0;
	unsigned int n;

	if (rte_mempool_get_page_size(mempool, &page) != 0)
		return -EINVAL;
	for (n = 0; n < objects_max; n++) {
		size_t stride = frame_pool_stride(lengths[n]);
		uintptr_t at = (uintptr_t)memory + offset;

		if (page > 0 && at / page != (at + stride - 1) / page)
			offset = RTE_ALIGN_CEIL(at, page) - (uintptr_t)memory;
		if (offset + stride > octets)
			break;
		add(mempool, add_arg, (char *)memory + offset + mempool->header_size,
		    iova == RTE_BAD_IOVA ? iova : iova + offset + mempool->header_size);
		offset += stride;
	}
	return (int)n;
}

static const struct rte_mempool_ops owned_ops = {
	.name = OPS_OWNED,
	.alloc = owned_alloc,
	.enqueue = owned_enqueue,
	.dequeue = owned_dequeue,
	.get_count = owned_count,
	.calc_mem_size = owned_mem_size,
	.populate = owned_populate,
};

RTE_MEMPOOL_REGISTER_OPS(owned_ops);

static void
take_mbuf(struct rte_mempool *mempool, void *opaque, void *object, unsigned int i)
{
	struct frame_pool *pool = opaque;
	struct rte_mbuf *mbuf = object;

	rte_pktmbuf_init(mempool, NULL, object, i);
	mbuf->buf_len = (uint16_t)data_room(pool->octets[i]);
	pool->mbufs[pool->count++] = mbuf;
}

static int
populate(struct frame_pool *pool, const char *name, int socket)
{
	uint32_t room = data_room(pool->octets_max);
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = (uint16_t)room};
	/* Ordinary pages are never given to a device, so frames may cross them. */
	unsigned int flags = rte_eal_has_hugepages() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	int code;

	pool->mempool = rte_mempool_create_empty(name, pool->capacity,
						 (unsigned int)sizeof(struct rte_mbuf) + room, 0,
						 sizeof(private), socket, flags);
	if (pool->mempool == NULL)
		return -rte_errno;
	code = rte_mempool_set_ops_byname(pool->mempool, OPS_OWNED, pool);
	if (code != 0)
		return code;
	rte_pktmbuf_pool_init(pool->mempool, &private);
	code = rte_mempool_populate_default(pool->mempool);
	if (code < 0)
		return code;
	rte_mempool_obj_iter(pool->mempool, take_mbuf, pool);
	return pool->count == pool->capacity ? 0 : -ENOMEM;
}

static uint64_t
sum_of_strides(const uint16_t *octets, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += frame_pool_stride(octets[i]);
	return sum;
}

int
frame_pool_create(struct frame_pool **out, const char *name, const uint16_t *octets, uint32_t count,
		  int socket, struct error *err)
{
	struct frame_pool *pool = calloc(1, sizeof(*pool));
	int code = -ENOMEM;

	if (pool != NULL) {
		pool->capacity = count;
		pool->octets = octets;
		for (uint32_t i = 0; i < count; i++)
			pool->octets_max = RTE_MAX(pool->octets_max, octets[i]);
		pool->mbufs = calloc(count, sizeof(pool->mbufs[0]));
		if (pool->mbufs != NULL) {
			memory_node_prefer(socket);
			code = populate(pool, name, socket);
			memory_node_prefer(-1);
		}
		pool->octets = NULL;
	}
	if (code != 0) {
		frame_pool_destroy(pool);
		return error_set(
			err, code, NULL,
			"no memory for %u ready frames (%u MiB): give the engine more memory "
			"(hugepages, or -m before --), or send fewer different frames",
			count, (uint32_t)(sum_of_strides(octets, count) >> 20) + 1);
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

uint64_t
frame_pool_nodes(const struct frame_pool *pool)
{
	return pool == NULL ? 0 : memory_nodes_of_pool(pool->mempool);
}

struct rte_mbuf **
frame_pool_mbufs(const struct frame_pool *pool)
{
	return pool->mbufs;
}
