/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ramps: how many flows are active when, which of them a part sends in which order, and that no flow is of two parts.
 *
 * Run by `meson test`, no DPDK at run time. Sources: edit/tx_ramp.h, program/ramp_build.h.
 */
#include "tests/test_support.h"

#include "base/units.h"
#include "program/program_rate.h"
#include "program/ramp_build.h"
#include "schedule/tx_rate.h"

#define HZ UINT64_C(2500000000)

enum { FLOWS_MAX = 5000, PARTS_MAX = 7 };

/* A part of a ramp in a stream of `fps` frames per second, 0: unpaced. */
static struct tx_task
part_of(const struct ramp_config *ramp, double fps, uint32_t part, uint32_t parts)
{
	struct task_config config = {.part = part, .parts = parts};
	struct tx_task task = {.duration_cycles = UINT64_MAX, .limit = UINT64_MAX};

	if (fps > 0) {
		assert_true(pacing_init(&task.pacing, fps, part, parts, HZ));
		task.schedule = TX_RATE;
	}
	ramp_build(&task, ramp, &config, HZ);
	return task;
}

/* n(t) as the contract says it. */
static uint64_t
active_at(const struct ramp_config *ramp, double t)
{
	double full = (double)(ramp->flows - ramp->start) / ramp->per_second;
	double down = full + (double)ramp->hold_ns / NS_PER_SECOND;
	uint64_t gone;

	if (t < full)
		return ramp->start + (uint64_t)(t * ramp->per_second);
	if (!ramp->down || t < down)
		return ramp->flows;
	gone = (uint64_t)((t - down) * ramp->per_second);
	return gone < ramp->flows ? ramp->flows - gone : 1;
}

/* Looks between the moments at which a flow comes or goes; at these the clock is a cycle fine. */
static void
flows_come_and_go_by_the_clock(void **state)
{
	static const struct ramp_config ramps[] = {
		{.flows = 300000, .start = 1, .per_second = 10000},
		{.flows = 3000, .start = 3000, .per_second = 10000},
		{.flows = 1, .start = 1, .per_second = 1e-6},
		{.flows = 500, .start = 20, .per_second = 7, .hold_ns = 0, .down = true},
		{.flows = 70000, .start = 1, .per_second = 1e5, .hold_ns = 123456789, .down = true},
		{.flows = UINT64_C(1) << 32, .start = 1, .per_second = 1e12},
	};

	(void)state;
	for (size_t r = 0; r < COUNT(ramps); r++) {
		const struct ramp_config *ramp = &ramps[r];
		struct tx_task task = part_of(ramp, 0, 0, 1);
		uint64_t off = (uint64_t)(ramp->per_second / HZ); /* in a cycle: 0 but once */

		for (uint64_t k = 0; k < 3 * ramp->flows && k < 1000000; k += 1 + k / 64) {
			double t = ((double)k + 0.5) / ramp->per_second;
			uint64_t cycles = (uint64_t)(t * HZ), active, expected;

			if (t * HZ < 4 || t * HZ > 0x1p52)
				continue;
			active = tx_ramp_active(&task.ramp, cycles);
			expected = active_at(ramp, (double)cycles / HZ);
			assert_in_range(active, expected - RTE_MIN(expected, off), expected + off);
		}
		assert_int_equal(tx_ramp_active(&task.ramp, 0), ramp->start);
		assert_int_equal(tx_ramp_active(&task.ramp, UINT64_MAX - 1),
				 ramp->down ? 1 : ramp->flows);
	}
}

static void
parts_share_the_flows(void **state)
{
	(void)state;
	for (uint32_t parts = 1; parts <= PARTS_MAX; parts++) {
		for (uint64_t active = 0; active < 100; active++) {
			uint64_t sum = 0;

			for (uint32_t part = 0; part < parts; part++) {
				struct tx_ramp ramp = {.part = part, .parts = parts};
				uint64_t own = tx_ramp_own(&ramp, active);

				assert_true(own == 0 || part + (own - 1) * parts < active);
				assert_true(part + own * parts >= active);
				sum += own;
			}
			assert_int_equal(sum, active);
		}
	}
}

/* Send bursts of any size; each turn has all active flows, once. */
static void
a_turn_has_each_flow_once(void **state)
{
	static uint32_t seen[FLOWS_MAX];

	(void)state;
	for (uint64_t flows = 1; flows < FLOWS_MAX; flows += 1 + flows / 3) {
		const struct ramp_config config = {.flows = flows, .start = flows, .per_second = 1};
		struct tx_task task = part_of(&config, 0, 0, 1);
		uint64_t seed = flows, sent = 0;

		memset(seen, 0, sizeof(seen));
		while (sent < 10 * flows) {
			uint64_t n = 1 + random_next(&seed) % 512;

			tx_ramp_look(&task.ramp, 1000);
			assert_true(task.ramp.next < task.ramp.turn);
			for (uint64_t j = 0; j < n; j++)
				seen[(task.ramp.next + j) % task.ramp.turn]++;
			tx_ramp_advance(&task.ramp, n);
			sent += n;
			for (uint64_t f = 0; f < flows; f++)
				assert_in_range(seen[f], sent / flows, (sent + flows - 1) / flows);
		}
	}
}

/* A turn goes on where it was when flows are added, and begins anew when the flow that was next is gone. */
static void
turns_change_while_they_last(void **state)
{
	const struct ramp_config config = {
		.flows = 100, .start = 1, .per_second = 1, .hold_ns = 0, .down = true};
	struct tx_task task = part_of(&config, 0, 1, 2);
	struct tx_ramp *ramp = &task.ramp;

	(void)state;
	assert_int_equal(task.delay_cycles, HZ); /* flow 1 comes after a second */
	assert_int_equal(task.duration_cycles, 99 * HZ + 99 * HZ - HZ);
	tx_ramp_look(ramp, 0);
	assert_int_equal(ramp->turn, 1);
	tx_ramp_advance(ramp, 5);
	assert_int_equal(ramp->next, 0);
	tx_ramp_look(ramp, 50 * HZ); /* 52 in all */
	assert_int_equal(ramp->turn, 26);
	tx_ramp_advance(ramp, 20);
	tx_ramp_look(ramp, 60 * HZ); /* 62 */
	assert_int_equal(ramp->turn, 31);
	assert_int_equal(ramp->next, 20);
	tx_ramp_look(ramp, (99 + 60) * HZ - HZ); /* 40 */
	assert_int_equal(ramp->turn, 20);
	assert_int_equal(ramp->next, 0);
	tx_ramp_look(ramp, (99 + 99) * HZ); /* 1, not ours */
	assert_int_equal(ramp->turn, 1);
	assert_int_equal(tx_ramp_own_after(ramp, (99 + 99) * HZ), 0);
}

/* Where a part begins later, its frames are due when they would have been, and none while it has no flow. */
static void
parts_begin_with_their_first_flow(void **state)
{
	const struct ramp_config config = {.flows = 10, .start = 2, .per_second = 3};

	(void)state;
	for (uint32_t part = 0; part < PARTS_MAX; part++) {
		struct tx_task task = part_of(&config, 1000.5, part, PARTS_MAX);
		uint64_t first = task.delay_cycles + pacing_due_cycle(&task.pacing, 0);
		double begin = part < 2 ? 0 : (double)(part - 1) / 3 * HZ;
		double interval = task.pacing.cycles_per_frame;
		double k = (double)first / interval - (double)part / PARTS_MAX;

		assert_true((double)first >= begin - 2);
		assert_true((double)first <= begin + interval + 2);
		k += 1e-6; /* whole, but for rounding */
		assert_true(k - (double)(uint64_t)k < 2e-6);
		assert_int_equal(task.delay_cycles, task.ramp.lead_cycles);
		assert_true(tx_ramp_own_after(&task.ramp, first - task.delay_cycles + 2) > 0);
	}
}

static void
parts_without_flows_never_send(void **state)
{
	struct ramp_config config = {.flows = 3, .start = 1, .per_second = 1};
	struct task_config part = {.part = 2, .parts = 4};
	struct tx_task task = part_of(&config, 100, 3, 4);

	(void)state;
	assert_int_equal(task.limit, 0);
	assert_int_equal(task.delay_cycles, 0);
	task = part_of(&config, 100, 2, 4);
	assert_int_equal(task.limit, UINT64_MAX);
	task = (struct tx_task){.duration_cycles = HZ, .limit = 7}; /* its flow comes after 2 s */
	ramp_build(&task, &config, &part, HZ);
	assert_int_equal(task.limit, 0);
	config.per_second = 1e-6; /* after 23 days */
	task = part_of(&config, 100, 2, 4);
	assert_int_equal(task.limit, UINT64_MAX);
	assert_int_equal(task.delay_cycles / HZ, 2000000);
}

/* How far the time of the ramped part's frame k is from that of a frame of a part that always had flows. [cycles] */
static double
off_beat(const struct tx_task *ramped, const struct tx_task *plain, uint64_t k)
{
	double due = (double)(ramped->delay_cycles + tx_task_due_cycle(ramped, k));
	double frames = due / plain->pacing.cycles_per_frame - plain->pacing.first_frames + 1e-3;

	assert_true(frames >= 0);
	return (frames - (double)(uint64_t)frames - 1e-3) * plain->pacing.cycles_per_frame;
}

/* Rates change before a part's first flow comes, and after: its frames stay where they would be without a ramp. */
static void
rates_change_in_a_ramp(void **state)
{
	static const double rates[] = {250000, 7000, 3e6, 123456.7};
	static const double seconds[] = {0.4, 0.7, 1.3, 4.1}; /* flow 2 comes after one */
	const struct ramp_config config = {.flows = 10, .start = 2, .per_second = 1};
	struct stream_config stream = {.name = "s0", .has_fps = true, .fps = 1e6, .parts = 4};
	struct program_config program = {.streams = &stream, .n_streams = 1};
	struct traffic traffic = {.start_tsc = 0, .stop_tsc = UINT64_MAX};
	struct tx_task ramped = part_of(&config, stream.fps, 2, 4), plain = {0};
	struct tx_span of_ramped = {ramped.delay_cycles, UINT64_MAX}, of_plain = {0, UINT64_MAX};
	struct tx_counters counters = {0};
	struct program_rates *shared = NULL;

	(void)state;
	assert_int_equal(program_rates_create(&shared, &program, HZ, NULL), 0);
	assert_true(pacing_init(&plain.pacing, stream.fps, 2, 4, HZ));
	plain.schedule = TX_RATE;
	plain.phase_loaded_q64 = plain.pacing.phase_q64;
	ramped.phase_loaded_q64 += plain.pacing.phase_q64;
	ramped.rate = plain.rate = program_rate_of(shared, 0);
	ramped.counters = plain.counters = &counters;
	ramped.limit_cycles = plain.limit_cycles = UINT64_MAX;
	for (size_t i = 0; i < COUNT(rates); i++) {
		uint64_t from = (uint64_t)(seconds[i] * HZ), look = RTE_MAX(from, of_ramped.start);
		uint64_t due = from > of_ramped.start
				       ? tx_task_frames_due(&ramped, from - of_ramped.start)
				       : 0;

		assert_int_equal(program_rates_set(shared, &traffic, "s0", rates[i], from, NULL),
				 0);
		tx_task_take_rate(&plain, &traffic, &of_plain, from);
		tx_task_take_rate(&ramped, &traffic, &of_ramped, look);
		assert_in_range(tx_task_frames_due(&ramped, look - of_ramped.start), due, due + 1);
		assert_true(off_beat(&ramped, &plain, due + 1) < 3);
		assert_true(off_beat(&ramped, &plain, due + 1000) < 3);
	}
	program_rates_free(shared);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_come_and_go_by_the_clock),
		cmocka_unit_test(parts_share_the_flows),
		cmocka_unit_test(a_turn_has_each_flow_once),
		cmocka_unit_test(turns_change_while_they_last),
		cmocka_unit_test(parts_begin_with_their_first_flow),
		cmocka_unit_test(rates_change_in_a_ramp),
		cmocka_unit_test(parts_without_flows_never_send),
	};

	return cmocka_run_group_tests_name("tx_ramp", tests, NULL, NULL);
}
