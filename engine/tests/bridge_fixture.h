/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two net_ring ports, p0 and k0, and programs that run on them: frames go in by `in`, and what the ports send comes out
 * of `out`.
 *
 * Included by the tests of bridge tasks, once each. EAL_LCORES must be two at least.
 */
#ifndef WR_TESTS_BRIDGE_FIXTURE_H
#define WR_TESTS_BRIDGE_FIXTURE_H

#include "tests/eal_fixture.h"

#include <jansson.h>
#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "program/program.h"
#include "worker/bridge_task.h"

enum { BRIDGE_QUEUES = 2, BRIDGE_RING = 4096, BRIDGE_MBUFS = 8191, PATIENCE_MS = 20000 };
enum { P0, K0, BRIDGE_PORTS };

static struct rte_mempool *pool;
static struct port ports[BRIDGE_PORTS];
static struct rte_ring *in[BRIDGE_PORTS][BRIDGE_QUEUES], *out[BRIDGE_PORTS][BRIDGE_QUEUES];

static inline struct rte_ring *
bridge_ring(const char *kind, uint32_t p, uint32_t q)
{
	char name[16];

	snprintf(name, sizeof(name), "%s%u%u", kind, p, q);
	return rte_ring_create(name, BRIDGE_RING, SOCKET_ID_ANY, 0);
}

static inline int
bridge_port_up(uint32_t p, const char *name)
{
	struct rte_eth_conf conf = {0};
	int id;

	for (uint32_t q = 0; q < BRIDGE_QUEUES; q++) {
		in[p][q] = bridge_ring("in", p, q);
		out[p][q] = bridge_ring("out", p, q);
	}
	id = rte_eth_from_rings(name, in[p], BRIDGE_QUEUES, out[p], BRIDGE_QUEUES, 0);
	if (id < 0)
		return -1;
	ports[p] = (struct port){.port_id = (uint16_t)id,
				 .driver = "net_ring",
				 .rx_pool = pool,
				 .conf = {.txmode = {.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS}},
				 .config = {.rx_queues = BRIDGE_QUEUES,
					    .tx_queues = BRIDGE_QUEUES,
					    .frame_size_max = 1518}};
	snprintf(ports[p].config.name, sizeof(ports[p].config.name), "%s", name);
	if (rte_eth_dev_configure((uint16_t)id, BRIDGE_QUEUES, BRIDGE_QUEUES, &conf) != 0)
		return -1;
	for (uint16_t q = 0; q < BRIDGE_QUEUES; q++)
		if (rte_eth_rx_queue_setup((uint16_t)id, q, BRIDGE_RING, 0, NULL, pool) != 0 ||
		    rte_eth_tx_queue_setup((uint16_t)id, q, BRIDGE_RING, 0, NULL) != 0)
			return -1;
	return rte_eth_dev_start((uint16_t)id);
}

static inline int
bridge_group_up(void **state)
{
	if (eal_up(state) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("rx", BRIDGE_MBUFS, 0, 0, 2048, SOCKET_ID_ANY);
	return bridge_port_up(P0, "p0") != 0 || bridge_port_up(K0, "k0") != 0 ? -1 : 0;
}

/* From the params of program.load; the error goes to *err, and NULL is returned, where it is refused. */
static inline struct program *
bridge_load(const char *text, struct error *err)
{
	static uint32_t number;
	char path[64];
	json_error_t why;
	json_t *params = json_loads(text, 0, &why);
	struct program_config config;
	struct program *program = NULL;

	if (params == NULL)
		fail_msg("%s in %s", why.text, text);
	snprintf(path, sizeof(path), "/tmp/wirerate-test-%d", (int)getpid());
	if (config_decode_program(params, &config, err) == 0)
		program_create(&program, &config, ports, BRIDGE_PORTS, number++, path,
			       rte_get_tsc_hz(), err);
	config_free_program(&config);
	json_decref(params);
	return program;
}

/* Loaded and running. Frames that are given before are thrown away. */
static inline struct program *
bridge_start(const char *text)
{
	struct error err = {0};
	struct program *program = bridge_load(text, &err);

	if (program == NULL || program_run(program, &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	return program;
}

static inline struct bridge_counters *
counters_of(const struct program *program, uint32_t worker, uint32_t task)
{
	return program->workers[worker].bridge[task].counters;
}

static inline void
give(uint32_t p, uint16_t queue, const uint8_t *octets, uint32_t n)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_non_null(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)n), octets, n);
	assert_int_equal(rte_ring_enqueue(in[p][queue], mbuf), 0);
}

/* Until a counter has reached so many. */
static inline void
await(const uint64_t *counter, uint64_t least)
{
	for (int ms = 0; __atomic_load_n(counter, __ATOMIC_RELAXED) < least; ms++) {
		if (ms >= PATIENCE_MS)
			fail_msg("%lu, waited for %lu", (unsigned long)*counter,
				 (unsigned long)least);
		usleep(1000);
	}
}

/* Every frame went somewhere: docs/design/0009. */
static inline void
check_books(const struct bridge_counters *c)
{
	assert_int_equal(c->rx_frames, c->kernel_frames + c->kernel_lost + c->fast_frames +
					       c->fast_lost + c->held);
}

/* Free what ports have sent; how many frames that were. */
static inline uint32_t
empty_ports(void)
{
	struct rte_mbuf *mbuf;
	uint32_t n = 0;

	for (uint32_t p = 0; p < BRIDGE_PORTS; p++)
		for (uint32_t q = 0; q < BRIDGE_QUEUES; q++)
			for (; rte_ring_dequeue(out[p][q], (void **)&mbuf) == 0; n++)
				rte_pktmbuf_free(mbuf);
	return n;
}

/* Stop: books are right, and nothing is left once the ports have been emptied. Destroy it yourself. */
static inline void
bridge_stop(struct program *program)
{
	program_halt(program);
	for (uint32_t w = 0; w < program->worker_count; w++)
		for (uint32_t t = 0; t < program->workers[w].bridge_count; t++)
			check_books(counters_of(program, w, t));
	empty_ports();
	assert_int_equal(rte_mempool_avail_count(pool), BRIDGE_MBUFS);
}

#endif
