/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a bridge task's frames when a device takes none, or some: they wait in order, for 10 ms and 1,024 of
 * them at most, and neither the other way nor other queues mind.
 *
 * Devices are entries in rte_eth_fp_ops[], the clock is the test's. Run by `meson test`; DPDK without hugepages, devices
 * or privilege. Source: worker/bridge_task.h, docs/design/0009-kernel-path.md.
 */
#include "tests/eal_fixture.h"

#include <rte_ethdev.h>

#include "worker/bridge_task.h"

/* Clocks of the tests: beyond the real one, which counts when it is later. */
#define FAR (UINT64_C(1) << 62)

enum { FROM = 4, TO = 5, QUEUES = 4, FRAME = 60, BURST = 32, MBUFS = 4095, SENT_MAX = 8192 };
enum { WINDOW = 1000000, NUMBER = 44 };

struct device_queue {
	uint16_t room; /* frames taken in a call */
	uint32_t sent[SENT_MAX];
	uint32_t flows[SENT_MAX];
	uint32_t count;
};

struct fixture {
	struct bridge_task task;
	struct bridge_counters counters;
	struct address_set addresses;
	struct rte_mempool *pool;
	struct device_queue queues[QUEUES];
	uint32_t given, limit; /* frames: so far, in all */
	uint32_t prepared;     /* frames, by the device */
	uint32_t bad;          /* the number of the frame that the device cannot prepare */
};

static struct fixture *fixture;

/* Every second frame is for the kernel; flow n is from UDP port n mod 16. */
static uint16_t
device_rx(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	static const uint8_t head[42] = {2,    0, 0,  0,  0, 1, 2, 0, 0,  0,  0, 2,  8,  0,
					 0x45, 0, 0,  46, 0, 0, 0, 0, 64, 17, 0, 0,  10, 0,
					 0,    9, 10, 0,  0, 1, 0, 0, 0,  9,  0, 26, 1,  1};
	struct fixture *f = queue;
	uint16_t n;

	for (n = 0; n < count && f->given < f->limit; n++) {
		uint8_t *frame;

		mbufs[n] = rte_pktmbuf_alloc(f->pool);
		assert_non_null(mbufs[n]);
		rte_pktmbuf_append(mbufs[n], FRAME);
		frame = rte_pktmbuf_mtod(mbufs[n], uint8_t *);
		memset(frame, 0, FRAME);
		memcpy(frame, head, sizeof(head));
		frame[33] = f->given & 1 ? 2 : 1;
		frame[35] = f->given / 2 % 16;
		memcpy(frame + NUMBER, &f->given, sizeof(f->given));
		f->given++;
	}
	return n;
}

static uint16_t
device_tx(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct device_queue *q = queue;
	uint16_t n = RTE_MIN(count, q->room);

	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		assert_true(q->count < SENT_MAX);
		memcpy(&q->sent[q->count], frame + NUMBER, sizeof(q->sent[0]));
		q->flows[q->count++] = frame[35];
		rte_pktmbuf_free(mbufs[i]);
	}
	return n;
}

static uint16_t
device_prepare(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	(void)queue;
	for (uint16_t i = 0; i < count; i++) {
		uint32_t number;

		memcpy(&number, rte_pktmbuf_mtod_offset(mbufs[i], void *, NUMBER), sizeof(number));
		if (number == fixture->bad)
			return i;
		fixture->prepared++;
	}
	return count;
}

static void
plug_devices(struct fixture *f)
{
	static void *rx_queues[1], *tx_queues[QUEUES], *callbacks[QUEUES];

	rx_queues[0] = f;
	for (uint32_t q = 0; q < QUEUES; q++)
		tx_queues[q] = &f->queues[q];
	rte_eth_fp_ops[FROM].rx_pkt_burst = device_rx;
	rte_eth_fp_ops[FROM].rxq.data = rx_queues;
	rte_eth_fp_ops[FROM].rxq.clbk = callbacks;
	rte_eth_fp_ops[TO].tx_pkt_burst = device_tx;
	rte_eth_fp_ops[TO].tx_pkt_prepare = device_prepare;
	rte_eth_fp_ops[TO].txq.data = tx_queues;
	rte_eth_fp_ops[TO].txq.clbk = callbacks;
}

/* A way to `count` queues from the first one on. */
static struct bridge_way
way_to(uint32_t first, uint32_t count, uint64_t *frames, uint64_t *octets, uint64_t *lost)
{
	struct way_queue *queues = calloc(count, sizeof(*queues));

	for (uint32_t q = 0; q < count; q++)
		queues[q].queue_id = (uint16_t)(first + q);
	return (struct bridge_way){.end = WAY_PORT,
				   .port_id = TO,
				   .burst = BURST,
				   .window_cycles = WINDOW,
				   .queues = queues,
				   .queue_count = count,
				   .frames = frames,
				   .octets = octets,
				   .lost = lost};
}

/* The kernel's frames go to queue 0, the fast path's to queues 1 to 3. */
static int
set_up(void **state)
{
	static unsigned int number;
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, sizeof(*f));
	struct bridge_counters *c = &f->counters;
	char name[32];

	snprintf(name, sizeof(name), "line%u", number++);
	memset(f, 0, sizeof(*f));
	f->pool = rte_pktmbuf_pool_create(name, MBUFS, 0, 0, 512, SOCKET_ID_ANY);
	f->bad = UINT32_MAX;
	for (uint32_t q = 0; q < QUEUES; q++)
		f->queues[q].room = UINT16_MAX;
	address_set_add(&f->addresses, (const uint8_t *)"\x0a\x00\x00\x01", false);
	f->task = (struct bridge_task){
		.counters = c, .port_id = FROM, .burst = BURST, .addresses = &f->addresses};
	f->task.kernel = way_to(0, 1, &c->kernel_frames, &c->kernel_octets, &c->kernel_lost);
	f->task.fast = way_to(1, 3, &c->fast_frames, &c->fast_octets, &c->fast_lost);
	plug_devices(f);
	*state = fixture = f;
	return 0;
}

/* Whatever happened, every mbuf is back. */
static int
tear_down(void **state)
{
	struct fixture *f = *state;

	bridge_task_end(&f->task);
	assert_int_equal(rte_mempool_avail_count(f->pool), MBUFS);
	rte_mempool_free(f->pool);
	free(f->task.kernel.queues);
	free(f->task.fast.queues);
	free(f);
	return 0;
}

static void
poll_at(struct fixture *f, uint64_t now)
{
	const struct bridge_counters *c = &f->counters;

	bridge_task_poll(&f->task, FAR + now);
	assert_int_equal(c->rx_frames, f->given);
	assert_int_equal(c->rx_frames, c->kernel_frames + c->kernel_lost + c->fast_frames +
					       c->fast_lost + c->held);
	assert_int_equal(c->kernel_octets, c->kernel_frames * (FRAME + 4));
	assert_int_equal(c->fast_octets, c->fast_frames * (FRAME + 4));
}

/* The kernel's frames have even numbers: first, first + 2, … */
static void
check_kernels(const struct fixture *f, uint32_t first, uint32_t count)
{
	assert_int_equal(f->queues[0].count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(f->queues[0].sent[i], first + 2 * i);
}

static void
flows_stay_on_their_queue(void **state)
{
	struct fixture *f = *state;
	uint32_t queue_of[16] = {0}, used = 0;

	f->limit = 3200;
	for (uint64_t now = 1; f->given < f->limit; now++)
		poll_at(f, now);
	check_kernels(f, 0, 1600);
	for (uint32_t q = 1; q < QUEUES; q++) {
		const struct device_queue *queue = &f->queues[q];

		used += queue->count > 0;
		for (uint32_t i = 0; i < queue->count; i++) {
			assert_true(queue_of[queue->flows[i]] == 0 ||
				    queue_of[queue->flows[i]] == q);
			queue_of[queue->flows[i]] = q;
			assert_true(i == 0 || queue->sent[i] > queue->sent[i - 1]);
		}
	}
	assert_true(used > 1);
	assert_int_equal(f->counters.fast_frames, 1600);
	assert_int_equal(f->counters.addressed, 1600);
}

static void
a_slow_device_keeps_the_order(void **state)
{
	struct fixture *f = *state;

	f->queues[0].room = 7;
	f->limit = 1000;
	for (uint64_t now = 1; now < 200; now++)
		poll_at(f, now);
	check_kernels(f, 0, 500);
	assert_int_equal(f->counters.kernel_lost, 0);
	assert_int_equal(f->counters.held, 0);
}

static void
one_way_does_not_hold_up_the_other(void **state)
{
	struct fixture *f = *state;

	f->queues[0].room = 0;
	f->limit = 2 * BRIDGE_LINE_FRAMES + 640;
	for (uint64_t now = 1; f->given < f->limit; now++)
		poll_at(f, now);
	assert_int_equal(f->counters.held, BRIDGE_LINE_FRAMES);
	assert_int_equal(f->counters.kernel_lost, 320);
	assert_int_equal(f->counters.fast_frames, BRIDGE_LINE_FRAMES + 320);
	f->queues[0].room = UINT16_MAX;
	for (uint64_t now = 0; now < BRIDGE_LINE_FRAMES / BURST; now++)
		poll_at(f, 1000 + now);
	check_kernels(f, 0, BRIDGE_LINE_FRAMES);
	assert_int_equal(f->counters.held, 0);
}

static void
one_queue_does_not_hold_up_others(void **state)
{
	struct fixture *f = *state;

	f->queues[1].room = 0;
	f->limit = 640;
	for (uint64_t now = 1; f->given < f->limit; now++)
		poll_at(f, now);
	assert_int_equal(f->queues[1].count, 0);
	assert_int_equal(f->queues[2].count + f->queues[3].count + f->counters.held, 320);
	assert_true(f->counters.held > 0 && f->counters.held < 320);
	assert_int_equal(f->counters.fast_lost, 0);
}

static void
the_head_waits_so_long_and_no_longer(void **state)
{
	struct fixture *f = *state;

	f->queues[0].room = 0;
	f->limit = 2 * 2 * BURST; /* two bursts for the kernel */
	for (uint64_t now = 1; now <= 5; now++)
		poll_at(f, now);
	assert_int_equal(f->counters.held, 2 * BURST);
	poll_at(f, WINDOW);
	assert_int_equal(f->counters.kernel_lost, 0);
	poll_at(f, WINDOW + 100);
	assert_int_equal(f->counters.kernel_lost, BURST);
	poll_at(f, WINDOW + 200); /* the next has come to the head just now */
	assert_int_equal(f->counters.held, BURST);
	f->queues[0].room = UINT16_MAX;
	poll_at(f, WINDOW + 300);
	check_kernels(f, 2 * BURST, BURST);
	assert_int_equal(f->counters.kernel_lost, BURST);
}

static void
what_waits_at_the_end_is_held(void **state)
{
	struct fixture *f = *state;

	f->queues[0].room = 0;
	f->limit = 64;
	poll_at(f, 1);
	poll_at(f, 2);
	bridge_task_end(&f->task);
	assert_int_equal(f->counters.held, 32);
	assert_int_equal(f->counters.kernel_lost, 0);
}

/* A device that computes checksums prepares each frame once; what it cannot do is lost, alone. */
static void
devices_prepare_frames(void **state)
{
	struct fixture *f = *state;

	f->task.kernel.complete = f->task.kernel.offload = true;
	f->task.kernel.prepares = true;
	f->queues[0].room = 5;
	f->bad = 6;
	f->limit = 64;
	for (uint64_t now = 1; now < 20; now++)
		poll_at(f, now);
	assert_int_equal(f->counters.completed, 32);
	assert_int_equal(f->prepared, 31);
	assert_int_equal(f->counters.kernel_lost, 1);
	assert_int_equal(f->queues[0].count, 31);
	for (uint32_t i = 0; i < f->queues[0].count; i++)
		assert_int_equal(f->queues[0].sent[i], 2 * (i + (i >= 3)));
}

static void
nothing_to_do_takes_no_time(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(bridge_task_poll(&f->task, 7), 7);
	assert_int_equal(f->counters.busy_cycles, 0);
	assert_int_equal(f->counters.first_tsc, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flows_stay_on_their_queue),
		TEST(a_slow_device_keeps_the_order),
		TEST(one_way_does_not_hold_up_the_other),
		TEST(one_queue_does_not_hold_up_others),
		TEST(the_head_waits_so_long_and_no_longer),
		TEST(what_waits_at_the_end_is_held),
		TEST(devices_prepare_frames),
		TEST(nothing_to_do_takes_no_time),
	};

	return cmocka_run_group_tests_name("bridge_line", tests, eal_up, eal_down);
}
