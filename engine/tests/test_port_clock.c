/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relation between a device's clock and the TSC follows made-up clocks, and a measured frame's own time is used where
 * it can be true, and only there.
 *
 * Run by `meson test`; no device has been at hand that has a clock. Source: device/port_clock.h, base/clock_relation.h,
 * measure/rx_times.h, docs/design/0005-measurement.md.
 */
#include "tests/eal_fixture.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>

#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "device/port_clock.h"
#include "edit/tx_stamp.h"
#include "measure/rx_measure.h"
#include "measure/rx_times.h"

#define HZ 2500000000.0
#define EACH 250000000ULL /* 100 ms */

/* A device's clock that runs at `hz` and showed `first` when the TSC showed 0. */
struct made_up {
	uint64_t first;
	double hz;
};

static uint64_t
device_at(const struct made_up *made_up, uint64_t tsc)
{
	return made_up->first + (uint64_t)((long double)tsc * made_up->hz / HZ);
}

/* A pair at `tsc` that is as wrong as its width allows, either way. */
static struct clock_pair
pair_at(const struct made_up *made_up, uint64_t tsc, uint64_t width, uint64_t *seed)
{
	uint64_t middle = tsc - width / 2 + random_next(seed) % (width + 1);

	return (struct clock_pair){device_at(made_up, tsc), middle, width};
}

static uint64_t
error_at(const struct port_clock *clock, const struct made_up *made_up, uint64_t tsc)
{
	struct clock_line line;
	int64_t error;

	clock_relation_read(&clock->relation, &line);
	error = (int64_t)(clock_line_tsc(&line, device_at(made_up, tsc)) - tsc);
	return (uint64_t)(error < 0 ? -error : error);
}

/* Follow a clock for `pairs` pairs; the greatest error [cycles] at random times in the 100 ms behind a pair, from `from`. */
static uint64_t
follow(struct port_clock *clock, const struct made_up *made_up, unsigned int from,
       unsigned int pairs, uint64_t *seed)
{
	uint64_t worst = 0, tsc = 1000000;

	for (unsigned int i = 0; i < pairs; i++, tsc += EACH) {
		uint64_t width = 500 + random_next(seed) % 1500;
		struct clock_pair pair = pair_at(made_up, tsc, width, seed);

		port_clock_note(clock, &pair);
		for (unsigned int k = 0; k < 20 && i >= from; k++) {
			uint64_t error = error_at(clock, made_up, tsc + random_next(seed) % EACH);

			worst = RTE_MAX(worst, error);
		}
	}
	return worst;
}

/* Widths are 2,000 cycles at most: half of it at the newest pair, and that again for each baseline ahead. */
static void
clocks_of_any_rate_are_followed(void **state)
{
	static const struct made_up clocks[] = {
		{12345, 1e9 * (1 + 50e-6)},
		{UINT64_MAX / 2, 1e9 * (1 - 50e-6)},
		{0, 78125000.0},
		{UINT64_MAX - 3000000000ULL, 1e9}, /* wraps after three seconds */
		{77, 4.4e9},
	};
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(clocks); i++) {
		struct port_clock clock = {.count = 0};
		uint64_t tick = (uint64_t)(HZ / clocks[i].hz) + 1; /* times are whole ticks */
		double slope;

		assert_in_range(follow(&clock, &clocks[i], 1, 300, &seed), 0, 4000 + 3 * tick);
		memset(&clock, 0, sizeof(clock));
		assert_in_range(follow(&clock, &clocks[i], 127, 300, &seed), 0, 1050 + 2 * tick);
		slope = (double)clock.line.slope / 4294967296.0;
		assert_true(fabs(slope * clocks[i].hz / HZ - 1) < 1e-6);
		assert_int_equal(clock.count, PORT_CLOCK_PAIRS);
	}
}

static void
loose_pairs_are_passed_over(void **state)
{
	struct made_up made_up = {5, 1e9};
	struct port_clock clock = {.count = 0};
	uint64_t seed = 2, tsc = 100 * EACH;
	struct clock_pair loose;

	(void)state;
	follow(&clock, &made_up, 0, 100, &seed);
	loose = (struct clock_pair){device_at(&made_up, tsc), tsc + 40000, 100000};
	for (unsigned int i = 0; i < 10; i++) {
		port_clock_note(&clock, &loose);
		assert_in_range(error_at(&clock, &made_up, tsc), 0, 1100);
	}
	port_clock_note(&clock, &loose); /* it is so for a second now: better than nothing */
	assert_in_range(error_at(&clock, &made_up, tsc), 39000, 41000);
}

/* A clock that was set anew, forth or back, is not used before its relation is known again. */
static void
steps_are_noticed(void **state)
{
	static const int64_t steps[] = {500000000, -500000000, 1000000, -1000000};
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(steps); i++) {
		struct made_up made_up = {UINT64_C(1) << 40, 1e9};
		struct port_clock clock = {.count = 0};
		uint64_t tsc = 1000000 + 100 * EACH;
		struct clock_pair pair;
		struct clock_line line;

		follow(&clock, &made_up, 0, 100, &seed);
		made_up.first += (uint64_t)steps[i];
		pair = pair_at(&made_up, tsc, 1000, &seed);
		port_clock_note(&clock, &pair);
		clock_relation_read(&clock.relation, &line);
		assert_int_equal(line.slope, 0);
		pair = pair_at(&made_up, tsc + EACH, 1000, &seed);
		port_clock_note(&clock, &pair);
		assert_in_range(error_at(&clock, &made_up, tsc + EACH + EACH / 2), 0, 2000);
	}
}

static void
a_clock_that_stands_still_is_not_used(void **state)
{
	struct made_up made_up = {1000, 1e9};
	struct port_clock clock = {.count = 0};
	struct clock_line line;
	uint64_t seed = 4;

	(void)state;
	follow(&clock, &made_up, 0, 100, &seed);
	for (unsigned int i = 0; i < 5; i++) {
		struct clock_pair pair = {device_at(&made_up, 100 * EACH), (101 + i) * EACH, 1000};

		port_clock_note(&clock, &pair);
		clock_relation_read(&clock.relation, &line);
		assert_int_equal(line.slope, 0);
	}
}

/* The device that rte_eth_read_clock() reads in this program: this definition stands before the library's. */
static struct {
	int code;
	bool stopped;
} device;

static uint64_t
two_fifths_of(uint64_t tsc)
{
	return tsc / 5 * 2 + tsc % 5 * 2 / 5;
}

int
rte_eth_read_clock(uint16_t port_id, uint64_t *clock)
{
	assert_int_equal(port_id, 3);
	*clock = device.stopped ? 1000 : two_fifths_of(rte_rdtsc());
	return device.code;
}

/* Open the clock of a device as it is; true when it is used. */
static bool
is_used(struct port_clock *clock, uint64_t capabilities)
{
	struct rte_eth_dev_info info = {.rx_offload_capa = capabilities};

	memset(clock, 0, sizeof(*clock));
	port_clock_find(clock, 3, &info);
	port_clock_start(clock, 3, (uint64_t)HZ);
	return port_clock_is_used(clock);
}

static void
a_device_is_used_when_its_clock_runs(void **state)
{
	const uint64_t offload = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	struct port_clock clock;

	(void)state;
	assert_false(is_used(&clock, 0));
	device.code = -ENOTSUP;
	assert_false(is_used(&clock, offload));
	assert_false(clock.offered);
	device.code = -EIO;
	assert_false(is_used(&clock, offload));
	assert_true(
		clock.offered); /* it may run later, so times were asked for; they are not used */
	device.code = 0;
	device.stopped = true;
	assert_false(is_used(&clock, offload));
	port_clock_sample(&clock);
	assert_int_equal(clock.count, 2); /* not asked any more */
	device.stopped = false;
	assert_true(is_used(&clock, offload));
	assert_true(clock.times.flag != 0);
	assert_int_equal(clock.times.age_max_cycles, (uint64_t)HZ);
	for (unsigned int i = 0; i < 5; i++) {
		const struct clock_pair *last;
		uint64_t error;

		usleep(1000);
		port_clock_sample(&clock);
		last = &clock.pairs[clock.newest];
		error = clock_line_tsc(&clock.line, two_fifths_of(last->tsc)) - last->tsc;
		assert_true(error + last->width <= 2 * last->width + 10);
	}
}

static void *
renew_often(void *argument)
{
	struct clock_relation *relation = argument;

	for (uint64_t i = 1; i <= 3000000; i++) {
		clock_relation_renew(relation, &(struct clock_line){i, 3 * i, 7 * i});
		if (i % 100000 == 0) /* on a busy machine the reader gets its turn, too */
			sched_yield();
	}
	return NULL;
}

static void
nobody_reads_half_a_line(void **state)
{
	struct clock_relation relation = {0};
	struct clock_line line = {0, 0, 0};
	uint64_t last = 0, seen = 0;
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, renew_often, &relation), 0);
	while (line.device < 3000000) {
		clock_relation_read(&relation, &line);
		assert_int_equal(line.tsc, 3 * line.device);
		assert_int_equal(line.slope, 7 * line.device);
		assert_true(line.device >= last);
		seen += line.device != last;
		last = line.device;
	}
	pthread_join(writer, NULL);
	assert_true(seen > 1);
}

enum { STREAM = 7, MAGIC = 0x5752 };

/* One frame that left at `departure`, received in a burst at `clock`; its latency, by the counters. */
static uint64_t
latency_of(const struct frame_times *times, struct rte_mbuf *mbuf, uint64_t departure,
	   uint64_t clock, struct rx_counters *rx)
{
	static uint16_t index_of[UINT16_MAX + 1];
	alignas(COUNTERS_ALIGN) static struct flow_counters counters;
	alignas(COUNTERS_ALIGN) static struct flow_state flow;
	struct measure measure = {.magic = MAGIC,
				  .index_of = index_of,
				  .flows = &flow,
				  .counters = &counters,
				  .times = *times};

	memset(&counters, 0, sizeof(counters));
	memset(&flow, 0, sizeof(flow));
	tx_stamp_write(&(struct tx_stamp){MAGIC, STREAM}, &mbuf, 0, 1, departure);
	rx_measure(&measure, rx, &mbuf, 1, clock);
	assert_int_equal(counters.latency_count, 1);
	assert_int_equal(counters.first_tsc, departure + counters.latency_sum_cycles);
	return counters.latency_sum_cycles;
}

static void
frames_are_measured_by_their_own_time(void **state)
{
	enum { AGE = 2500000 };
	const uint64_t now = UINT64_C(1) << 41, departure = now - 2 * AGE;
	struct clock_relation relation = {0};
	struct frame_times times = {.relation = &relation, .age_max_cycles = AGE}, none = {NULL};
	struct rx_counters rx = {0};
	struct rte_mempool *pool = rte_pktmbuf_pool_create("times", 15, 0, 0, 2048, SOCKET_ID_ANY);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	rte_mbuf_timestamp_t *time;

	(void)state;
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&times.field, &times.flag), 0);
	memset(rte_pktmbuf_append(mbuf, OCTETS_MIN), 0, OCTETS_MIN);
	time = RTE_MBUF_DYNFIELD(mbuf, times.field, rte_mbuf_timestamp_t *);
	/* The device runs at a quarter of the TSC and showed 10,000 at `now`. */
	clock_relation_renew(&relation,
			     &(struct clock_line){10000, now, UINT64_C(4) << CLOCK_LINE_SHIFT});
	mbuf->ol_flags |= times.flag;
	*time = 10000 - 100;
	assert_int_equal(latency_of(&times, mbuf, departure, now, &rx), 2 * AGE - 400);
	*time = 10000 + 100; /* later than the line's point */
	assert_int_equal(latency_of(&times, mbuf, departure, now + 1000, &rx), 2 * AGE + 400);
	*time = 10000 - AGE / 4;
	assert_int_equal(latency_of(&times, mbuf, departure, now, &rx), AGE);
	assert_int_equal(rx.bad_times, 0);
	*time = 10000 - AGE / 4 - 1; /* too old */
	assert_int_equal(latency_of(&times, mbuf, departure, now, &rx), 2 * AGE);
	*time = 10001; /* still to come */
	assert_int_equal(latency_of(&times, mbuf, departure, now, &rx), 2 * AGE);
	assert_int_equal(rx.bad_times, 2);
	*time = 10000 - 100;
	mbuf->ol_flags = 0; /* the device gave none */
	assert_int_equal(latency_of(&times, mbuf, departure, now, &rx), 2 * AGE);
	assert_int_equal(rx.bad_times, 3);
	mbuf->ol_flags = times.flag; /* the relation is not known */
	clock_relation_renew(&relation, &(struct clock_line){10000, now, 0});
	assert_int_equal(latency_of(&times, mbuf, departure, now, &rx), 2 * AGE);
	assert_int_equal(rx.bad_times, 4);
	assert_int_equal(latency_of(&none, mbuf, departure, now, &rx), 2 * AGE);
	assert_int_equal(rx.bad_times, 4);
	assert_int_equal(rx.own_times, 3);
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
}

/* As with a device whose clock to read is the host's, and whose frames have another's: E810, DPDK 25.07. */
static void
bad_times_at_first_switch_them_off(void **state)
{
	const uint64_t now = UINT64_C(1) << 41, departure = now - 1000;
	struct clock_relation relation = {0};
	struct frame_times times = {.relation = &relation, .age_max_cycles = 100000};
	struct rx_counters wrong = {0}, once = {0};
	struct rte_mempool *pool = rte_pktmbuf_pool_create("off", 15, 0, 0, 2048, SOCKET_ID_ANY);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	rte_mbuf_timestamp_t *time;

	(void)state;
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&times.field, &times.flag), 0);
	memset(rte_pktmbuf_append(mbuf, OCTETS_MIN), 0, OCTETS_MIN);
	time = RTE_MBUF_DYNFIELD(mbuf, times.field, rte_mbuf_timestamp_t *);
	clock_relation_renew(&relation,
			     &(struct clock_line){10000, now, UINT64_C(1) << CLOCK_LINE_SHIFT});
	mbuf->ol_flags |= times.flag;
	*time = 10000 - 400; /* good: the device's clock is that of its frames */
	assert_int_equal(latency_of(&times, mbuf, departure, now, &once), 600);
	*time = UINT64_C(1) << 60;
	for (unsigned int i = 0; i < 2 * RX_TIMES_TRIED; i++) {
		assert_int_equal(latency_of(&times, mbuf, departure, now, &once), 1000);
		assert_int_equal(latency_of(&times, mbuf, departure, now, &wrong), 1000);
	}
	*time = 10000 - 400; /* by chance */
	assert_int_equal(latency_of(&times, mbuf, departure, now, &once), 600);
	assert_int_equal(latency_of(&times, mbuf, departure, now, &wrong), 1000);
	assert_int_equal(once.own_times, 2);
	assert_int_equal(once.bad_times, 2 * RX_TIMES_TRIED);
	assert_int_equal(wrong.own_times, 0);
	assert_int_equal(wrong.bad_times, 2 * RX_TIMES_TRIED + 1);
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_of_any_rate_are_followed),
		cmocka_unit_test(loose_pairs_are_passed_over),
		cmocka_unit_test(steps_are_noticed),
		cmocka_unit_test(a_clock_that_stands_still_is_not_used),
		cmocka_unit_test(a_device_is_used_when_its_clock_runs),
		cmocka_unit_test(nobody_reads_half_a_line),
		cmocka_unit_test(frames_are_measured_by_their_own_time),
		cmocka_unit_test(bad_times_at_first_switch_them_off),
	};

	return cmocka_run_group_tests_name("port clock", tests, eal_up, eal_down);
}
