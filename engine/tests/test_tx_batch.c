/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several bursts between two readings of the clock: nothing sent is counted differently for it, all tasks have equal
 * turns, and the end of traffic, a full device and a slow one end a batch.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: schedule/tx_batch.h, worker/tx_task.h.
 */
#include "tests/tx_task_fixture.h"

enum { BATCH = 8 };

static int
set_up_batch(void **state)
{
	int code = set_up(state);
	struct fixture *f = *state;

	if (code != 0)
		return code;
	tx_batch_init(&f->batch, BATCH, 1000000);
	f->batch.bursts = BATCH;
	return 0;
}

static void
a_batch_is_counted_to_the_frame(void **state)
{
	struct fixture *f = *state;

	for (uint64_t looks = 1; looks <= 50; looks++) {
		look(f, looks);
		assert_int_equal(f->calls, looks * BATCH);
		assert_int_equal(f->frames_taken, looks * BATCH * BURST);
	}
	assert_int_equal(f->counters.first_tsc, START + 1);
	assert_int_equal(f->counters.bursts_short, 0);
}

/* The histogram has an entry for each burst: the mean of its batch. */
static void
each_burst_has_its_entry(void **state)
{
	struct fixture *f = *state;
	uint64_t entries = 0;

	look(f, 10);
	assert_int_equal(histogram_sum(f->counters.burst_cycles), BATCH);
	for (unsigned int i = 0; i < HISTOGRAM_WORDS; i++)
		entries += f->counters.burst_cycles[i] > 0;
	assert_int_equal(entries, 1);
	assert_int_equal(
		f->counters.burst_cycles[histogram_bucket(f->counters.busy_cycles / BATCH)], BATCH);
}

static void
a_batch_ends_at_the_limit(void **state)
{
	static const uint64_t limits[] = {1, 31, 32, 33, 255, 256, 257, 1000};

	for (size_t i = 0; i < COUNT(limits); i++) {
		struct fixture *f = *state;

		f->task.limit = limits[i];
		run(f, 0, 100, 1);
		assert_int_equal(f->frames_taken, limits[i]);
		assert_int_equal(f->calls, (limits[i] + BURST - 1) / BURST);
		assert_int_equal(f->counters.frames_due, limits[i]);
		assert_int_equal(f->counters.frames_unsent, 0);
		assert_int_equal(f->counters.state, TASK_DONE);
		tear_down(state);
		set_up_batch(state);
	}
}

/* Wherever the device is full within a batch: it is asked no more, and what it took is counted. */
static void
a_full_device_ends_the_batch(void **state)
{
	for (uint64_t room = 1; room < BATCH * BURST; room += 7) {
		struct fixture *f = *state;

		f->left = room;
		look(f, 10);
		assert_int_equal(f->frames_taken, room);
		assert_int_equal(f->calls, room / BURST + 1);
		assert_int_equal(f->counters.bursts_short, 1);
		assert_int_equal(f->batch.bursts, 1);
		f->left = UINT64_MAX;
		look(f, 11);
		assert_int_equal(f->frames_taken, room + BURST);
		assert_int_equal(f->counters.frames_unsent, 0);
		tear_down(state);
		set_up_batch(state);
	}
}

/* A device that took frames a moment ago does not stand still since the batch began. */
static void
standing_still_begins_after_what_was_taken(void **state)
{
	struct fixture *f = *state;
	uint64_t before = rte_rdtsc();

	f->left = 2 * BURST;
	look(f, 10);
	assert_int_equal(f->calls, 3);
	assert_in_range(f->task.refused_since, before, rte_rdtsc());
	f->left = BURST;
	look(f, 11);
	assert_int_equal(f->task.refused_since, 0);
	look(f, 12); /* nothing is taken, and nothing was before */
	assert_int_equal(f->task.refused_since, START + 12);
	assert_int_equal(f->counters.frames_unsent, 0);
}

static uint64_t stops_after; /* calls */

static uint16_t
stopping_tx(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct fixture *f = queue;
	uint16_t taken = device_tx(queue, mbufs, count);

	if (f->calls == stops_after)
		f->traffic.stop_tsc = START + 1;
	return taken;
}

/* The control thread ends the traffic: the batch is finished, counted, and the last. */
static void
a_stop_within_a_batch(void **state)
{
	for (uint64_t calls = 1; calls <= BATCH; calls++) {
		struct fixture *f = *state;

		stops_after = BATCH + calls;
		rte_eth_fp_ops[PORT].tx_pkt_burst = stopping_tx;
		assert_true(look(f, 0));
		assert_true(look(f, 1));
		assert_false(look(f, 2));
		assert_int_equal(f->frames_taken, 2 * BATCH * BURST);
		assert_int_equal(f->counters.frames_due, f->frames_taken);
		assert_int_equal(f->counters.frames_unsent, 0);
		tear_down(state);
		set_up_batch(state);
	}
}

/* A known end is not overshot by more than a burst. */
static void
near_the_end_bursts_are_single(void **state)
{
	struct fixture *f = *state;
	uint64_t end = 10 * f->batch.turn_cycles, last = end - f->batch.turn_cycles;

	f->task.duration_cycles = end;
	look(f, last - 1);
	assert_int_equal(f->calls, BATCH);
	look(f, last);
	look(f, end - 1);
	assert_int_equal(f->calls, BATCH + 2);
	assert_false(look(f, end));
	assert_int_equal(f->frames_taken, (BATCH + 2) * BURST);
}

/* How many flows a ramp has by now is asked before each burst. */
static void
a_ramp_has_no_batches(void **state)
{
	struct fixture *f = *state;
	const struct tx_span span = {START, UINT64_MAX};

	assert_int_equal(tx_batch_bursts(&f->batch, &f->task, &span, START), BATCH);
	f->task.ramp.flows = 4;
	assert_int_equal(tx_batch_bursts(&f->batch, &f->task, &span, START), 1);
}

static void
tasks_have_equal_turns(void **state)
{
	struct tx_counters counters[3] = {0};
	struct fixture *f = *state;
	struct tx_task tasks[3];

	for (unsigned int i = 0; i < COUNT(tasks); i++) {
		tasks[i] = f->task;
		tasks[i].counters = &counters[i];
		tasks[i].burst = (uint16_t)(BURST >> i);
	}
	f->batch.bursts = 1;
	for (uint64_t turn = 1; turn <= 20; turn++) {
		for (unsigned int i = 0; i < COUNT(tasks); i++) {
			f->task = tasks[i]; /* what the device compares with */
			tx_task_poll(&f->task, &f->traffic, START + turn, false, &f->batch);
			tasks[i] = f->task;
		}
		tx_batch_turn(&f->batch, 10);
		assert_int_equal(f->batch.bursts, turn < 3 ? 1u << turn : (unsigned int)BATCH);
		assert_int_equal(counters[0].bursts,
				 turn < 4 ? (UINT64_C(1) << turn) - 1 : 7 + 8 * (turn - 3));
		for (unsigned int i = 1; i < COUNT(tasks); i++)
			assert_int_equal(counters[i].bursts, counters[0].bursts);
	}
}

/* A slow device is looked after once per burst, one that was slow once has batches again. */
static void
a_long_turn_shortens_the_batch(void **state)
{
	struct tx_batch batch;

	(void)state;
	tx_batch_init(&batch, 16, 1000);
	tx_batch_turn(&batch, 10);
	assert_int_equal(batch.bursts, 1); /* nothing was sent */
	for (unsigned int bursts = 2; bursts <= 32; bursts *= 2) {
		tx_batch_end(&batch, false);
		tx_batch_turn(&batch, 500);
		assert_int_equal(batch.bursts, RTE_MIN(bursts, 16u));
	}
	tx_batch_end(&batch, false);
	tx_batch_turn(&batch, 1000);
	assert_int_equal(batch.bursts, 16);
	tx_batch_turn(&batch, 2000);
	assert_int_equal(batch.bursts, 8);
	tx_batch_turn(&batch, UINT64_C(1) << 40);
	assert_int_equal(batch.bursts, 1);
	tx_batch_end(&batch, false);
	tx_batch_turn(&batch, 501); /* two would take too long */
	assert_int_equal(batch.bursts, 1);
	tx_batch_init(&batch, 1, 1000);
	tx_batch_end(&batch, false);
	tx_batch_turn(&batch, 1);
	assert_int_equal(batch.bursts, 1);
}

#define BATCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_batch, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BATCH_TEST(a_batch_is_counted_to_the_frame),
		BATCH_TEST(each_burst_has_its_entry),
		BATCH_TEST(a_batch_ends_at_the_limit),
		BATCH_TEST(a_full_device_ends_the_batch),
		BATCH_TEST(standing_still_begins_after_what_was_taken),
		BATCH_TEST(a_stop_within_a_batch),
		BATCH_TEST(near_the_end_bursts_are_single),
		BATCH_TEST(a_ramp_has_no_batches),
		BATCH_TEST(tasks_have_equal_turns),
		BATCH_TEST(a_long_turn_shortens_the_batch),
	};

	return cmocka_run_group_tests_name("tx_batch", tests, NULL, NULL);
}
