/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop task before a made-up device, on a clock that the test turns.
 *
 * Included by the tests of the loop, once each. EAL is not needed.
 */
#ifndef WR_TESTS_LOOP_FIXTURE_H
#define WR_TESTS_LOOP_FIXTURE_H

#include "tests/loop_consumer.h"

#define HZ (UINT64_C(1) << 30)
#define FPS (UINT64_C(1) << 20)
#define INTERVAL 1024u /* [cycles] */
#define START 1000000u /* [cycles] */

static inline void
make_task(struct fixture *f)
{
	f->task = (struct loop_task){
		.tx = {.frames = f->frames,
		       .octets_before = f->octets_before,
		       .ring_length = f->loop.frames,
		       .burst = (uint16_t)f->loop.ring.capacity,
		       .limit = UINT64_MAX,
		       .limit_cycles = UINT64_MAX,
		       .duration_cycles = UINT64_MAX,
		       .window_frames = UINT64_MAX,
		       .window_cycles = HZ / 100,
		       .counters = &f->counters},
		.ring = f->loop.ring,
		.standstill_cycles = HZ / 10,
		.pause_cycles_min = HZ / 100000,
		.pause_cycles_max = HZ / 50,
	};
}

static inline void
attach(struct fixture *f)
{
	struct error err = {0};
	struct virtio_registers registers = {.common = f->registers,
					     .notify = f->registers + 256,
					     .notify_octets = 256,
					     .notify_multiplier = 4};
	int code = f->virtio ? tx_loop_virtio_check(&f->loop, &registers, &err)
			     : tx_loop_check_registers(&f->loop, &place, &err);

	if (code == 0)
		code = tx_loop_check_frames(&f->loop, f->frames, f->loop.frames, &err);
	if (code == 0)
		code = tx_loop_fill(&f->loop, f->frames, &err);
	if (code != 0)
		fail_msg("%s", err.text);
	make_task(f);
}

static int
set_up(void **state)
{
	struct fixture *f =
		aligned_alloc(COUNTERS_ALIGN, RTE_ALIGN_CEIL(sizeof(*f), COUNTERS_ALIGN));

	if (f == NULL)
		return -1;
	memset(f, 0, sizeof(*f));
	f->traffic.start_tsc = START;
	f->traffic.stop_tsc = UINT64_MAX;
	f->random = 1;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	free(f->loop.written);
	free(f->loop.own);
	free(f);
	return 0;
}

/* xorshift64 (Marsaglia 2003) */
static inline uint32_t
random_below(struct fixture *f, uint32_t limit)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return (uint32_t)(f->random % limit);
}

/* One look of the worker, `cycles` after the start; false when the task is over. */
static inline bool
look(struct fixture *f, uint64_t cycles)
{
	if (f->counters.state == TASK_DONE)
		return false;
	counter_set(&f->counters.state, TASK_ACTIVE);
	loop_task_poll(&f->task, &f->traffic, START + cycles);
	assert_true(f->task.ring.in_flight <= f->task.ring.capacity);
	return f->counters.state != TASK_DONE;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
