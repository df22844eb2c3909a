/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end: what goes in comes out, changed as asked, and every frame that does not is counted.
 *
 * Two devices are entries in rte_eth_fp_ops[]: one gives numbered frames, the other keeps what it takes. Run by
 * `meson test`; DPDK without hugepages, devices or privilege. Source: worker/forward_task.h, docs/design/0005.
 */
#include "tests/eal_fixture.h"

#include <rte_ethdev.h>

#include "protocol/checksum.h"
#include "worker/forward_task.h"
#include "edit/reverse.h"

/* Clocks of the tests: beyond the real one, which counts when it is later. */
#define FAR (UINT64_C(1) << 62)

enum { FROM = 4, TO = 5, FRAME = 64, LINE = 1024, SENT_MAX = 300000 };

struct fixture {
	struct forward_task task;
	struct forward_counters counters;
	struct rte_mempool *pool;
	struct delayed line[LINE];
	uint32_t given; /* frames so far, each with its number */
	uint32_t limit; /* frames to give in all */
	uint16_t room;  /* frames taken in a call */
	uint32_t *sent; /* numbers, in order */
	uint32_t sent_count;
};

static uint16_t
device_rx(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct fixture *f = queue;
	uint16_t n;

	for (n = 0; n < count && f->given < f->limit; n++) {
		mbufs[n] = rte_pktmbuf_alloc(f->pool);
		assert_non_null(mbufs[n]);
		memset(rte_pktmbuf_append(mbufs[n], FRAME), 0, FRAME);
		memcpy(rte_pktmbuf_mtod_offset(mbufs[n], void *, 40), &f->given, sizeof(f->given));
		f->given++;
	}
	return n;
}

static uint16_t
device_tx(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct fixture *f = queue;
	uint16_t n = RTE_MIN(count, f->room);

	for (uint16_t i = 0; i < n; i++) {
		assert_true(f->sent_count < SENT_MAX);
		memcpy(&f->sent[f->sent_count++], rte_pktmbuf_mtod_offset(mbufs[i], void *, 40), 4);
		rte_pktmbuf_free(mbufs[i]);
	}
	return n;
}

static void
plug_devices(struct fixture *f)
{
	static void *queues[1], *callbacks[1];

	queues[0] = f;
	rte_eth_fp_ops[FROM].rx_pkt_burst = device_rx;
	rte_eth_fp_ops[FROM].rxq.data = queues;
	rte_eth_fp_ops[FROM].rxq.clbk = callbacks;
	rte_eth_fp_ops[TO].tx_pkt_burst = device_tx;
	rte_eth_fp_ops[TO].txq.data = queues;
	rte_eth_fp_ops[TO].txq.clbk = callbacks;
}

static int
set_up(void **state)
{
	static unsigned int number;
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, sizeof(*f));
	char name[32];

	snprintf(name, sizeof(name), "forward%u", number++);
	memset(f, 0, sizeof(*f));
	f->pool = rte_pktmbuf_pool_create(name, 2047, 0, 0, 2048, SOCKET_ID_ANY);
	f->sent = calloc(SENT_MAX, sizeof(f->sent[0]));
	f->room = UINT16_MAX;
	f->task = (struct forward_task){.counters = &f->counters,
					.port_id = FROM,
					.to_port_id = TO,
					.rx_burst = 32,
					.burst = 32,
					.window_cycles = 1000,
					.hold_cycles = 1000000,
					.line = f->line,
					.line_mask = LINE - 1,
					.random = 1,
					.copies_pool = f->pool};
	plug_devices(f);
	*state = f;
	return 0;
}

/* Whatever happened, every mbuf is back. */
static int
tear_down(void **state)
{
	struct fixture *f = *state;

	forward_task_end(&f->task);
	assert_int_equal(rte_mempool_avail_count(f->pool), 2047);
	rte_mempool_free(f->pool);
	free(f->sent);
	free(f);
	return 0;
}

static void
forward(struct fixture *f, uint32_t frames, uint64_t polls)
{
	f->limit = frames;
	for (uint64_t now = 1; now <= polls; now++)
		forward_task_poll(&f->task, FAR + now);
}

static void
frames_pass_in_order(void **state)
{
	struct fixture *f = *state;

	forward(f, 100000, 4000);
	assert_int_equal(f->sent_count, 100000);
	for (uint32_t i = 0; i < f->sent_count; i++)
		assert_int_equal(f->sent[i], i);
	assert_int_equal(f->counters.rx_frames, 100000);
	assert_int_equal(f->counters.tx_frames, 100000);
	assert_int_equal(f->counters.rx_octets, 100000 * (FRAME + 4));
	assert_int_equal(f->counters.tx_octets, 100000 * (FRAME + 4));
}

static void
a_slow_device_keeps_the_order(void **state)
{
	struct fixture *f = *state;

	f->room = 7;
	forward(f, 5000, 1000);
	assert_int_equal(f->sent_count, 5000);
	for (uint32_t i = 0; i < f->sent_count; i++)
		assert_int_equal(f->sent[i], i);
	assert_int_equal(f->counters.not_taken, 0);
}

static void
a_dead_device_is_counted(void **state)
{
	struct fixture *f = *state;

	f->room = 0;
	f->limit = 320;
	for (uint64_t now = 1; now < 20; now++)
		forward_task_poll(&f->task, FAR + now);
	assert_int_equal(f->counters.not_taken, 0);
	for (uint64_t now = 20; now < 20000; now += 100)
		forward_task_poll(&f->task, FAR + now);
	assert_int_equal(f->counters.rx_frames, 320);
	assert_int_equal(f->counters.not_taken, 320);
	assert_int_equal(f->counters.tx_frames, 0);
}

static void
frames_are_late_by_the_delay(void **state)
{
	struct fixture *f = *state;

	f->task.delay_cycles = 500;
	f->limit = 10;
	forward_task_poll(&f->task, FAR + 1000);
	assert_int_equal(f->sent_count, 0);
	assert_int_equal(f->counters.held, 10);
	forward_task_poll(&f->task, FAR + 1499);
	assert_int_equal(f->sent_count, 0);
	forward_task_poll(&f->task, FAR + 1500);
	assert_int_equal(f->sent_count, 10);
	assert_int_equal(f->counters.held, 0);
}

/* What the sent numbers say, as a receiver would count. */
static void
count_received(const struct fixture *f, uint64_t *duplicates, uint64_t *reordered, uint64_t *lost)
{
	uint8_t *seen = calloc(f->given, 1);
	uint32_t next = 0;

	*duplicates = *reordered = 0;
	*lost = f->given;
	for (uint32_t i = 0; i < f->sent_count; i++) {
		uint32_t number = f->sent[i];

		if (seen[number]++) {
			(*duplicates)++;
			continue;
		}
		(*lost)--;
		if (number < next)
			(*reordered)++;
		else
			next = number + 1;
	}
	free(seen);
}

static void
impairments_are_counted_exactly(void **state)
{
	static const struct {
		double drop, duplicate, reorder;
	} rows[] = {{0.01, 0, 0},    {0, 0.01, 0}, {0, 0, 0.01}, {0.02, 0.03, 0.01},
		    {0.5, 0.5, 0.5}, {1, 0, 0},    {0, 1, 0},    {0, 0, 1}};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct fixture *f = *state;
		uint64_t duplicates, reordered, lost;

		f->task.impaired = true;
		f->task.drop = rows[r].drop >= 1 ? UINT64_MAX : (uint64_t)(rows[r].drop * 0x1p64);
		f->task.duplicate = rows[r].duplicate >= 1 ? UINT64_MAX
							   : (uint64_t)(rows[r].duplicate * 0x1p64);
		f->task.reorder =
			rows[r].reorder >= 1 ? UINT64_MAX : (uint64_t)(rows[r].reorder * 0x1p64);
		forward(f, 100000, 8000);
		for (uint64_t now = 2000000; now < 2000010; now++) /* what is still held goes on */
			forward_task_poll(&f->task, FAR + now);
		count_received(f, &duplicates, &reordered, &lost);
		assert_int_equal(f->counters.overflowed + f->counters.not_taken, 0);
		assert_int_equal(lost, f->counters.dropped);
		assert_int_equal(duplicates, f->counters.duplicated);
		assert_int_equal(reordered, f->counters.reordered);
		assert_in_range(lost, rows[r].drop * 100000 * 0.9, rows[r].drop * 100000 * 1.1);
		if (rows[r].reorder > 0)
			assert_true(reordered > 500);
		tear_down(state);
		set_up(state);
	}
}

/* An IPv4 or IPv6 frame with these 60 octets, and its checksum over addresses and ports, before and after. */
static void
check_reversed(struct rte_mbuf *mbuf, const uint8_t *before, uint32_t addresses, uint32_t octets,
	       uint32_t ports)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t end = ports + 4;
	uint16_t sum = checksum_finish(checksum_sum(before + addresses, end - addresses));

	memcpy(frame, before, FRAME);
	reverse(mbuf);
	assert_memory_equal(frame, before + 6, 6);
	assert_memory_equal(frame + 6, before, 6);
	assert_memory_equal(frame + addresses, before + addresses + octets, octets);
	assert_memory_equal(frame + addresses + octets, before + addresses, octets);
	assert_memory_equal(frame + ports, before + ports + 2, 2);
	assert_memory_equal(frame + ports + 2, before + ports, 2);
	assert_int_equal(checksum_finish(checksum_sum(frame + addresses, end - addresses)), sum);
	reverse(mbuf);
	assert_memory_equal(frame, before, FRAME);
}

static void
frames_are_reversed(void **state)
{
	struct fixture *f = *state;
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(f->pool);
	uint8_t frame[FRAME], *octets;

	rte_pktmbuf_append(mbuf, FRAME);
	octets = rte_pktmbuf_mtod(mbuf, uint8_t *);
	for (uint32_t i = 0; i < FRAME; i++)
		frame[i] = (uint8_t)(i * 7 + 1);
	memcpy(frame + 12, "\x08\x00\x45", 3); /* IPv4, UDP */
	memcpy(frame + 20, "\x00\x00\x40\x11", 4);
	check_reversed(mbuf, frame, 26, 4, 34);
	memcpy(frame + 12, "\x81\x00\x00\x07\x08\x00\x46", 7); /* a tag, and options */
	memcpy(frame + 24, "\x00\x00\x40\x06", 4);
	check_reversed(mbuf, frame, 30, 4, 42);
	memcpy(frame + 12, "\x86\xdd\x60\x00\x00\x00\x00\x0a\x11", 9); /* IPv6, UDP */
	check_reversed(mbuf, frame, 22, 16, 54);
	memcpy(frame + 12, "\x08\x00\x45", 3); /* a fragment has no ports */
	memcpy(frame + 20, "\x00\x10\x40\x11", 4);
	memcpy(octets, frame, FRAME);
	reverse(mbuf);
	assert_memory_equal(octets + 34, frame + 34, 4);
	for (uint16_t cut = 0; cut < FRAME; cut++) { /* nothing behind the end is touched */
		mbuf->data_len = cut;
		memcpy(octets, frame, FRAME);
		reverse(mbuf);
		assert_memory_equal(octets + cut, frame + cut, (size_t)(FRAME - cut));
	}
	mbuf->data_len = FRAME;
	rte_pktmbuf_free(mbuf);
}

static void
work_takes_its_time(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	f->task.work_cycles = 10000;
	f->limit = 32;
	before = rte_rdtsc();
	forward_task_poll(&f->task, before);
	assert_true(rte_rdtsc() - before >= 320000);
	assert_true(f->counters.busy_cycles >= 320000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_pass_in_order),
		TEST(a_slow_device_keeps_the_order),
		TEST(a_dead_device_is_counted),
		TEST(frames_are_late_by_the_delay),
		TEST(impairments_are_counted_exactly),
		TEST(frames_are_reversed),
		TEST(work_takes_its_time),
	};

	return cmocka_run_group_tests_name("forward_task", tests, eal_up, eal_down);
}
