/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop before made-up devices: every frame is fetched once, in order, as it was made; what is due is
 * handed over when it is due; the numbers add up at the end, and a worker may sleep while the ring lasts.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: worker/loop_task.h, base/loop_ring.h, docs/design/0006.
 */
#include "tests/loop_fixture.h"

#define MILLION 1000000u

/* A device that fetches now nothing, now much, until all is over; the clock goes on by 1 us a look. */
static void
send_all(struct fixture *f)
{
	uint64_t cycles = 0;

	while (look(f, cycles)) {
		consume(f, random_below(f, 3 * f->loop.descriptors / 2));
		cycles += HZ / 1000000;
		assert_true(cycles < 100 * HZ);
	}
	assert_int_equal(f->counters.frames, f->fetched);
	assert_int_equal(f->counters.octets, f->fetched_octets);
	assert_int_equal(tx_loop_changed(&f->loop), 0);
}

static void
check_million(struct fixture *f)
{
	attach(f);
	f->task.tx.limit = MILLION;
	send_all(f);
	assert_int_equal(f->fetched, MILLION);
	assert_int_equal(f->counters.frames_due, MILLION);
	assert_int_equal(f->counters.frames_unsent, 0);
}

/* 600 descriptors, so that the head comes round 1,667 times, from anywhere in the ring. */
static void
intel_sends_a_million_in_order(void **state)
{
	make_intel(*state, 200, 600, 0);
	check_million(*state);
}

static void
intel_begins_where_the_driver_ended(void **state)
{
	struct fixture *f = *state;

	make_intel(f, 200, 600, 599);
	check_million(f);
	assert_int_equal(*reg(f, TDH), (599 + MILLION) % 600);
}

/* 256 slots are no multiple of 200, and the indexes pass 65,536 fifteen times. */
static void
virtio_sends_a_million_in_order(void **state)
{
	struct fixture *f = *state;

	make_virtio(f, 200, 256, 65530);
	check_million(f);
	assert_int_equal(used(f)[1], (uint16_t)(65530 + MILLION));
	assert_int_equal(*half(f, 256 + 2 * 4), 2 * QUEUE + 1);
}

static void
virtio_with_a_lap_that_divides_the_ring(void **state)
{
	struct fixture *f = *state;
	uint16_t slots[256];

	make_virtio(f, 64, 256, 7);
	attach(f);
	memcpy(slots, avail(f) + 2, sizeof(slots));
	f->task.tx.limit = MILLION;
	send_all(f);
	assert_int_equal(f->fetched, MILLION);
	assert_memory_equal(slots, avail(f) + 2, sizeof(slots)); /* never written again */
}

static void
virtio_with_laps_of_all_kinds(void **state)
{
	static const uint32_t laps[] = {1, 3, 255, 256};

	for (size_t i = 0; i < COUNT(laps); i++) {
		struct fixture *f = *state;

		make_virtio(f, laps[i], 256, 65000);
		attach(f);
		f->task.tx.limit = 2000;
		send_all(f);
		assert_int_equal(f->fetched, 2000);
		tear_down(state);
		set_up(state);
	}
}

static void
virtio_wakes_a_device_that_sleeps_only(void **state)
{
	struct fixture *f = *state;

	make_virtio(f, 64, 256, 0);
	used(f)[0] = VIRTIO_USED_NO_NOTIFY;
	attach(f);
	look(f, 0);
	assert_int_equal(avail(f)[1], 256);
	assert_int_equal(*half(f, 256 + 2 * 4), 0);
	used(f)[0] = 0;
	consume(f, 10);
	look(f, 1);
	assert_int_equal(*half(f, 256 + 2 * 4), 2 * QUEUE + 1);
}

static void
virtio_says_how_far_where_that_was_agreed(void **state)
{
	struct fixture *f = *state;

	make_virtio(f, 64, 256, 65500);
	*reg(f, 12) = 1 | 1u << 6; /* NOTIFICATION_DATA */
	attach(f);
	look(f, 0);
	assert_int_equal(*reg(f, 256 + 2 * 4), (uint32_t)(uint16_t)(65500 + 256) << 16 | 7);
}

static void
limit_is_exact(void **state)
{
	static const uint64_t limits[] = {1, 199, 200, 599, 600, 601, 12345};

	for (size_t i = 0; i < 2 * COUNT(limits); i++) {
		struct fixture *f = *state;

		make_intel(f, 200, 600, 17);
		attach(f);
		f->task.tx.limit = limits[i % COUNT(limits)];
		if (i >= COUNT(limits)) {
			f->task.tx.schedule = TX_RATE;
			assert_true(pacing_init(&f->task.tx.pacing, (double)FPS, 0, 1, HZ));
		}
		send_all(f);
		consume(f, UINT32_MAX);
		assert_int_equal(f->fetched, limits[i % COUNT(limits)]);
		tear_down(state);
		set_up(state);
	}
}

/* Not one frame early, not one that is due left behind. */
static void
paced_hands_over_what_is_due(void **state)
{
	struct fixture *f = *state;

	make_intel(f, 200, 600, 0);
	attach(f);
	f->task.tx.schedule = TX_RATE;
	assert_true(pacing_init(&f->task.tx.pacing, (double)FPS, 0, 1, HZ));
	for (uint64_t cycles = 0; cycles < 5000 * INTERVAL; cycles += 7777) {
		look(f, cycles);
		consume(f, UINT32_MAX);
		assert_int_equal(f->fetched, (cycles + INTERVAL - 1) / INTERVAL);
		assert_int_equal(f->counters.frames_due, f->fetched);
	}
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.bursts_short, 0);
}

static void
paced_ends_with_the_traffic(void **state)
{
	struct fixture *f = *state;

	make_intel(f, 200, 600, 0);
	attach(f);
	f->task.tx.schedule = TX_RATE;
	assert_true(pacing_init(&f->task.tx.pacing, (double)FPS, 0, 1, HZ));
	f->traffic.stop_tsc = START + 1000 * INTERVAL;
	for (uint64_t cycles = 0; look(f, cycles); cycles += 5000)
		consume(f, UINT32_MAX);
	assert_int_equal(f->fetched, 1000);
	assert_int_equal(f->counters.frames, 1000);
	assert_int_equal(f->counters.frames_due, 1000);
}

/* What it was given and did not fetch is unsent, and nobody waits for ever. */
static void
standstill_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint64_t cycles = 0;

	make_intel(f, 200, 600, 0);
	attach(f);
	f->task.tx.limit = 500;
	look(f, cycles);
	consume(f, 123);
	while (look(f, cycles))
		cycles += HZ / 1000;
	assert_in_range(cycles, HZ / 10, HZ / 5);
	assert_int_equal(f->counters.frames, 123);
	assert_int_equal(f->counters.frames_unsent, 377);
	assert_int_equal(f->counters.frames_due, 500);
}

/* A head that is nowhere in what was handed over: the device was reset, or answers with ones. */
static void
head_out_of_place_counts_nothing(void **state)
{
	static const uint32_t heads[] = {UINT32_MAX, 600, 551, 599};

	for (size_t i = 0; i < COUNT(heads); i++) {
		struct fixture *f = *state;

		make_intel(f, 200, 600, 0);
		attach(f);
		f->task.tx.limit = 550;
		look(f, 0);
		*reg(f, TDH) = heads[i];
		look(f, 1000);
		assert_int_equal(f->counters.frames, 0);
		assert_int_equal(f->task.ring.in_flight, 550);
		tear_down(state);
		set_up(state);
	}
}

static void
quit_waits_for_what_was_handed_over(void **state)
{
	struct fixture *f = *state;

	make_intel(f, 200, 600, 0);
	attach(f);
	look(f, 0);
	consume(f, 599); /* after the look: nobody knows yet */
	f->traffic.stop_tsc = START + 10;
	loop_task_end(&f->task, &f->traffic, START + 20);
	assert_int_equal(f->counters.frames, 599);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(f->counters.state, TASK_DONE);
}

/* 599 frames at 1,024 cycles each: about 300 of them may pass asleep. */
static void
unpaced_sleeps_while_the_ring_lasts(void **state)
{
	struct fixture *f = *state;
	uint64_t until;

	make_intel(f, 200, 600, 0);
	attach(f);
	look(f, 0);
	for (uint64_t cycles = 100 * INTERVAL; cycles < 2000 * INTERVAL; cycles += 100 * INTERVAL) {
		consume(f, 100);
		look(f, cycles);
		until = loop_task_sleeps_until(&f->task, &f->traffic, START + cycles, 1000);
		assert_in_range(until - START - cycles, 298 * INTERVAL, 300 * INTERVAL);
	}
}

/* A ring that ran dry is looked at sooner, in the end without any sleep. */
static void
dry_ring_shortens_the_sleep(void **state)
{
	struct fixture *f = *state;
	uint64_t cycles = 0, pause = UINT64_MAX, until;

	make_intel(f, 200, 600, 0);
	attach(f);
	look(f, cycles);
	for (int i = 0; i < 20; i++) {
		cycles += RTE_MIN(pause, HZ / 1000) + HZ / 20000; /* oversleeps by 50 us */
		consume(f, UINT32_MAX);
		look(f, cycles);
		until = loop_task_sleeps_until(&f->task, &f->traffic, START + cycles, 1000);
		assert_true(until - START - cycles <= pause);
		pause = until - START - cycles;
	}
	assert_true(pause < HZ / 20000);
}

static void
paced_sleeps_until_the_next_frame(void **state)
{
	struct fixture *f = *state;

	make_intel(f, 200, 600, 0);
	attach(f);
	f->task.tx.schedule = TX_RATE;
	assert_true(pacing_init(&f->task.tx.pacing, (double)FPS, 0, 1, HZ));
	look(f, 10 * INTERVAL + 1);
	consume(f, UINT32_MAX);
	assert_int_equal(
		loop_task_sleeps_until(&f->task, &f->traffic, START + 10 * INTERVAL + 1, 10),
		START + 11 * INTERVAL);
}

/* 11 frames are sent; 299 later, half a ring is due. */
static void
paced_sleeps_for_half_a_ring_at_most(void **state)
{
	struct fixture *f = *state;
	uint64_t now = START + 10 * INTERVAL + 1;

	make_intel(f, 200, 600, 0);
	attach(f);
	f->task.tx.schedule = TX_RATE;
	assert_true(pacing_init(&f->task.tx.pacing, (double)FPS, 0, 1, HZ));
	look(f, 10 * INTERVAL + 1);
	consume(f, UINT32_MAX);
	assert_int_equal(loop_task_sleeps_until(&f->task, &f->traffic, now, 100 * INTERVAL),
			 now + 100 * INTERVAL);
	assert_int_equal(loop_task_sleeps_until(&f->task, &f->traffic, now, 1000 * INTERVAL),
			 START + (11 + 299) * INTERVAL);
}

static void
changed_descriptors_are_counted(void **state)
{
	struct fixture *f = *state;

	make_intel(f, 200, 600, 0);
	attach(f);
	assert_int_equal(tx_loop_changed(&f->loop), 0);
	f->memory[5 * 16 + 12] ^= 1; /* as a device that reports does (DD) */
	f->memory[599 * 16] ^= 1;
	f->memory[599 * 16 + 1] ^= 1;
	assert_int_equal(tx_loop_changed(&f->loop), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(intel_sends_a_million_in_order),
		TEST(intel_begins_where_the_driver_ended),
		TEST(virtio_sends_a_million_in_order),
		TEST(virtio_with_a_lap_that_divides_the_ring),
		TEST(virtio_with_laps_of_all_kinds),
		TEST(virtio_wakes_a_device_that_sleeps_only),
		TEST(virtio_says_how_far_where_that_was_agreed),
		TEST(limit_is_exact),
		TEST(paced_hands_over_what_is_due),
		TEST(paced_ends_with_the_traffic),
		TEST(standstill_is_noticed),
		TEST(head_out_of_place_counts_nothing),
		TEST(quit_waits_for_what_was_handed_over),
		TEST(unpaced_sleeps_while_the_ring_lasts),
		TEST(dry_ring_shortens_the_sleep),
		TEST(paced_sleeps_until_the_next_frame),
		TEST(paced_sleeps_for_half_a_ring_at_most),
		TEST(changed_descriptors_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
