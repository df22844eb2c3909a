/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One tx task before a device that takes as many frames per call as it is told, on a clock that the test turns. Every
 * call checks what must hold at any moment. One frame is due every 1024 cycles of the whole stream, exactly.
 *
 * Included by the tests of worker/tx_task.h, once each. The device is an entry in rte_eth_fp_ops[], without EAL.
 */
#ifndef WR_TESTS_TX_TASK_FIXTURE_H
#define WR_TESTS_TX_TASK_FIXTURE_H

#include "tests/test_support.h"

#include "worker/tx_task.h"

#define HZ (UINT64_C(1) << 30)
#define FPS (UINT64_C(1) << 20)
#define INTERVAL 1024u /* [cycles] */
#define START 1000000u /* [cycles] long ago, so that rte_rdtsc() is always later */

enum {
	RING = 100,
	BURST = 32,
	WINDOW_FRAMES = 200,
	WINDOW_CYCLES = WINDOW_FRAMES * INTERVAL,
	PORT = 3
};

struct fixture {
	struct tx_task task;
	struct tx_counters counters;
	struct traffic traffic;
	struct rte_mbuf mbufs[RING];
	struct rte_mbuf *frames[RING + BURST];
	uint64_t octets_before[RING + BURST + 1];
	struct tx_batch batch;
	bool paced;
	uint16_t room;   /* frames that the device takes in one call */
	uint64_t left;   /* and in all */
	uint64_t calls;  /* of the device */
	uint64_t shorts; /* calls in which it took less than offered */
	uint64_t useful; /* calls in which it took something */
	uint64_t frames_taken;
	uint64_t octets_taken;
};

/* Frame n of the task is frame n mod RING of the ring, sent or not; of frames that are written, the n-th that is sent. */
static inline uint64_t
place_of(const struct fixture *f)
{
	return f->task.written ? f->frames_taken : f->task.done;
}

static uint16_t
device_tx(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct fixture *f = queue;
	uint16_t taken = (uint16_t)RTE_MIN(f->left, (uint64_t)RTE_MIN(count, f->room));
	uint64_t place = place_of(f);

	assert_in_range(count, 1, f->task.burst);
	for (uint16_t i = 0; i < count; i++)
		assert_ptr_equal(mbufs[i], &f->mbufs[(place + i) % f->task.ring_length]);
	for (uint16_t i = 0; i < taken; i++)
		f->octets_taken += mbufs[i]->pkt_len + 4;
	f->calls++;
	f->left -= taken;
	f->shorts += taken < count;
	f->useful += taken > 0;
	f->frames_taken += taken;
	return taken;
}

static void
plug_device(struct fixture *f)
{
	static void *queues[1], *callbacks[1];

	queues[0] = f;
	rte_eth_fp_ops[PORT].tx_pkt_burst = device_tx;
	rte_eth_fp_ops[PORT].txq.data = queues;
	rte_eth_fp_ops[PORT].txq.clbk = callbacks;
}

static int
set_up(void **state)
{
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, sizeof(*f));

	if (f == NULL)
		return -1;
	memset(f, 0, sizeof(*f));
	for (uint32_t i = 0; i < RING + BURST; i++) {
		f->frames[i] = &f->mbufs[i % RING];
		f->frames[i]->pkt_len =
			60 + i % RING; /* sizes differ, so that octets tell frames apart */
		f->octets_before[i + 1] = f->octets_before[i] + f->frames[i]->pkt_len + 4;
	}
	f->task = (struct tx_task){.frames = f->frames,
				   .octets_before = f->octets_before,
				   .ring_length = RING,
				   .port_id = PORT,
				   .burst = BURST,
				   .limit = UINT64_MAX,
				   .limit_cycles = UINT64_MAX,
				   .duration_cycles = UINT64_MAX,
				   .window_frames = UINT64_MAX,
				   .window_cycles = WINDOW_CYCLES,
				   .counters = &f->counters};
	f->traffic.start_tsc = START;
	f->traffic.stop_tsc = UINT64_MAX;
	f->room = UINT16_MAX;
	f->left = UINT64_MAX;
	tx_batch_init(&f->batch, 1, 0);
	plug_device(f);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	free(*state);
	return 0;
}

static inline void
make_paced(struct fixture *f, uint32_t part, uint32_t parts)
{
	f->paced = true;
	f->task.schedule = TX_RATE;
	f->task.window_frames = WINDOW_FRAMES;
	assert_true(pacing_init(&f->task.pacing, (double)FPS, part, parts, HZ));
}

/* Frames due until `cycles` after the start, when all frames of the stream are this task's. */
static inline uint64_t
due_after(const struct fixture *f, uint64_t cycles)
{
	uint64_t stop = f->traffic.stop_tsc - START;

	cycles = RTE_MIN(cycles, stop);
	return RTE_MIN((cycles + INTERVAL - 1) / INTERVAL, f->task.limit);
}

static inline void
check_counters(const struct fixture *f)
{
	assert_int_equal(f->counters.frames, f->frames_taken);
	assert_int_equal(f->counters.octets, f->octets_taken);
	assert_int_equal(f->counters.bursts, f->useful);
	assert_int_equal(f->counters.bursts_short, f->shorts);
	assert_int_equal(f->task.done, f->counters.frames + f->counters.frames_unsent);
	assert_int_equal(f->task.position, place_of(f) % f->task.ring_length);
	assert_true(f->task.done <= f->task.limit);
}

/* One look of the worker at the task, `cycles` after the start; false when the task is over. */
static inline bool
look(struct fixture *f, uint64_t cycles)
{
	uint64_t now = START + cycles, calls = f->calls + f->batch.bursts;

	if (f->counters.state == TASK_DONE)
		return false;
	counter_set(&f->counters.state, TASK_ACTIVE);
	if (f->paced)
		tx_task_poll(&f->task, &f->traffic, now, true, NULL);
	else
		tx_task_poll(&f->task, &f->traffic, now, false, &f->batch);
	assert_true(f->calls <= calls);
	check_counters(f);
	return f->counters.state != TASK_DONE;
}

/* Look every `step` cycles from..to; how the time after the last look is called. */
static inline uint64_t
run(struct fixture *f, uint64_t from, uint64_t to, uint64_t step)
{
	while (from < to) {
		look(f, from);
		if (f->paced)
			assert_true(f->task.done <= due_after(f, from));
		from += step;
	}
	return from;
}

static inline uint64_t
histogram_sum(const uint64_t *histogram)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < HISTOGRAM_WORDS; i++)
		sum += histogram[i];
	return sum;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
