/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bridge tasks in programs over net_ring: the layouts of docs/design/0009, no frame goes astray, a full ring loses, and
 * what an engine cannot do is refused. Run by `meson test`; DPDK without hugepages or privilege.
 */
#define EAL_LCORES "(0-2)"
#include "tests/bridge_fixture.h"

enum { OCTETS = 60, MANY = 1000, MANY_LARGE = 400, LARGE_HEADERS = 54 };

#define FROM_PORT(port, queue) "{\"port\": \"" port "\", \"queue\": " #queue "}"
#define RING(name) "{\"ring\": \"" name "\"}"
#define TO(port, queue) "{\"port\": \"" port "\", \"queues\": [" #queue "]}"
#define WAY(to) "{\"to\": " to "}"
#define BRIDGE(from, more) "{\"kind\": \"bridge\", \"from\": " from ", \"burst\": 32, " more "}"
#define OURS "\"addresses\": [\"10.0.0.1\", \"fd00::1\"], "
#define PROGRAM(first, second, rings) \
	"{\"workers\": [{\"lcore\": 1, \"tasks\": [" first "]}," \
	" {\"lcore\": 2, \"tasks\": [" second "]}], \"streams\": [], \"rings\": [" rings "]}"

static const char shared[] =
	PROGRAM(BRIDGE(FROM_PORT("p0", 0),
		       OURS "\"kernel\": " WAY(RING("kernel")) ", \"fast\": {\"to\": " TO(
			       "p0", 0) ", \"rewrite\": \"reverse\"}"),
		BRIDGE(RING("kernel"), "\"kernel\": " WAY(TO("k0", 0))) ", " BRIDGE(
			FROM_PORT("k0", 0), "\"kernel\": " WAY(TO("p0", 1))),
		"{\"name\": \"kernel\", \"frames\": 1024}");

/* The device's rules bring addressed frames to queue 1, the rest of the kernel's comes by the ring. */
static const char by_device[] = PROGRAM(
	BRIDGE(FROM_PORT("p0", 0),
	       OURS "\"kernel\": " WAY(RING("kernel")) ", \"fast\": {\"to\": " TO(
		       "p0", 0) ", \"rewrite\": \"reverse\"}"),
	BRIDGE(FROM_PORT("p0", 1), "\"kernel\": " WAY(TO("k0", 0))) ", " BRIDGE(
		RING("kernel"),
		"\"kernel\": " WAY(TO("k0", 0))) ", " BRIDGE(FROM_PORT("k0", 0),
							     "\"kernel\": " WAY(TO("p0", 1))),
	"{\"name\": \"kernel\", \"frames\": 1024}");

static const char in_software[] = PROGRAM(
	BRIDGE(RING("fast"), "\"kernel\": {\"to\": " TO("p0", 0) ", \"rewrite\": \"reverse\"}"),
	BRIDGE(FROM_PORT("p0", 0), OURS "\"kernel\": " WAY(TO("k0", 0)) ", \"fast\": " WAY(RING(
					   "fast"))) ", " BRIDGE(FROM_PORT("k0", 0),
								 "\"kernel\": " WAY(TO("p0", 1))),
	"{\"name\": \"fast\", \"frames\": 1024}");

static const char splitting[] = "{\"workers\": [{\"lcore\": 1, \"tasks\": [" BRIDGE(
	FROM_PORT("k0", 0),
	"\"kernel\": {\"to\": " TO("p0",
				   0) ", \"segments\": \"split\","
				      " \"checksums\": \"complete\"}") "]}], \"streams\": []}";

/* An IPv4 frame for 10.0.0.`host`, with its number behind the headers. */
static void
give_numbered(uint32_t p, uint16_t queue, uint8_t host, uint32_t number)
{
	uint8_t frame[OCTETS] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45};

	frame[22] = 64;
	frame[23] = 17;
	memcpy(frame + 26, "\x0a\x00\x00\x63\x0a\x00\x00", 7);
	frame[33] = host;
	memcpy(frame + 42, &number, sizeof(number));
	give(p, queue, frame, OCTETS);
}

/* Frames first, first+1, … have come out there, as many as there are; to the host, or reversed from it. */
static void
expect_numbered(uint32_t p, uint16_t queue, uint8_t host, bool reversed, uint32_t first,
		uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = NULL;
		const uint8_t *frame;

		assert_int_equal(rte_ring_dequeue(out[p][queue], (void **)&mbuf), 0);
		frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		assert_int_equal(frame[reversed ? 29 : 33], host);
		assert_int_equal(frame[reversed ? 33 : 29], 0x63);
		assert_int_equal(frame[42] | frame[43] << 8, first + i);
		rte_pktmbuf_free(mbuf);
	}
	assert_int_equal(rte_ring_count(out[p][queue]), 0);
}

/* Frames for the kernel, for the fast path and from the kernel at once. */
static void
give_all(void)
{
	for (uint32_t i = 0; i < MANY; i++) {
		give_numbered(P0, 0, 1, i);
		give_numbered(P0, 0, 2, MANY + i);
		give_numbered(K0, 0, 3, 2 * MANY + i);
	}
}

static void
expect_all(void)
{
	expect_numbered(K0, 0, 1, false, 0, MANY);
	expect_numbered(P0, 0, 2, true, MANY, MANY);
	expect_numbered(P0, 1, 3, false, 2 * MANY, MANY);
}

static void
the_shared_layout_carries_all(void **state)
{
	struct program *program = bridge_start(shared);
	const struct bridge_counters *d = counters_of(program, 0, 0),
				     *k = counters_of(program, 1, 0);
	const struct bridge_counters *back = counters_of(program, 1, 1);

	(void)state;
	give_all();
	await(&d->rx_frames, 2 * MANY);
	await(&k->kernel_frames, MANY);
	await(&back->kernel_frames, MANY);
	await(&d->fast_frames, MANY);
	expect_all();
	bridge_stop(program);
	assert_int_equal(d->rx_frames, 2 * MANY);
	assert_int_equal(d->rx_octets, 2 * MANY * (OCTETS + 4));
	assert_int_equal(d->addressed, MANY);
	assert_int_equal(d->kernel_frames, MANY);
	assert_int_equal(d->kernel_octets, MANY * (OCTETS + 4));
	assert_int_equal(d->fast_octets, MANY * (OCTETS + 4));
	assert_int_equal(d->kernel_lost + d->fast_lost + d->held, 0);
	assert_int_equal(k->rx_frames, MANY);
	assert_in_range(k->held_max, 1, 1024);
	assert_int_equal(back->addressed, 0);
	assert_true(d->first_tsc > 0 && d->last_tsc >= d->first_tsc && d->busy_cycles > 0);
	program_destroy(program);
}

static void
the_device_steers(void **state)
{
	struct program *program = bridge_start(by_device);

	(void)state;
	give_all();
	for (uint32_t i = 0; i < MANY; i++)
		give_numbered(P0, 1, 1, i);
	await(&counters_of(program, 0, 0)->fast_frames, MANY);
	await(&counters_of(program, 1, 0)->kernel_frames, MANY);
	await(&counters_of(program, 1, 1)->kernel_frames, MANY);
	await(&counters_of(program, 1, 2)->kernel_frames, MANY);
	assert_int_equal(rte_ring_count(out[K0][0]), 2 * MANY);
	expect_numbered(P0, 0, 2, true, MANY, MANY);
	expect_numbered(P0, 1, 3, false, 2 * MANY, MANY);
	bridge_stop(program);
	assert_int_equal(counters_of(program, 0, 0)->addressed, MANY); /* on the wrong queue */
	program_destroy(program);
}

static void
software_steers(void **state)
{
	struct program *program = bridge_start(in_software);

	(void)state;
	give_all();
	await(&counters_of(program, 0, 0)->kernel_frames, MANY);
	await(&counters_of(program, 1, 0)->kernel_frames, MANY);
	await(&counters_of(program, 1, 1)->kernel_frames, MANY);
	expect_all();
	bridge_stop(program);
	assert_int_equal(counters_of(program, 1, 0)->addressed, MANY);
	assert_int_equal(counters_of(program, 1, 0)->fast_frames, MANY);
	program_destroy(program);
}

/* One worker puts in far more than a ring holds while the other is busy with its first frame. */
static void
a_full_ring_loses_at_once(void **state)
{
	struct program *program = bridge_start(PROGRAM(
		BRIDGE(FROM_PORT("p0", 0), "\"kernel\": " WAY(RING("kernel"))),
		BRIDGE(RING("kernel"), "\"kernel\": {\"to\": null, \"work_cycles\": 10000000}"),
		"{\"name\": \"kernel\", \"frames\": 64}"));
	const struct bridge_counters *d = counters_of(program, 0, 0),
				     *k = counters_of(program, 1, 0);

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		give_numbered(P0, 0, 1, i);
	await(&d->rx_frames, MANY);
	bridge_stop(program);
	assert_in_range(d->kernel_lost, 1, MANY - 64);
	assert_int_equal(d->kernel_frames, MANY - d->kernel_lost);
	assert_int_equal(k->rx_frames, d->kernel_frames); /* what was left in the ring, too */
	assert_int_equal(k->kernel_frames + k->held, k->rx_frames);
	program_destroy(program);
}

/* Both workers put into one ring, and a third way is a sink. */
static void
two_workers_share_a_ring(void **state)
{
	struct program *program = bridge_start(
		PROGRAM(BRIDGE(FROM_PORT("p0", 0), "\"kernel\": " WAY(RING("r"))),
			BRIDGE(FROM_PORT("p0", 1), "\"kernel\": " WAY(RING("r"))) ", " BRIDGE(
				RING("r"),
				"\"addresses\": [], \"fast\": null, \"kernel\": " WAY(TO("k0", 0))),
			"{\"name\": \"r\", \"frames\": 65536}"));

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		give_numbered(P0, 0, 1, i);
		give_numbered(P0, 1, 1, i);
	}
	await(&counters_of(program, 1, 1)->rx_frames, 2 * MANY);
	bridge_stop(program);
	assert_int_equal(counters_of(program, 1, 1)->fast_frames, 2 * MANY);
	assert_int_equal(counters_of(program, 1, 1)->kernel_frames, 0);
	program_destroy(program);
}

/* So net_virtio gives a large frame of the kernel; of TCP over IPv4, in two mbufs. */
static void
give_large(uint32_t payload)
{
	struct rte_mbuf *first = rte_pktmbuf_alloc(pool), *second = rte_pktmbuf_alloc(pool);
	uint8_t frame[LARGE_HEADERS] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45};

	assert_true(first != NULL && second != NULL);
	frame[16] = (uint8_t)((payload + 40) >> 8);
	frame[17] = (uint8_t)(payload + 40);
	frame[22] = 64;
	frame[23] = 6;
	frame[46] = 5 << 4;
	memcpy(rte_pktmbuf_append(first, LARGE_HEADERS), frame, LARGE_HEADERS);
	memset(rte_pktmbuf_append(second, (uint16_t)payload), 0x5a, payload);
	assert_int_equal(rte_pktmbuf_chain(first, second), 0);
	first->ol_flags = RTE_MBUF_F_RX_LRO | RTE_MBUF_F_RX_L4_CKSUM_NONE;
	first->tso_segsz = 100;
	assert_int_equal(rte_ring_enqueue(in[K0][0], first), 0);
}

/* Free what p0 has sent, which are parts; how many. */
static uint32_t
take_parts(void)
{
	struct rte_mbuf *mbuf;
	uint32_t parts = 0;

	for (; rte_ring_dequeue(out[P0][0], (void **)&mbuf) == 0; parts++) {
		assert_int_equal(rte_pktmbuf_pkt_len(mbuf), LARGE_HEADERS + 100);
		assert_int_equal(mbuf->nb_segs, 1);
		rte_pktmbuf_free(mbuf);
	}
	return parts;
}

/*
 * More parts than a device takes and its line holds: the kernel waits, and nothing is lost. Polled by hand, at a time
 * that stands still.
 */
static void
large_frames_are_cut_and_none_is_lost(void **state)
{
	struct error err = {0};
	struct program *program = bridge_load(splitting, &err);
	struct bridge_task *task = &program->workers[0].bridge[0];
	const struct bridge_counters *c = task->counters;
	uint32_t parts = 0;

	(void)state;
	for (uint32_t i = 0; i < MANY_LARGE; i++)
		give_large(1700);
	for (uint32_t i = 0; i < MANY_LARGE; i++)
		bridge_task_poll(task, 1);
	assert_true(rte_ring_count(in[K0][0]) > 0);
	assert_int_equal(c->kernel_frames, BRIDGE_RING - 1);
	for (uint32_t i = 0; i < 2 * MANY_LARGE; i++) {
		parts += take_parts();
		bridge_task_poll(task, 1);
	}
	assert_int_equal(parts + take_parts(), 17 * MANY_LARGE);
	assert_int_equal(c->rx_frames, MANY_LARGE);
	assert_int_equal(c->split, MANY_LARGE);
	assert_int_equal(c->parts, 17 * MANY_LARGE);
	assert_int_equal(c->kernel_frames, 17 * MANY_LARGE);
	assert_int_equal(c->kernel_lost + c->untouchable + c->completed + c->held, 0);
	program_destroy(program);
	assert_int_equal(rte_mempool_avail_count(pool), BRIDGE_MBUFS);
}

static void
refusals_name_the_place(void **state)
{
	static const struct {
		const char *task, *path, *words;
	} rows[] = {
		{BRIDGE(FROM_PORT("p9", 0), "\"kernel\": " WAY("null")), "workers[0].tasks[0].from",
		 "no open port is called \"p9\""},
		{BRIDGE(FROM_PORT("p0", 7), "\"kernel\": " WAY("null")), "workers[0].tasks[0].from",
		 "2 Rx queues"},
		{BRIDGE(FROM_PORT("p0", 0), "\"kernel\": " WAY(TO("k0", 7))),
		 "workers[0].tasks[0].kernel.to", "2 Tx queues"},
		{BRIDGE(FROM_PORT("p0", 0),
			"\"kernel\": {\"to\": " TO("k0", 0) ", \"segments\": \"merge\"}"),
		 "workers[0].tasks[0].kernel.segments",
		 "a port with TSO on, which k0 (net_ring) has"},
		{BRIDGE(FROM_PORT("p0", 0), "\"kernel\": {\"to\": null, \"segments\": \"split\"}"),
		 "workers[0].tasks[0].kernel.segments", "frames are cut for a port only"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct error err = {0};
		char text[1024];

		snprintf(text, sizeof(text),
			 "{\"workers\": [{\"lcore\": 1, \"tasks\": [%s]}], \"streams\": []}",
			 rows[i].task);
		assert_null(bridge_load(text, &err));
		if (strcmp(err.path, rows[i].path) != 0 || strstr(err.text, rows[i].words) == NULL)
			fail_msg("%s: %s", err.path, err.text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shared_layout_carries_all),
		cmocka_unit_test(the_device_steers),
		cmocka_unit_test(software_steers),
		cmocka_unit_test(a_full_ring_loses_at_once),
		cmocka_unit_test(two_workers_share_a_ring),
		cmocka_unit_test(large_frames_are_cut_and_none_is_lost),
		cmocka_unit_test(refusals_name_the_place),
	};

	return cmocka_run_group_tests_name("bridge_task", tests, bridge_group_up, eal_down);
}
