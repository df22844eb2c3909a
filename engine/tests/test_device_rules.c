/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What real devices demand, and net_ring does not: frames of one pool on a Tx queue whose driver frees them without
 * looking, Rx bursts that are not too small for a vector function, no chain of mbufs for a device that sends none.
 *
 * Run by `meson test`; DPDK without hugepages or privilege. Source: program/tx_pools.h, worker/worker.h.
 */
#define EAL_LCORES "(0-1)"
#include "tests/bridge_fixture.h"

#include "control/exchange.h"
#include "tests/answer_exchanges.h"
#include "worker/forward_task.h"

enum { STEP = 8, OCTETS = 60, FRAMES = 200 };

#define FORWARD(from, to) \
	"{\"kind\": \"forward\", \"port\": \"" from \
	"\", \"queue\": 0, \"burst\": %d, \"to_port\": \"" to "\", \"to_queue\": 0}"
#define REPLY(port, tx_queue) \
	"{\"kind\": \"reply\", \"port\": \"" port "\", \"queue\": " tx_queue \
	", \"burst\": 4, \"addresses\": [{\"mac\": \"02:57:52:00:00:01\", \"ipv4\": \"10.0.0.1\"}]}"
#define BRIDGE \
	"{\"kind\": \"bridge\", \"from\": {\"port\": \"p0\", \"queue\": 0}, \"burst\": %d, " \
	"\"kernel\": {\"to\": {\"port\": \"k0\", \"queues\": [0]}}}"
#define TX(port) \
	"{\"kind\": \"tx\", \"port\": \"" port "\", \"queue\": 0, \"burst\": 1, " \
	"\"stream\": \"s0\", \"part\": 0, \"parts\": 1}"
#define STREAM \
	"{\"name\": \"s0\", \"template\": \"%0120d\", \"fields\": [], \"checksums\": []," \
	" \"fps\": 1, \"frames\": 1}"

static eth_rx_burst_t ring_rx;

/* As vector functions do (DPDK, i40e_rxtx_vec_common.h): whole steps only. */
static uint16_t
rx_in_steps(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return ring_rx(queue, mbufs, RTE_ALIGN_FLOOR(count, STEP));
}

/* A program of one worker with these tasks; `burst` and a 0 for the stream's octets are put in. */
static __rte_noinline const char
	* /* UBSan's check for NULL would be taken for a format that may be NULL */
	program_of(const char *tasks, const char *streams, int burst)
{
	static char text[4096];
	char filled[2048], stream[512];

	/* UBSan looks whether a format is NULL, from which gcc concludes that it may be. */
	snprintf(filled, sizeof(filled), tasks != NULL ? tasks : "", burst, burst);
	snprintf(stream, sizeof(stream), streams != NULL ? streams : "", 0);
	snprintf(text, sizeof(text),
		 "{\"workers\": [{\"lcore\": 1, \"tasks\": [%s]}], \"streams\": [%s]}", filled,
		 stream);
	return text;
}

static int
group_up(void **state)
{
	if (bridge_group_up(state) != 0)
		return -1;
	ring_rx = rte_eth_fp_ops[ports[P0].port_id].rx_pkt_burst;
	for (uint32_t p = 0; p < BRIDGE_PORTS; p++) {
		ports[p].location.kind = LOCATION_PCI;
		ports[p].config.location[0] = 'x';
	}
	return 0;
}

static int
set_up(void **state)
{
	(void)state;
	for (uint32_t p = 0; p < BRIDGE_PORTS; p++) {
		rte_eth_fp_ops[ports[p].port_id].rx_pkt_burst = ring_rx;
		ports[p].offloads.fast_free = false;
		ports[p].tx_source = NULL;
		ports[p].conf.txmode.offloads = 0;
	}
	return 0;
}

static void
give_numbered(uint32_t count)
{
	uint8_t octets[OCTETS] = {[12] = 8, 0, 0x45, [23] = 17};

	for (uint32_t i = 0; i < count; i++) {
		octets[OCTETS - 1] = (uint8_t)i;
		give(P0, 0, octets, sizeof(octets));
	}
}

static void
small_bursts_receive_on_vector_functions(void **state)
{
	static const char *const tasks[] = {
		"{\"kind\": \"rx\", \"port\": \"p0\", \"queue\": 0, \"burst\": %d}",
		FORWARD("p0", "k0"), BRIDGE};

	(void)state;
	rte_eth_fp_ops[ports[P0].port_id].rx_pkt_burst = rx_in_steps;
	for (int burst = 1; burst < STEP; burst++) {
		for (size_t kind = 0; kind < COUNT(tasks); kind++) {
			struct program *program = bridge_start(program_of(tasks[kind], "", burst));
			const struct worker *worker = &program->workers[0];

			give_numbered(FRAMES);
			if (kind == 0)
				await(&worker->rx[0].counters->frames, FRAMES);
			else if (kind == 1)
				await(&worker->forward[0].counters->tx_frames, FRAMES);
			else
				await(&counters_of(program, 0, 0)->kernel_frames, FRAMES);
			bridge_stop(program);
			program_destroy(program);
		}
	}
}

static uint16_t largest_sent;
static eth_tx_burst_t ring_tx;

static uint16_t
tx_noted(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	largest_sent = RTE_MAX(largest_sent, count);
	return ring_tx(queue, mbufs, count);
}

static void
a_forwarder_sends_in_bursts_as_asked(void **state)
{
	struct program *program = bridge_start(program_of(FORWARD("p0", "k0"), "", 3));

	(void)state;
	ring_tx = rte_eth_fp_ops[ports[K0].port_id].tx_pkt_burst;
	rte_eth_fp_ops[ports[K0].port_id].tx_pkt_burst = tx_noted;
	give_numbered(FRAMES);
	await(&program->workers[0].forward[0].counters->tx_frames, FRAMES);
	bridge_stop(program);
	rte_eth_fp_ops[ports[K0].port_id].tx_pkt_burst = ring_tx;
	assert_in_range(largest_sent, 1, 3);
	program_destroy(program);
}

/* Loads one after the other on ports that stay open; all but the last of them are taken. */
static void
check_loads(const char *const *tasks, size_t count, const char *const *words)
{
	for (size_t i = 0; i < count; i++) {
		const char *streams = strstr(tasks[i], "\"stream\"") != NULL ? STREAM : "";
		struct error err = {0};
		struct program *program = bridge_load(program_of(tasks[i], streams, 32), &err);

		if (program != NULL) {
			assert_true(words == NULL || i + 1 < count);
			program_destroy(program);
			continue;
		}
		if (words == NULL || i + 1 < count)
			fail_msg("%s: %s", tasks[i], err.text);
		for (; *words != NULL; words++)
			if (strstr(err.text, *words) == NULL)
				fail_msg("no \"%s\" in \"%s\"", *words, err.text);
	}
}

static void
two_pools_are_refused(void **state)
{
	static const struct {
		const char *tasks[3];
		const char *words[4];
	} rows[] = {
		{{FORWARD("p0", "p0") ", " REPLY("p0", "0")},
		 {"ready frames", "port p0", "one_pool"}},
		{{FORWARD("p0", "p0") ", " REPLY("p0", "1")},
		 {"ready frames", "port p0", "one_pool"}},
		{{FORWARD("p0", "k0") ", " TX("k0")}, {"ready frames", "port k0", "one_pool"}},
		{{FORWARD("p0", "k0"), FORWARD("p0", "k0"), TX("k0")}, {"ready frames", "port k0"}},
		{{TX("k0"), FORWARD("p0", "k0")}, {"besides ready frames", "port k0"}},
		{{BRIDGE}, {"frames of any pool", "port k0"}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t count = 0;

		set_up(state);
		ports[P0].offloads.fast_free = ports[K0].offloads.fast_free = true;
		while (count < COUNT(rows[i].tasks) && rows[i].tasks[count] != NULL)
			count++;
		check_loads(rows[i].tasks, count, rows[i].words);
	}
}

static void
what_a_ring_gives_back_may_be_of_any_pool(void **state)
{
	static const char *const tasks[] = {FORWARD("p0", "k0")};
	static const char *const words[] = {"frames of any pool", NULL};

	(void)state;
	ports[K0].offloads.fast_free = true;
	ports[P0].location.kind = LOCATION_RING;
	check_loads(tasks, COUNT(tasks), words);
	ports[P0].location.kind = LOCATION_PCI;
}

static void
one_pool_or_a_driver_that_looks_is_taken(void **state)
{
	static const char *const same[] = {TX("k0") ", " REPLY("k0", "0"), TX("k0")};
	static const char *const mixed[] = {FORWARD("p0", "k0") ", " TX("k0"), BRIDGE, TX("k0")};

	(void)state;
	check_loads(mixed, COUNT(mixed), NULL);
	ports[K0].offloads.fast_free = true;
	check_loads(same, COUNT(same), NULL);
}

/* ports.exchange sends ready frames, too. */
static void
an_exchange_counts(void **state)
{
	static const char *const tasks[] = {FORWARD("p0", "k0")};
	struct exchange exchanges[BRIDGE_PORTS] = {0};
	json_t *params =
		json_pack("{s:s, s:i, s:[s], s:s, s:i, s:i}", "port", "k0", "queue", 0, "frames",
			  answer_exchanges[0].request, "filter", "", "answers", 1, "timeout_ns", 1);
	struct error err = {0};

	(void)state;
	ports[K0].offloads.fast_free = true;
	check_loads(tasks, COUNT(tasks), NULL);
	assert_null(
		exchange_frames(exchanges, ports, BRIDGE_PORTS, rte_get_tsc_hz(), params, &err));
	assert_string_equal(err.path, "port");
	assert_non_null(strstr(err.text, "ready frames"));
	json_decref(params);
}

static void
give_chain(void)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(pool), *rest = rte_pktmbuf_alloc(pool);

	assert_non_null(head);
	assert_non_null(rest);
	memset(rte_pktmbuf_append(head, OCTETS), 0, OCTETS);
	memset(rte_pktmbuf_append(rest, OCTETS), 0, OCTETS);
	assert_int_equal(rte_pktmbuf_chain(head, rest), 0);
	assert_int_equal(rte_ring_enqueue(in[P0][0], head), 0);
}

/* Never a part of it, and nothing is lost but what is counted. */
static void
chains_go_only_where_they_are_sent(void **state)
{
	static const char *const tasks[] = {FORWARD("p0", "k0"), BRIDGE};

	(void)state;
	for (size_t kind = 0; kind < COUNT(tasks); kind++) {
		for (uint32_t can = 0; can < 2; can++) {
			struct program *program;
			const struct worker *worker;

			ports[K0].conf.txmode.offloads = can * RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
			program = bridge_start(program_of(tasks[kind], "", 32));
			worker = &program->workers[0];
			give_numbered(5);
			give_chain();
			give_numbered(5);
			if (kind == 0) {
				const struct forward_counters *c = worker->forward[0].counters;

				await(&c->tx_frames, 10 + can);
				await(&c->rx_frames, 11);
				assert_int_equal(c->tx_frames, 10 + can);
				assert_int_equal(c->not_taken, 1 - can);
				assert_int_equal(c->chained, 1 - can);
			} else {
				const struct bridge_counters *c = counters_of(program, 0, 0);

				await(&c->kernel_frames, 10 + can);
				await(&c->rx_frames, 11);
				assert_int_equal(c->kernel_frames, 10 + can);
				assert_int_equal(c->kernel_lost, 1 - can);
			}
			bridge_stop(program); /* every mbuf is back */
			program_destroy(program);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(small_bursts_receive_on_vector_functions, set_up),
		cmocka_unit_test_setup(a_forwarder_sends_in_bursts_as_asked, set_up),
		cmocka_unit_test_setup(two_pools_are_refused, set_up),
		cmocka_unit_test_setup(what_a_ring_gives_back_may_be_of_any_pool, set_up),
		cmocka_unit_test_setup(one_pool_or_a_driver_that_looks_is_taken, set_up),
		cmocka_unit_test_setup(an_exchange_counts, set_up),
		cmocka_unit_test_setup(chains_go_only_where_they_are_sent, set_up),
	};

	return cmocka_run_group_tests_name("device_rules", tests, group_up, eal_down);
}
