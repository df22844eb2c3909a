/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool of mbufs that belong to streams for good: what a driver does to it changes nothing.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: program/frame_pool.h.
 */
#include "tests/eal_fixture.h"

#include <sys/mman.h>

#include "device/memory_node.h"
#include "program/frame_pool.h"
#include "edit/ready_frame.h"

enum { MBUFS = 1000 };

/* `count` frames of the same size. */
static int
try_to_create(struct frame_pool **pool, const char *name, uint32_t count, uint32_t octets,
	      struct error *err)
{
	uint16_t *sizes = calloc(count, sizeof(sizes[0]));
	int code;

	assert_non_null(sizes);
	for (uint32_t i = 0; i < count; i++)
		sizes[i] = (uint16_t)octets;
	code = frame_pool_create(pool, name, sizes, count, SOCKET_ID_ANY, err);
	free(sizes);
	return code;
}

static struct frame_pool *
create(uint32_t count, uint32_t octets)
{
	static unsigned int number;
	struct frame_pool *pool = NULL;
	struct error err = {0};
	char name[32];

	snprintf(name, sizeof(name), "pool%u", number++);
	if (try_to_create(&pool, name, count, octets, &err) != 0)
		fail_msg("%s", err.text);
	return pool;
}

static void
every_mbuf_is_there_once(void **state)
{
	static const uint32_t counts[] = {1, 2, 63, 64, 511, 512, 513, 4096};

	(void)state;
	for (size_t c = 0; c < COUNT(counts); c++) {
		struct frame_pool *pool = create(counts[c], OCTETS_MIN);
		struct rte_mbuf **mbufs = frame_pool_mbufs(pool);

		for (uint32_t i = 1; i < counts[c]; i++)
			assert_true((uintptr_t)mbufs[i] >=
				    (uintptr_t)mbufs[i - 1] + sizeof(struct rte_mbuf));
		assert_int_equal(rte_mempool_avail_count(mbufs[0]->pool), counts[c]);
		frame_pool_destroy(pool);
	}
	frame_pool_destroy(NULL);
}

static void
mbufs_are_ready_to_be_written(void **state)
{
	static const uint32_t sizes[] = {OCTETS_MIN, 64,   65,
					 1514,       9014, CONFIG_TEMPLATE_OCTETS_MAX};

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct frame_pool *pool = create(100, sizes[s]);

		for (unsigned int i = 0; i < 100; i++) {
			struct rte_mbuf *mbuf = frame_pool_mbufs(pool)[i];
			const char *reason;

			assert_int_equal(rte_mbuf_check(mbuf, 1, &reason), 0);
			assert_int_equal(rte_mbuf_refcnt_read(mbuf), 1);
			assert_int_equal(mbuf->nb_segs, 1);
			assert_null(mbuf->next);
			assert_int_equal(rte_pktmbuf_headroom(mbuf), RTE_PKTMBUF_HEADROOM);
			assert_true(rte_pktmbuf_tailroom(mbuf) >= sizes[s]);
			memset(rte_pktmbuf_mtod(mbuf, void *), (int)i, sizes[s]);
		}
		for (unsigned int i = 0; i < 100; i++) /* they do not overlap */
			assert_int_equal(*rte_pktmbuf_mtod(frame_pool_mbufs(pool)[i], uint8_t *),
					 i);
		frame_pool_destroy(pool);
	}
}

/* Small beside large: each has its own room, and what they take together is the sum. */
static void
frames_of_many_sizes_lie_side_by_side(void **state)
{
	enum { FRAMES = 3000 };
	static uint16_t sizes[FRAMES];
	struct frame_pool *pool = NULL;
	struct error err = {0};
	uint64_t seed = 1, strides = 0;
	struct rte_mbuf **mbufs;

	(void)state;
	for (uint32_t i = 0; i < FRAMES; i++) {
		sizes[i] = (uint16_t)(OCTETS_MIN + random_next(&seed) % 9000);
		strides += frame_pool_stride(sizes[i]);
	}
	assert_int_equal(frame_pool_create(&pool, "sizes", sizes, FRAMES, SOCKET_ID_ANY, &err), 0);
	mbufs = frame_pool_mbufs(pool);
	for (uint32_t i = 0; i < FRAMES; i++) {
		assert_in_range(rte_pktmbuf_tailroom(mbufs[i]), sizes[i],
				sizes[i] + RTE_CACHE_LINE_SIZE - 1);
		assert_ptr_equal(rte_pktmbuf_mtod(mbufs[i], uint8_t *), ready_frame_data(mbufs[i]));
		memset(rte_pktmbuf_mtod(mbufs[i], void *), (int)i & 0xff, sizes[i]);
	}
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint8_t *octets = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		assert_int_equal(octets[0], i & 0xff);
		assert_int_equal(octets[sizes[i] - 1], i & 0xff);
		assert_int_equal(rte_mbuf_refcnt_read(mbufs[i]), 1);
	}
	assert_true((uintptr_t)mbufs[FRAMES - 1] - (uintptr_t)mbufs[0] < strides + (4u << 20));
	frame_pool_destroy(pool);
}

/* An mbuf as a driver gets it, to be compared with what is left of it afterwards. */
static struct rte_mbuf
prepare(struct rte_mbuf *mbuf, uint32_t number)
{
	rte_be32_t octets = rte_cpu_to_be_32(number);

	mbuf->data_len = OCTETS_MIN;
	mbuf->pkt_len = OCTETS_MIN;
	memcpy(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, NUMBER_OFFSET), &octets, sizeof(octets));
	return *mbuf;
}

static void
check_unchanged(struct rte_mbuf **mbufs, const struct rte_mbuf *before)
{
	for (uint32_t i = 0; i < MBUFS; i++) {
		assert_memory_equal(mbufs[i], &before[i], sizeof(before[i]));
		assert_int_equal(number_of(mbufs[i]), i);
	}
}

/* Drivers free one by one, in bulk, or put whole arrays back into the pool. */
static void
frees_change_nothing(void **state)
{
	static struct rte_mbuf before[MBUFS];
	static struct rte_mbuf *order[MBUFS];
	struct frame_pool *pool = create(MBUFS, OCTETS_MIN);
	struct rte_mbuf **mbufs = frame_pool_mbufs(pool);

	(void)state;
	for (uint32_t i = 0; i < MBUFS; i++) {
		before[i] = prepare(mbufs[i], i);
		order[i] = mbufs[i];
	}
	for (unsigned int lap = 0; lap < 1000; lap++) {
		for (unsigned int i = 0; i < MBUFS; i++)
			rte_pktmbuf_free(mbufs[i]);
		for (unsigned int i = 0; i < MBUFS; i++)
			rte_pktmbuf_free_seg(mbufs[i]);
		rte_pktmbuf_free_bulk(mbufs, MBUFS);
		rte_mempool_put_bulk(mbufs[0]->pool, (void **)mbufs, MBUFS);
		for (unsigned int i = 0; i < 1000; i++)
			rte_mbuf_raw_free(mbufs[0]); /* one frame in flight many times */
	}
	assert_memory_equal(mbufs, order, sizeof(order));
	check_unchanged(mbufs, before);
	assert_int_equal(rte_mempool_avail_count(mbufs[0]->pool), MBUFS);
	frame_pool_destroy(pool);
}

static void
nobody_allocates_from_it(void **state)
{
	struct frame_pool *pool = create(MBUFS, OCTETS_MIN);
	struct rte_mempool *mempool = frame_pool_mbufs(pool)[0]->pool;
	struct rte_mbuf *mbufs[2];

	(void)state;
	assert_null(rte_pktmbuf_alloc(mempool));
	assert_int_not_equal(rte_pktmbuf_alloc_bulk(mempool, mbufs, 2), 0);
	frame_pool_destroy(pool);
}

static void
stride_is_what_a_frame_takes(void **state)
{
	struct frame_pool *pool = create(64, OCTETS_MIN);
	struct rte_mbuf **mbufs = frame_pool_mbufs(pool);
	uint32_t stride = frame_pool_stride(OCTETS_MIN);

	(void)state;
	assert_int_equal((uintptr_t)mbufs[1] - (uintptr_t)mbufs[0], stride);
	assert_true(stride >= sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + OCTETS_MIN);
	assert_true(frame_pool_stride(1514) >= stride + 1514 - OCTETS_MIN - RTE_CACHE_LINE_SIZE);
	frame_pool_destroy(pool);
}

static void
no_memory_says_how_much_was_asked(void **state)
{
	struct frame_pool *pool = NULL;
	struct error err = {0};
	char mib[32];

	(void)state;
	snprintf(mib, sizeof(mib), "(%u MiB)",
		 (unsigned int)((100000ull * frame_pool_stride(1514)) >> 20) + 1);
	assert_int_equal(try_to_create(&pool, "large", 100000, 1514, &err), -ENOMEM);
	assert_null(pool);
	assert_int_equal(err.code, -ENOMEM);
	assert_non_null(strstr(err.text, "100000 ready frames"));
	assert_non_null(strstr(err.text, mib));
	assert_non_null(strstr(err.text, "or send fewer different frames"));
	pool = create(1000, 1514); /* what was had so far has been given back */
	frame_pool_destroy(pool);
	assert_int_equal(try_to_create(&pool, "large", 100, 1514, &err), 0);
	frame_pool_destroy(pool);
}

static void
a_name_is_used_once(void **state)
{
	struct frame_pool *first, *second = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(try_to_create(&first, "twice", 64, OCTETS_MIN, &err), 0);
	assert_int_equal(try_to_create(&second, "twice", 64, OCTETS_MIN, &err), -EEXIST);
	assert_null(second);
	rte_pktmbuf_free(frame_pool_mbufs(first)[0]); /* the first is as before */
	frame_pool_destroy(first);
}

static void
it_is_known_where_its_memory_is(void **state)
{
	struct frame_pool *pool = create(MBUFS, 60);
	char touched = 1;
	void *address = &touched;
	uint64_t all = memory_nodes_of(&address, 1); /* 0 where the kernel does not tell */

	(void)state;
	assert_int_equal(frame_pool_nodes(pool) != 0, all != 0);
	assert_int_equal(frame_pool_nodes(NULL), 0);
	frame_pool_destroy(pool);
}

/* Fresh pages come from the node that was asked for, and no longer once that is taken back. */
static void
a_node_may_be_preferred(void **state)
{
	enum { PAGE = 4096 };
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *first = pages;
	uint64_t nodes;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	memory_node_prefer(0); /* every machine has it */
	pages[0] = 1;
	memory_node_prefer(MEMORY_NODES_MAX); /* beyond: as at the start */
	memory_node_prefer(-1);
	pages[PAGE] = 1;
	nodes = memory_nodes_of(&first, 1);
	assert_true(nodes == 1 || nodes == 0);
	munmap(pages, 2 * PAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mbuf_is_there_once),
		cmocka_unit_test(mbufs_are_ready_to_be_written),
		cmocka_unit_test(frames_of_many_sizes_lie_side_by_side),
		cmocka_unit_test(frees_change_nothing),
		cmocka_unit_test(nobody_allocates_from_it),
		cmocka_unit_test(stride_is_what_a_frame_takes),
		cmocka_unit_test(no_memory_says_how_much_was_asked),
		cmocka_unit_test(a_name_is_used_once),
		cmocka_unit_test(it_is_known_where_its_memory_is),
		cmocka_unit_test(a_node_may_be_preferred),
	};

	return cmocka_run_group_tests_name("frame_pool", tests, eal_up, eal_down);
}
