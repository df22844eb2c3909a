/* SPDX-License-Identifier: BSD-3-Clause */
/* A measuring task with one flow, and frames to stamp: for tests of what a receiver makes of them. */
#ifndef WR_TESTS_MEASURE_FIXTURE_H
#define WR_TESTS_MEASURE_FIXTURE_H

#include "tests/eal_fixture.h"

#include "protocol/stamp.h"
#include "measure/rx_measure.h"
#include "edit/tx_stamp.h"

enum { FRAMES = 256, FRAME = 64, MAGIC = 0x5752, STREAM = 7, BURST_MAX = 64 };

struct fixture {
	struct rte_mempool *pool;
	struct rte_mbuf *mbufs[FRAMES];
	uint16_t index_of[UINT16_MAX + 1];
	struct flow_state *flow;
	struct flow_counters *counters;
	struct rx_counters rx;
	struct measure measure;
};

static int
set_up(void **state)
{
	static unsigned int number;
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, sizeof(*f));
	char name[32];

	snprintf(name, sizeof(name), "measure%u", number++);
	memset(f, 0, sizeof(*f));
	f->pool = rte_pktmbuf_pool_create(name, 2 * FRAMES - 1, 0, 0, 2048, SOCKET_ID_ANY);
	f->flow = aligned_alloc(COUNTERS_ALIGN, sizeof(*f->flow));
	f->counters = aligned_alloc(COUNTERS_ALIGN, sizeof(*f->counters));
	memset(f->flow, 0, sizeof(*f->flow));
	memset(f->counters, 0, sizeof(*f->counters));
	memset(f->index_of, 0xff, sizeof(f->index_of));
	f->index_of[STREAM] = 0;
	f->measure = (struct measure){
		.magic = MAGIC, .index_of = f->index_of, .flows = f->flow, .counters = f->counters};
	for (uint32_t i = 0; i < FRAMES; i++) {
		f->mbufs[i] = rte_pktmbuf_alloc(f->pool);
		memset(rte_pktmbuf_append(f->mbufs[i], FRAME), 0, FRAME);
	}
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	rte_pktmbuf_free_bulk(f->mbufs, FRAMES);
	rte_mempool_free(f->pool);
	free(f->flow);
	free(f->counters);
	free(f);
	return 0;
}

/* Stamp frame i as number `sequence`, departing at `clock`. */
static void
stamp_one(struct fixture *f, uint32_t i, uint64_t sequence, uint64_t clock)
{
	struct tx_stamp stamp = {MAGIC, STREAM};

	tx_stamp_write(&stamp, &f->mbufs[i], sequence, 1, clock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
