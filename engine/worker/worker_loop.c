/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. The loop of a worker: look at the clock, poll every task, keep house.
 *
 * One always_inline body takes the needs as a literal, so that a loop without pacing has no trace of pacing in it.
 * Runs on the worker's lcore; nothing in here logs, allocates, locks or calls the kernel (a device may, and a worker
 * that was told to sleep when nothing is due).
 */
#include "worker/worker_loop.h"

#include <sys/prctl.h>

#include <rte_cycles.h>

#include "worker/bridge_task.h"
#include "worker/forward_task.h"
#include "worker/loop_task.h"
#include "worker/rx_task.h"
#include "schedule/tx_sleep.h"
#include "worker/tx_task.h"

#define FEW_TASKS 8u
#define SLEEPS_MAX 4u /* sleeps in a row, so that the end of traffic is noticed */

/* One gap between two looks at the clock; a long one means that the lcore lost its CPU or a call hung. */
static inline void
note_gap(struct worker *worker, uint64_t gap)
{
	struct worker_counters *counters = worker->counters;

	if (likely(gap <= counters->stall_max_cycles))
		return;
	counter_set(&counters->stall_max_cycles, gap);
}

/* A long call of a driver is a stall, too: how much of it was without the CPU? */
static void
note_stall(struct worker *worker, uint64_t gap)
{
	counter_add(&worker->counters->stalls, 1);
	counter_add(&worker->counters->stall_cycles, gap);
	cpu_time_note_gap(&worker->cpu, (uint64_t)((double)gap * worker->ns_per_cycle));
}

static __rte_always_inline bool
is_paced(const struct tx_task *task, const uint32_t needs)
{
	return (needs & LOOP_TX_PACED) != 0 &&
	       ((needs & LOOP_TX_UNPACED) == 0 || task->schedule != TX_UNPACED);
}

static __rte_always_inline uint64_t
poll_tx(struct worker *worker, uint64_t now, const uint32_t needs)
{
	uint64_t start = atomic_load_explicit(&worker->traffic->start_tsc, memory_order_acquire);
	struct tx_batch *batch = needs == LOOP_TX_UNPACED ? &worker->batch : NULL;
	const uint64_t before = now;

	if (now < start)
		return now;
	for (uint32_t i = 0; i < worker->tx_count; i++) {
		struct tx_task *task = &worker->tx[i];
		bool paced = is_paced(task, needs);

		if (unlikely(task->counters->state != TASK_ACTIVE)) {
			if (task->counters->state == TASK_DONE)
				continue;
			counter_set(&task->counters->state, TASK_ACTIVE);
		}
		now = paced ? tx_task_poll(task, worker->traffic, now, true, NULL)
			    : tx_task_poll(task, worker->traffic, now, false, batch);
	}
	if (batch != NULL)
		tx_batch_turn(batch, now - before);
	/* Who has nothing to send takes no look at the clock, but time all the same. */
	return worker->tx_count > FEW_TASKS ? rte_rdtsc() : now;
}

static inline uint64_t
poll_loops(struct worker *worker, uint64_t now)
{
	uint64_t start = atomic_load_explicit(&worker->traffic->start_tsc, memory_order_acquire);

	if (now < start)
		return now;
	for (uint32_t i = 0; i < worker->loop_count; i++) {
		struct tx_counters *counters = worker->loop[i].tx.counters;

		if (unlikely(counters->state == TASK_DONE))
			continue;
		if (unlikely(counters->state == TASK_WAITING))
			counter_set(&counters->state, TASK_ACTIVE);
		now = loop_task_poll(&worker->loop[i], worker->traffic, now);
	}
	return now;
}

/* Told to quit: close the books of tasks that are not done. */
static void
finish_tx(struct worker *worker, uint64_t now, const uint32_t needs)
{
	uint64_t start = atomic_load_explicit(&worker->traffic->start_tsc, memory_order_acquire);

	for (uint32_t i = 0; i < worker->tx_count; i++) {
		struct tx_task *task = &worker->tx[i];

		if (now >= start && task->counters->state != TASK_DONE) {
			const struct tx_span span = tx_task_span(task, worker->traffic);

			tx_task_finish(task, &span, now, is_paced(task, needs));
		}
		counter_set(&task->counters->state, TASK_DONE);
	}
	for (uint32_t i = 0; i < worker->loop_count; i++) {
		struct loop_task *loop = &worker->loop[i];

		if (now >= start && loop->tx.counters->state != TASK_DONE)
			loop_task_end(loop, worker->traffic, now);
		counter_set(&loop->tx.counters->state, TASK_DONE);
	}
}

/* Let the CPU go until a task needs it. Returns the clock, which counts as the one before the next look. */
static uint64_t
worker_sleep(struct worker *worker, uint64_t now)
{
	uint64_t start = atomic_load_explicit(&worker->traffic->start_tsc, memory_order_acquire);
	uint64_t until = now + SLEEPS_MAX * worker->sleep_cycles, after;

	if (now < start || worker->tx_count + worker->loop_count == 0)
		until = RTE_MIN(now + worker->sleep_cycles, start > now ? start : UINT64_MAX);
	for (uint32_t i = 0; i < worker->tx_count && now >= start; i++)
		until = RTE_MIN(until, tx_task_sleeps_until(&worker->tx[i], worker->traffic, now,
							    worker->sleep_cycles));
	for (uint32_t i = 0; i < worker->loop_count && now >= start; i++)
		until = RTE_MIN(until, loop_task_sleeps_until(&worker->loop[i], worker->traffic,
							      now, worker->sleep_cycles));
	if (until <= now)
		return now;
	cpu_time_sleep(&worker->cpu, (uint64_t)((double)(until - now) * worker->ns_per_cycle));
	after = rte_rdtsc();
	counter_add(&worker->counters->sleeps, 1);
	counter_add(&worker->counters->sleep_cycles, after - now);
	return after;
}

static __rte_always_inline int
worker_loop(struct worker *worker, const uint32_t needs)
{
	uint64_t now = rte_rdtsc(), before = now;

	if (worker->sleep_cycles != 0)
		prctl(PR_SET_TIMERSLACK, 1UL); /* [ns]; the kernel's default is 50 us */
	cpu_time_begin(&worker->cpu, worker->counters);
	counter_set(&worker->counters->start_tsc, now);
	counter_set(&worker->counters->state, TASK_ACTIVE);
	while (likely(!atomic_load_explicit(&worker->quit, memory_order_relaxed))) {
		uint64_t received = now;

		if (needs & LOOP_RX) {
			for (uint32_t i = 0; i < worker->rx_count; i++)
				received = rx_task_poll(&worker->rx[i], received);
		}
		for (uint32_t i = 0; i < worker->forward_count; i++)
			received = forward_task_poll(&worker->forward[i], received);
		for (uint32_t i = 0; i < worker->bridge_count; i++)
			received = bridge_task_poll(&worker->bridge[i], received);
		for (uint32_t i = 0; i < worker->reply_count; i++)
			received = reply_task_poll(&worker->reply[i], received);
		now = received;
		if (needs & (LOOP_TX_PACED | LOOP_TX_UNPACED))
			now = poll_tx(worker, now, needs);
		if (needs & LOOP_RINGS)
			now = poll_loops(worker, now);
		if (now == before) /* nobody had anything to do, so nobody looked at the clock */
			now = rte_rdtsc();
		counter_set(&worker->counters->now_tsc, now);
		if (unlikely(now - before > worker->stall_cycles))
			note_stall(worker, now - before);
		note_gap(worker, now - before);
		if (unlikely(worker->sleep_cycles != 0) && received == before)
			now = worker_sleep(worker, now);
		before = now;
	}
	finish_tx(worker, rte_rdtsc(), needs);
	for (uint32_t i = 0; i < worker->forward_count; i++)
		forward_task_end(&worker->forward[i]);
	for (uint32_t i = 0; i < worker->bridge_count; i++)
		bridge_task_end(&worker->bridge[i]);
	cpu_time_end(&worker->cpu);
	__atomic_store_n(&worker->counters->state, TASK_DONE, __ATOMIC_RELEASE);
	return 0;
}

#define DEFINE_LOOP(name, needs) \
	static int name(void *worker) \
	{ \
		return worker_loop(worker, needs); \
	}

DEFINE_LOOP(loop_idle, 0)
DEFINE_LOOP(loop_rx, LOOP_RX)
DEFINE_LOOP(loop_tx_paced, LOOP_TX_PACED)
DEFINE_LOOP(loop_tx_unpaced, LOOP_TX_UNPACED)
DEFINE_LOOP(loop_rx_tx_paced, LOOP_RX | LOOP_TX_PACED)
DEFINE_LOOP(loop_rx_tx_unpaced, LOOP_RX | LOOP_TX_UNPACED)
DEFINE_LOOP(loop_any, LOOP_RX | LOOP_TX_PACED | LOOP_TX_UNPACED)
DEFINE_LOOP(loop_rings, LOOP_RINGS)
DEFINE_LOOP(loop_all, LOOP_RX | LOOP_TX_PACED | LOOP_TX_UNPACED | LOOP_RINGS)

const worker_loop_fn worker_loops[LOOP_NEEDS] = {
	[0] = loop_idle,
	[LOOP_RX] = loop_rx,
	[LOOP_TX_PACED] = loop_tx_paced,
	[LOOP_TX_UNPACED] = loop_tx_unpaced,
	[LOOP_RX | LOOP_TX_PACED] = loop_rx_tx_paced,
	[LOOP_RX | LOOP_TX_UNPACED] = loop_rx_tx_unpaced,
	[LOOP_TX_PACED | LOOP_TX_UNPACED] = loop_any,
	[LOOP_RX | LOOP_TX_PACED | LOOP_TX_UNPACED] = loop_any,
	[LOOP_RINGS] = loop_rings,
	[LOOP_RINGS + 1 ... LOOP_NEEDS - 1] = loop_all,
};
