/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with a reply task, run by a worker over net_ring: what is asked is answered, frames with a stamp are left
 * alone, forwarders keep what they answer, and the counters say so.
 *
 * Run by `meson test`; DPDK without hugepages or privilege. Source: worker/reply_task.h, docs/design/0005.
 */
#define EAL_LCORES "(0-1)"
#include "tests/eal_fixture.h"

#include <jansson.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "program/program.h"
#include "protocol/stamp.h"
#include "tests/answer_exchanges.h"
#include "worker/forward_task.h"
#include "worker/reply_task.h"

enum { RING = 256, MBUFS = 4095, PATIENCE_MS = 5000, UDP_OCTETS = 60 };

#define REPLY \
	"{\"kind\": \"reply\", \"port\": \"p0\", \"queue\": 0, \"burst\": 4, \"addresses\": [" \
	"{\"mac\": \"02:57:52:00:00:01\", \"ipv4\": \"10.0.0.1\"}," \
	" {\"mac\": \"02:57:52:00:00:01\", \"ipv6\": \"fd00::1\"}]}"
#define RX(more) "{\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": 32" more "}"
#define PROGRAM(tasks, streams) \
	"{\"workers\": [{\"lcore\": 1, \"tasks\": [" tasks "]}], \"streams\": [" streams "]}"

static struct rte_mempool *pool;
static struct port ports[2];
static struct rte_ring *in[2], *out[2]; /* what the ports receive, and have sent */
static char counters_path[64];

static int
open_port(uint32_t p)
{
	struct rte_eth_conf conf = {0};
	char name[16];
	int id;

	snprintf(name, sizeof(name), "in%u", p);
	in[p] = rte_ring_create(name, RING, SOCKET_ID_ANY, 0);
	snprintf(name, sizeof(name), "out%u", p);
	out[p] = rte_ring_create(name, RING, SOCKET_ID_ANY, 0);
	snprintf(name, sizeof(name), "p%u", p);
	id = rte_eth_from_rings(name, &in[p], 1, &out[p], 1, 0);
	if (id < 0)
		return -1;
	ports[p] = (struct port){.port_id = (uint16_t)id,
				 .rx_queues = 1,
				 .tx_queues = 1,
				 .tx_descriptors = RING,
				 .driver = "net_ring",
				 .rx_pool = pool,
				 .config = {.rx_queues = 1,
					    .tx_queues = 1,
					    .frame_size_max = 1518,
					    .location = "ring:test"}};
	snprintf(ports[p].config.name, sizeof(ports[p].config.name), "%s", name);
	if (rte_eth_dev_configure(ports[p].port_id, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(ports[p].port_id, 0, RING, 0, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(ports[p].port_id, 0, RING, 0, NULL) != 0)
		return -1;
	return rte_eth_dev_start(ports[p].port_id);
}

static int
group_up(void **state)
{
	if (eal_up(state) != 0)
		return -1;
	snprintf(counters_path, sizeof(counters_path), "/tmp/wirerate-test-%d", (int)getpid());
	pool = rte_pktmbuf_pool_create("rx", MBUFS, 0, 0, 2048, SOCKET_ID_ANY);
	return open_port(0) != 0 || open_port(1) != 0 ? -1 : 0;
}

static struct program *
start(const char *text)
{
	static uint32_t number;
	json_t *params = json_loads(text, 0, NULL);
	struct program_config config;
	struct program *program = NULL;
	struct error err = {0};

	assert_non_null(params);
	if (config_decode_program(params, &config, &err) != 0 ||
	    program_create(&program, &config, ports, 2, number++, counters_path, rte_get_tsc_hz(),
			   &err) != 0 ||
	    program_run(program, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	config_free_program(&config);
	json_decref(params);
	return program;
}

static void
give(uint32_t p, const uint8_t *octets, uint32_t n)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_non_null(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)n), octets, n);
	assert_int_equal(rte_ring_enqueue(in[p], mbuf), 0);
}

static void
give_hex(const char *hex)
{
	uint8_t octets[EXCHANGE_ROOM];

	give(0, octets, octets_of_hex(hex, octets));
}

/* The next frame that the port sends. */
static uint32_t
take(uint32_t p, uint8_t octets[EXCHANGE_ROOM])
{
	struct rte_mbuf *mbuf;
	uint32_t n;

	for (int ms = 0; rte_ring_dequeue(out[p], (void **)&mbuf) != 0; ms++) {
		assert_true(ms < PATIENCE_MS);
		usleep(1000);
	}
	n = rte_pktmbuf_data_len(mbuf);
	assert_true(n <= EXCHANGE_ROOM);
	memcpy(octets, rte_pktmbuf_mtod(mbuf, void *), n);
	rte_pktmbuf_free(mbuf);
	return n;
}

static void
expect_hex(const char *hex)
{
	uint8_t wanted[EXCHANGE_ROOM], octets[EXCHANGE_ROOM];
	uint32_t n = octets_of_hex(hex, wanted);

	assert_int_equal(take(0, octets), n);
	assert_memory_equal(octets, wanted, n);
}

/* Stop; nothing was sent besides, and every mbuf is back. The counters stay until program_destroy(). */
static const struct reply_counters *
stop(struct program *program)
{
	program_halt(program);
	assert_int_equal(rte_ring_count(out[0]), 0);
	assert_int_equal(rte_ring_count(out[1]), 0);
	assert_int_equal(rte_mempool_avail_count(pool), MBUFS);
	return program->answers[0]->counters;
}

static void
every_kind_is_answered(void **state)
{
	struct program *program = start(PROGRAM(RX(", \"answer\": true") ", " REPLY, ""));
	const struct reply_counters *counters;
	uint64_t octets = 0, kinds[ANSWER_KINDS] = {0};

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < EXCHANGES; i++)
			give_hex(answer_exchanges[i].request);
		for (size_t i = 0; i < EXCHANGES; i++) {
			expect_hex(answer_exchanges[i].answer);
			octets += strlen(answer_exchanges[i].answer) / 2 + 4;
			kinds[answer_exchanges[i].kind]++;
		}
	}
	counters = stop(program);
	assert_int_equal(counters->frames, 3 * EXCHANGES);
	assert_int_equal(counters->octets, octets);
	assert_int_equal(counters->arp, kinds[ANSWER_ARP]);
	assert_int_equal(counters->neighbors, kinds[ANSWER_NEIGHBOR]);
	assert_int_equal(counters->echoes, kinds[ANSWER_ECHO]);
	assert_int_equal(counters->not_taken + counters->overflowed, 0);
	assert_true(counters->busy_cycles > 0);
	assert_int_equal(program->workers[0].rx[0].counters->frames, 3 * EXCHANGES);
	program_destroy(program);
}

/* An ARP request with a stamp in its padding, which does not disturb it otherwise. */
static void
give_stamped(uint16_t magic)
{
	struct stamp stamp = {.magic = magic, .id = 7, .sequence = 1};
	uint8_t octets[EXCHANGE_ROOM];
	uint32_t n = octets_of_hex(answer_exchanges[0].request, octets);
	uint64_t first, second;

	stamp_pack(&stamp, &first, &second);
	stamp_store_half(octets + n - 16, first);
	stamp_store_half(octets + n - 8, second);
	give(0, octets, n);
}

static void
frames_with_a_stamp_are_left_alone(void **state)
{
	static const char stream[] =
		"{\"name\": \"s0\", \"template\": \"%0120d\", \"fields\": [], \"checksums\": [],"
		" \"fps\": null, \"frames\": null, \"stamp\": 7}";
	static const char *const receivers[] = {", \"answer\": true",
						", \"answer\": true, \"measure\": true"};
	char text[2048], streams[512];

	(void)state;
	snprintf(streams, sizeof(streams), stream, 0);
	for (size_t i = 0; i < COUNT(receivers); i++) {
		struct program *program;
		const struct rx_counters *rx;

		snprintf(text, sizeof(text),
			 PROGRAM(RX("%s") ", " REPLY
					  ", {\"kind\": \"tx\", \"port\": \"p1\", \"queue\": 0,"
					  " \"burst\": 1, \"stream\": \"s0\", \"part\": 0,"
					  " \"parts\": 1}",
				 "%s"),
			 receivers[i], streams);
		program = start(text);
		give_stamped(STAMP_MAGIC_DEFAULT);
		give_hex(answer_exchanges[0].request);
		expect_hex(answer_exchanges[0].answer);
		give_stamped(STAMP_MAGIC_DEFAULT + 1); /* another program's is no stamp */
		expect_hex(answer_exchanges[0].answer);
		assert_int_equal(stop(program)->arp, 2);
		rx = program->workers[0].rx[0].counters;
		assert_int_equal(rx->frames, 3);
		assert_int_equal(rx->foreign_frames, i == 0 ? 0 : 2);
		program_destroy(program);
	}
}

static void
nobody_answers_unless_told_to(void **state)
{
	struct program *program = start(PROGRAM(RX("") ", " REPLY, ""));

	(void)state;
	give_hex(answer_exchanges[0].request);
	for (int ms = 0; program->workers[0].rx[0].counters->frames < 1; ms++) {
		assert_true(ms < PATIENCE_MS);
		usleep(1000);
	}
	usleep(10000);
	assert_int_equal(stop(program)->arp, 0);
	program_destroy(program);
}

static void
forwarders_keep_what_they_answer(void **state)
{
	static const uint8_t udp[UDP_OCTETS] = {[12] = 8, 0, 0x45, [23] = 17, [59] = 9};
	struct program *program =
		start(PROGRAM("{\"kind\": \"forward\", \"port\": \"p0\", \"queue\": 0,"
			      " \"burst\": 32, \"to_port\": \"p1\", \"to_queue\": 0,"
			      " \"answer\": true}, " REPLY,
			      ""));
	uint8_t octets[EXCHANGE_ROOM];

	(void)state;
	give(0, udp, sizeof(udp));
	for (size_t i = 0; i < EXCHANGES; i++)
		give_hex(answer_exchanges[i].request);
	give(0, udp, sizeof(udp));
	for (size_t i = 0; i < EXCHANGES; i++)
		expect_hex(answer_exchanges[i].answer);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(take(1, octets), UDP_OCTETS);
		assert_memory_equal(octets, udp, UDP_OCTETS);
	}
	assert_int_equal(stop(program)->frames, EXCHANGES);
	assert_int_equal(program->workers[0].forward[0].counters->rx_frames, EXCHANGES + 2);
	assert_int_equal(program->workers[0].forward[0].counters->tx_frames, 2);
	program_destroy(program);
}

/* A device that takes nothing: answers are given up after a while, and mbufs are not used up. */
static void
what_is_not_taken_is_counted(void **state)
{
	struct program *program = start(PROGRAM(RX(", \"answer\": true") ", " REPLY, ""));
	const struct reply_counters *counters = program->answers[0]->counters;
	void *nothing;

	(void)state;
	while (rte_ring_enqueue(out[0], program) == 0)
		;
	for (int i = 0; i < 10; i++)
		give_hex(answer_exchanges[0].request);
	for (int ms = 0; __atomic_load_n(&counters->not_taken, __ATOMIC_RELAXED) < 4; ms++) {
		assert_true(ms < PATIENCE_MS);
		usleep(1000);
	}
	program_halt(program);
	while (rte_ring_dequeue(out[0], &nothing) == 0)
		;
	assert_ptr_equal(stop(program), counters);
	assert_int_equal(counters->frames, 0);
	assert_int_equal(counters->arp, 10);
	assert_int_equal(counters->not_taken, 10);
	program_destroy(program);
}

/* Too many at once for the queue, and none for want of an mbuf: counted, and never sent late. */
static void
what_overflows_is_counted(void **state)
{
	struct program *program = start(PROGRAM(RX(", \"answer\": true") ", " REPLY, ""));
	struct answer_queue *queue = program->answers[0];
	struct rte_mbuf *mbuf, *all[MBUFS];
	uint8_t octets[EXCHANGE_ROOM];
	uint32_t n = octets_of_hex(answer_exchanges[0].request, octets);

	(void)state;
	program_halt(program); /* nobody sends */
	mbuf = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)n), octets, n);
	for (uint32_t i = 0; i < ANSWER_QUEUE_FRAMES + 9; i++)
		assert_true(answer_queue_offer(queue, mbuf));
	answer_queue_end(queue);
	assert_int_equal(queue->counters->arp, ANSWER_QUEUE_FRAMES - 1);
	assert_int_equal(queue->counters->not_taken, ANSWER_QUEUE_FRAMES - 1);
	assert_int_equal(queue->counters->overflowed, 10);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, all, MBUFS - 1), 0);
	assert_true(answer_queue_offer(queue, mbuf));
	answer_queue_end(queue);
	assert_int_equal(queue->counters->overflowed, 11);
	rte_pktmbuf_free_bulk(all, MBUFS - 1);
	assert_memory_equal(rte_pktmbuf_mtod(mbuf, void *), octets, n);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(rte_mempool_avail_count(pool), MBUFS);
	program_destroy(program);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_answered),
		cmocka_unit_test(frames_with_a_stamp_are_left_alone),
		cmocka_unit_test(nobody_answers_unless_told_to),
		cmocka_unit_test(forwarders_keep_what_they_answer),
		cmocka_unit_test(what_is_not_taken_is_counted),
		cmocka_unit_test(what_overflows_is_counted),
	};

	return cmocka_run_group_tests_name("reply_task", tests, group_up, eal_down);
}
