/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a flow's frames: order and duplicates are those of a slow reference, what the sender cannot have stamped
 * is told apart, and copies at several receivers are counted.
 *
 * Run by `meson test`; DPDK's inline functions and mempools without hugepages or devices. Source: measure/flow_order.h,
 * measure/flow_copies.h, docs/design/0005-measurement.md.
 */
#include "tests/measure_fixture.h"

/* What a receiver should say, kept without windows or wrap. */
struct reference {
	bool seen[1 << 17];
	uint64_t next;
	uint64_t duplicates, reordered;
};

static void
reference_note(struct reference *reference, uint64_t sequence)
{
	if (reference->seen[sequence]) {
		reference->duplicates++;
		return;
	}
	reference->seen[sequence] = true;
	if (sequence < reference->next)
		reference->reordered++;
	else
		reference->next = sequence + 1;
}

/* Loss, duplicates and displacements by up to 1,000 frames, across the wrap of 32 bits. */
static void
order_and_duplicates_are_exact(void **state)
{
	static struct reference reference;
	struct fixture *f = *state;
	uint64_t seed = 3, received = 0;

	memset(&reference, 0, sizeof(reference));
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t dice = random_next(&seed), sequence = i;

		if (dice % 10 == 0)
			continue; /* lost */
		if (dice % 10 == 1 && i > 1000)
			sequence = i - 1 - (dice >> 8) % 1000; /* late, or a duplicate */
		stamp_one(f, 0, sequence + UINT32_MAX - 50000, 0);
		rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
		reference_note(&reference, sequence);
		received++;
	}
	assert_int_equal(f->counters->frames, received);
	assert_int_equal(f->counters->octets, received * (FRAME + 4));
	assert_true(reference.duplicates > 1000 && reference.reordered > 100);
	assert_int_equal(f->counters->duplicates, reference.duplicates);
	assert_int_equal(f->counters->reordered, reference.reordered);
	assert_int_equal(f->counters->too_late, 0);
	assert_int_equal(f->counters->latency_count, received - reference.duplicates);
	assert_int_equal(f->rx.foreign_frames + f->rx.strange_frames, 0);
}

static void
far_too_late_is_told(void **state)
{
	struct fixture *f = *state;

	stamp_one(f, 0, 200000, 0);
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	stamp_one(f, 0, 200000 - MEASURE_WINDOW + 1, 0);
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	assert_int_equal(f->counters->reordered, 1);
	assert_int_equal(f->counters->too_late, 0);
	stamp_one(f, 0, 200000 - MEASURE_WINDOW, 0);
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, 100);
	assert_int_equal(f->counters->reordered, 2);
	assert_int_equal(f->counters->too_late, 1);
	assert_int_equal(f->counters->duplicates, 0);
}

/* --- Stamps that cannot be: the sender has not written them --- */

enum { BURST = 4 };

/* The flow's sender is known, has sent `frames`, and the traffic began at `start`. */
static void
know_sender(struct fixture *f, struct tx_counters *sender, _Atomic uint64_t *start, uint64_t frames)
{
	memset(sender, 0, sizeof(*sender));
	sender->frames = frames;
	f->flow->sender = (struct flow_sender){sender, BURST};
	f->measure.start = start;
	f->measure.skew_cycles = 100;
}

/* One frame that departs and arrives at these clocks. Returns what was new of `impossible`. */
static uint64_t
arrive(struct fixture *f, uint64_t sequence, uint64_t departure, uint64_t arrival)
{
	uint64_t before = f->counters->impossible, frames = f->counters->frames;

	stamp_one(f, 0, sequence, departure);
	rx_measure(&f->measure, &f->rx, f->mbufs, 1, arrival);
	assert_int_equal(f->counters->impossible + f->counters->frames, before + frames + 1);
	return f->counters->impossible - before;
}

/* One forged frame far ahead must not make those that follow late. */
static void
what_was_not_sent_is_impossible(void **state)
{
	_Atomic uint64_t start = 1000;
	struct fixture *f = *state;
	struct tx_counters sender;

	know_sender(f, &sender, &start, 90);
	sender.frames_unsent = 10;
	assert_int_equal(arrive(f, 100 + BURST, 2000, 3000), 1);
	assert_int_equal(arrive(f, UINT32_MAX, 2000, 3000), 1); /* before the first */
	assert_int_equal(f->flow->next, 0);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(arrive(f, i, 2000 + i, 3000), 0);
	assert_int_equal(arrive(f, 20 + (1u << 30), 2020, 3000), 1);
	assert_int_equal(arrive(f, 20 + (1u << 31), 2020, 3000), 1);
	assert_int_equal(arrive(f, 99 + BURST, 2020, 3000), 0);
	for (uint32_t i = 20; i < 30; i++)
		assert_int_equal(arrive(f, i, 2020, 3000), 0);
	assert_int_equal(f->counters->reordered, 10);
	assert_int_equal(f->counters->too_late + f->counters->duplicates, 0);
	sender.frames = 1000;
	assert_int_equal(arrive(f, 1010 + BURST, 2030, 3000), 1);
	assert_int_equal(arrive(f, 1009 + BURST, 2030, 3000), 0);
	assert_int_equal(f->counters->impossible, 5);
	assert_int_equal(f->rx.foreign_frames + f->rx.strange_frames, 0);
}

static void
impossible_times_are_no_latencies(void **state)
{
	_Atomic uint64_t start = UINT64_C(5) << 48; /* departures have 48 bits */
	struct fixture *f = *state;
	struct tx_counters sender;

	know_sender(f, &sender, &start, 100);
	assert_int_equal(arrive(f, 0, start + 500, start + 900), 0);
	assert_int_equal(arrive(f, 1, start + 1101, start + 1000), 1); /* departs after it came */
	assert_int_equal(arrive(f, 1, start + 1099, start + 1000), 0); /* so clocks may differ */
	assert_int_equal(f->counters->latency_min_cycles, 0);
	assert_int_equal(arrive(f, 2, start - 101, start + 1000), 1); /* before the start */
	assert_int_equal(arrive(f, 2, start - (1 << 20), start + 1000), 1);
	assert_int_equal(arrive(f, 2, start + (UINT64_C(1) << 47), start + 1000), 1);
	assert_int_equal(f->counters->latency_max_cycles, 400);
	assert_int_equal(f->counters->latency_count, 2);
	atomic_store(&start, UINT64_MAX); /* of the next traffic */
	assert_int_equal(arrive(f, 2, start + 2000, start + 3000), 1);
}

/* What was sent later departed later. */
static void
departures_follow_the_order_of_frames(void **state)
{
	_Atomic uint64_t start = (UINT64_C(7) << 48) - 1000; /* across the wrap of 48 bits */
	const uint64_t zero = start;
	struct fixture *f = *state;
	struct tx_counters sender;

	know_sender(f, &sender, &start, 100);
	assert_int_equal(arrive(f, 5, zero + 500, zero + 4000), 0);
	assert_int_equal(arrive(f, 6, zero + 499, zero + 4000), 1);
	assert_int_equal(arrive(f, 9, zero + 2000, zero + 4000), 0);
	assert_int_equal(arrive(f, 10, zero + 1999, zero + 4000), 1);
	assert_int_equal(arrive(f, 12, zero + 1999, zero + 4000), 1);
	assert_int_equal(arrive(f, 8, zero + 2001, zero + 4000), 1);
	assert_int_equal(arrive(f, 8, zero + 2000, zero + 4000), 0);
	assert_int_equal(arrive(f, 10, zero + 2000, zero + 4000), 0);
	assert_int_equal(f->counters->frames, 4);
	assert_int_equal(f->counters->reordered, 1);
}

/* More than 2^31 frames may have gone elsewhere, or nowhere. */
static void
long_gaps_are_bridged_by_the_sender(void **state)
{
	static const uint64_t sent[] = {1, UINT64_C(3) << 30, UINT64_C(1) << 32,
					(UINT64_C(5) << 32) - 3, (UINT64_C(6) << 32) + 99};
	_Atomic uint64_t start = 1000;
	struct fixture *f = *state;
	struct tx_counters sender;

	for (uint32_t i = 0; i < COUNT(sent); i++) {
		know_sender(f, &sender, &start, sent[i]);
		assert_int_equal(arrive(f, sent[i] - 1, 2000 + i, 3000), 0);
		assert_int_equal(f->flow->next, (UINT64_C(1) << 32) + sent[i]);
	}
	assert_int_equal(f->counters->frames, COUNT(sent));
	assert_int_equal(f->counters->reordered + f->counters->duplicates, 0);
}

/* --- Several receivers of a flow --- */

enum { WINDOW = 1 << 18 };

struct receiver {
	struct measure measure;
	struct copies_open open;
	struct flow_counters *counters;
};

/* The fixture's task and another one have a window of copies together. */
static void
receive_twice(struct fixture *f, struct copies_window *window, struct receiver receivers[2])
{
	*window = (struct copies_window){
		.words = WINDOW / COPIES_WORD_FRAMES,
		.turn_shift = 18,
		.word = calloc(WINDOW / COPIES_WORD_FRAMES, sizeof(uint64_t)),
	};
	for (uint32_t r = 0; r < 2; r++) {
		struct flow_state *flow = aligned_alloc(COUNTERS_ALIGN, sizeof(*flow));

		memset(flow, 0, sizeof(*flow));
		flow->copies = window;
		receivers[r].counters = aligned_alloc(COUNTERS_ALIGN, sizeof(*f->counters));
		memset(receivers[r].counters, 0, sizeof(*f->counters));
		receivers[r].open = (struct copies_open){0};
		receivers[r].measure = f->measure;
		receivers[r].measure.flows = flow;
		receivers[r].measure.counters = receivers[r].counters;
		receivers[r].measure.copies = &receivers[r].open;
	}
}

static void
receive_no_more(struct copies_window *window, struct receiver receivers[2])
{
	free(window->word);
	for (uint32_t r = 0; r < 2; r++) {
		free(receivers[r].measure.flows);
		free(receivers[r].counters);
	}
}

/* Each of 500,000 frames goes to one receiver, to the other, to both, or is lost; copies up to 20,000 frames later. */
static void
copies_at_two_receivers_hide_no_loss(void **state)
{
	enum { N = 500000, LATE = 20000 };
	static bool late[N + LATE];
	struct fixture *f = *state;
	struct receiver receivers[2];
	struct copies_window window;
	uint64_t seed = 6, distinct = 0, copies = 0, frames = 0;

	receive_twice(f, &window, receivers);
	memset(late, 0, sizeof(late));
	for (uint64_t i = 0; i < N; i += BURST_MAX) {
		uint32_t counts[2] = {0, 0}, n = (uint32_t)RTE_MIN(BURST_MAX, N - i);
		struct rte_mbuf *bursts[2][2 * BURST_MAX];

		for (uint32_t j = 0; j < n; j++) {
			uint64_t dice = random_next(&seed) % 20;

			stamp_one(f, j, i + j, 0);
			if (dice < 15 || dice == 16)
				bursts[0][counts[0]++] = f->mbufs[j];
			if (dice == 15 || dice == 16 || i + j < 40)
				bursts[1][counts[1]++] = f->mbufs[j];
			distinct += dice < 17 || i + j < 40;
			copies += dice == 16 || (dice < 15 && i + j < 40);
			late[i + j] = dice == 0 && i + j >= 40;
			if (i + j >= LATE && late[i + j - LATE]) {
				stamp_one(f, BURST_MAX + j, i + j - LATE, 0);
				bursts[1][counts[1]++] = f->mbufs[BURST_MAX + j];
				copies++;
			}
		}
		for (uint32_t r = 0; r < 2; r++)
			rx_measure(&receivers[r].measure, &f->rx, bursts[r], (uint16_t)counts[r],
				   100);
	}
	for (uint32_t r = 0; r < 2; r++) {
		frames += receivers[r].counters->frames;
		assert_int_equal(receivers[r].counters->too_late, 0);
	}
	assert_true(copies > 1000 && distinct < N - 1000);
	assert_int_equal(frames, distinct + copies + receivers[0].counters->duplicates +
					 receivers[1].counters->duplicates);
	assert_int_equal(receivers[0].counters->copies + receivers[1].counters->copies, copies);
	receive_no_more(&window, receivers);
}

/* A copy that comes when its place in the window has another turn's frames. */
static void
copies_too_late_are_told(void **state)
{
	struct fixture *f = *state;
	struct receiver receivers[2];
	struct copies_window window;

	receive_twice(f, &window, receivers);
	for (uint32_t i = 0; i <= WINDOW; i++) {
		stamp_one(f, 0, i, 0);
		rx_measure(&receivers[0].measure, &f->rx, f->mbufs, 1, 100);
	}
	for (uint32_t i = 31; i < 34; i++) {
		stamp_one(f, 0, i, 0);
		rx_measure(&receivers[1].measure, &f->rx, f->mbufs, 1, 100);
	}
	assert_int_equal(receivers[0].counters->copies + receivers[0].counters->too_late, 0);
	assert_int_equal(receivers[1].counters->too_late, 1);
	assert_int_equal(receivers[1].counters->copies, 2);
	receive_no_more(&window, receivers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order_and_duplicates_are_exact),
		TEST(far_too_late_is_told),
		TEST(what_was_not_sent_is_impossible),
		TEST(impossible_times_are_no_latencies),
		TEST(departures_follow_the_order_of_frames),
		TEST(long_gaps_are_bridged_by_the_sender),
		TEST(copies_at_two_receivers_hide_no_loss),
		TEST(copies_too_late_are_told),
	};

	return cmocka_run_group_tests_name("flow order", tests, eal_up, eal_down);
}
