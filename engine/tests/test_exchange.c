/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports.exchange over a ring that gives back what is sent: what matches is returned, as many as asked for, the rest is
 * thrown away, time ends it, and nothing is used up.
 *
 * Run by `meson test`; DPDK without hugepages or privilege. Source: control/exchange.h, docs/design/0005.
 */
#include "tests/eal_fixture.h"

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "control/exchange.h"

enum { RING = 64, MBUFS = 255 };

#define ARP \
	"ffffffffffff0257520000010806" \
	"0001080006040001"
#define UDP \
	"0257520000020257520000010800" \
	"450000200000000040110000" \
	"0a0000010a000002" \
	"0001000200"

static struct rte_mempool *pool;
static struct port ports[3]; /* the second one lacks Rx queues, the third one Tx queues */
static struct exchange exchanges[2];

static int
group_up(void **state)
{
	struct rte_eth_conf conf = {0};
	struct rte_ring *ring;
	int id;

	if (eal_up(state) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("rx", MBUFS, 0, 0, 2048, SOCKET_ID_ANY);
	ring = rte_ring_create("loop", RING, SOCKET_ID_ANY, 0);
	id = rte_eth_from_rings("loop", &ring, 1, &ring, 1, 0);
	if (id < 0 || rte_eth_dev_configure((uint16_t)id, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup((uint16_t)id, 0, RING, 0, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup((uint16_t)id, 0, RING, 0, NULL) != 0)
		return -1;
	ports[0] = (struct port){.port_id = (uint16_t)id,
				 .rx_queues = 1,
				 .tx_queues = 1,
				 .tx_descriptors = RING,
				 .driver = "net_ring",
				 .rx_pool = pool,
				 .config = {.name = "p0",
					    .location = "ring:loop",
					    .rx_queues = 1,
					    .tx_queues = 1,
					    .frame_size_max = 128}};
	ports[1] = ports[0];
	snprintf(ports[1].config.name, sizeof(ports[1].config.name), "p1");
	ports[1].config.rx_queues = 0;
	ports[2] = ports[0];
	snprintf(ports[2].config.name, sizeof(ports[2].config.name), "p2");
	ports[2].config.tx_queues = 0;
	return rte_eth_dev_start((uint16_t)id);
}

static int
group_down(void **state)
{
	rte_eth_dev_stop(ports[0].port_id);
	rte_eth_dev_close(ports[0].port_id);
	frame_pool_destroy(exchanges[0].pool);
	return eal_down(state);
}

static json_t *
call(const char *frames, const char *filter, int answers, int64_t timeout_ns, struct error *err)
{
	json_t *params = json_pack("{s:s, s:i, s:o, s:s, s:i, s:I}", "port", "p0", "queue", 0,
				   "frames", json_loads(frames, 0, NULL), "filter", filter,
				   "answers", answers, "timeout_ns", (json_int_t)timeout_ns);
	json_t *result;

	assert_non_null(params);
	result = exchange_frames(exchanges, ports, 2, rte_get_tsc_hz(), params, err);
	json_decref(params);
	return result;
}

static size_t
frames_in(const json_t *result)
{
	return json_array_size(json_object_get(result, "frames"));
}

static void
what_matches_comes_back(void **state)
{
	static const char *const filters[] = {"arp", "ether proto 0x806", "not ip"};

	(void)state;
	for (size_t i = 0; i < COUNT(filters); i++) {
		json_t *result = call("[\"" UDP "\", \"" ARP "\", \"" UDP "\"]", filters[i], 1,
				      1000000000, NULL);
		const char *hex;

		assert_int_equal(frames_in(result), 1);
		hex = json_string_value(json_array_get(json_object_get(result, "frames"), 0));
		assert_int_equal(strlen(hex), 120); /* filled up with zeros */
		assert_memory_equal(hex, ARP, strlen(ARP));
		assert_int_equal(strspn(hex + strlen(ARP), "0"), 120 - strlen(ARP));
		assert_int_equal(json_integer_value(json_object_get(result, "sent")), 3);
		assert_int_equal(json_array_size(json_object_get(result, "queues")), 1);
		assert_true(json_is_null(json_array_get(json_object_get(result, "hashes"), 0)));
		json_decref(result);
	}
}

static void
no_filter_takes_everything(void **state)
{
	json_t *result = call("[\"" UDP "\", \"" ARP "\"]", "", 2, 1000000000, NULL);

	(void)state;
	assert_int_equal(frames_in(result), 2);
	json_decref(result);
}

static void
time_ends_it(void **state)
{
	uint64_t before = rte_rdtsc();
	json_t *result = call("[\"" UDP "\"]", "arp", 1, 50000000, NULL);

	(void)state;
	assert_int_equal(frames_in(result), 0);
	assert_true(rte_rdtsc() - before >= rte_get_tsc_hz() / 20);
	json_decref(result);
}

/* More frames than the device holds, again and again: they go in turn, and none is lost. */
static void
many_frames_are_sent_in_order(void **state)
{
	enum { FRAMES = 1000 };
	json_t *frames = json_array();
	char *text;

	(void)state;
	for (int i = 0; i < FRAMES; i++) {
		char hex[121];

		snprintf(hex, sizeof(hex), "%0112d%08x", 0, i);
		json_array_append_new(frames, json_string(hex));
	}
	text = json_dumps(frames, 0);
	for (int round = 0; round < 3; round++) {
		json_t *result = call(text, "", FRAMES, 1000000000, NULL);

		assert_true(json_equal(json_object_get(result, "frames"), frames));
		json_decref(result);
	}
	free(text);
	json_decref(frames);
}

static void
what_cannot_be_done_is_refused(void **state)
{
	static const struct {
		const char *params, *path, *words;
	} rows[] = {
		{"{\"port\": \"p9\", \"queue\": 0, \"frames\": [], \"filter\": \"\","
		 " \"answers\": 1, \"timeout_ns\": 1}",
		 "port", "no open port is called \"p9\""},
		{"{\"port\": \"p0\", \"queue\": 1, \"frames\": [], \"filter\": \"\","
		 " \"answers\": 1, \"timeout_ns\": 1}",
		 "queue", "was opened with 1 Tx queues"},
		{"{\"port\": \"p1\", \"queue\": 0, \"frames\": [], \"filter\": \"\","
		 " \"answers\": 1, \"timeout_ns\": 1}",
		 "port", "without Rx queues"},
		{"{\"port\": \"p0\", \"receive\": \"p1\", \"queue\": 0, \"frames\": [],"
		 " \"filter\": \"\", \"answers\": 1, \"timeout_ns\": 1}",
		 "receive", "port p1 was opened without Rx queues"},
		{"{\"port\": \"p0\", \"receive\": \"p9\", \"queue\": 0, \"frames\": [],"
		 " \"filter\": \"\", \"answers\": 1, \"timeout_ns\": 1}",
		 "receive", "no open port is called \"p9\""},
		{"{\"port\": \"p0\", \"queue\": 0, \"frames\": [], \"filter\": \"arp or\","
		 " \"answers\": 1, \"timeout_ns\": 1}",
		 "filter", "arp or"},
		{"{\"port\": \"p0\", \"queue\": 0, \"frames\": [], \"filter\": \"\","
		 " \"answers\": 0, \"timeout_ns\": 1}",
		 "answers", "0"},
	};
	char frame[512];
	struct error err;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = json_loads(rows[i].params, 0, NULL);

		error_clear(&err);
		assert_null(exchange_frames(exchanges, ports, 2, rte_get_tsc_hz(), params, &err));
		assert_string_equal(err.path, rows[i].path);
		assert_non_null(strstr(err.text, rows[i].words));
		json_decref(params);
	}
	snprintf(frame, sizeof(frame), "[\"" ARP "\", \"%0250d\"]", 0);
	error_clear(&err);
	assert_null(call(frame, "", 1, 1, &err));
	assert_string_equal(err.path, "frames[1]");
	assert_non_null(strstr(err.text, "129 octets"));
}

/* Sent by a port that does not receive, received by another one. */
static void
another_port_receives(void **state)
{
	json_t *params = json_pack("{s:s, s:s, s:i, s:[s], s:s, s:i, s:I}", "port", "p0", "receive",
				   "p2", "queue", 0, "frames", UDP, "filter", "", "answers", 1,
				   "timeout_ns", (json_int_t)1000000000);
	json_t *result = exchange_frames(exchanges, ports, 3, rte_get_tsc_hz(), params, NULL);

	(void)state;
	assert_int_equal(frames_in(result), 1);
	json_decref(result);
	json_decref(params);
}

static int
nothing_is_used_up(void **state)
{
	(void)state;
	return rte_mempool_avail_count(pool) == MBUFS ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_matches_comes_back, nothing_is_used_up),
		cmocka_unit_test_teardown(no_filter_takes_everything, nothing_is_used_up),
		cmocka_unit_test_teardown(time_ends_it, nothing_is_used_up),
		cmocka_unit_test_teardown(many_frames_are_sent_in_order, nothing_is_used_up),
		cmocka_unit_test_teardown(another_port_receives, nothing_is_used_up),
		cmocka_unit_test_teardown(what_cannot_be_done_is_refused, nothing_is_used_up),
	};

	return cmocka_run_group_tests_name("exchange", tests, group_up, group_down);
}
