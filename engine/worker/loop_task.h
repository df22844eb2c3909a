/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. The descriptor loop: the device sends the ready frames of its ring, the worker only counts what it has
 * fetched and lets it go as far as is due. One look costs a read and at most one write of a register, however many
 * frames that is.
 */
#ifndef WR_WORKER_LOOP_TASK_H
#define WR_WORKER_LOOP_TASK_H

#include <rte_cycles.h>
#include <rte_pause.h>

#include "base/loop_ring.h"
#include "schedule/tx_schedule.h"
#include "schedule/tx_sleep.h"

struct loop_task {
	/* Schedule and counters: `done` was handed over or given up, its ring is a lap, `burst` all that fits. */
	alignas(COUNTERS_ALIGN) struct tx_task tx;
	struct loop_ring ring;
	uint32_t fetched_position; /* frame of the lap that the device fetches next */
	bool ending;               /* nothing more is handed over */
	uint64_t
		moved_tsc; /* clock when the device was last seen to have fetched, or had nothing to */
	uint64_t standstill_cycles; /* a device that fetches nothing for so long will not */
	uint64_t pause_cycles; /* half a ring lasts so long; 0: not known, or too short to sleep */
	uint64_t pause_cycles_min;
	uint64_t pause_cycles_max;
};

/*
 * A ring that ran dry was left alone for too long: half of that next time, and not at all where sleeping takes
 * longer.
 */
static inline void
loop_task_learn_pause(struct loop_task *loop, uint32_t fetched, uint64_t cycles)
{
	uint64_t pause = cycles * (loop->ring.capacity / 2) / fetched;

	if (fetched == loop->ring.capacity)
		loop->pause_cycles_max = cycles / 2;
	if (loop->pause_cycles_max < loop->pause_cycles_min)
		loop->pause_cycles_max = 0;
	pause = RTE_MIN(pause, loop->pause_cycles_max);
	loop->pause_cycles = pause < loop->pause_cycles_min ? 0 : pause;
}

/* What the device has fetched since the last look is sent, as far as anybody can know. */
static inline void
loop_task_account(struct loop_task *loop, uint64_t now)
{
	struct tx_counters *counters = loop->tx.counters;
	const uint64_t *octets_before = loop->tx.octets_before;
	uint32_t lap = loop->tx.ring_length, idle = loop->ring.in_flight == 0;
	uint32_t fetched = loop_ring_fetched(&loop->ring), end, laps;

	if (fetched > 0) {
		end = loop->fetched_position + fetched;
		laps = end / lap;
		end -= laps * lap;
		counter_add(&counters->frames, fetched);
		counter_add(&counters->octets, laps * octets_before[lap] + octets_before[end] -
						       octets_before[loop->fetched_position]);
		counter_set(&counters->last_tsc, now);
		loop->fetched_position = end;
		loop_task_learn_pause(loop, fetched, now - loop->moved_tsc);
	}
	if (fetched > 0 || idle)
		loop->moved_tsc = now;
}

static inline void
loop_task_hand_over(struct loop_task *loop, const struct tx_span *span, uint32_t due, uint64_t now,
		    bool paced)
{
	struct tx_counters *counters = loop->tx.counters;
	uint32_t count = RTE_MIN(due, loop_ring_room(&loop->ring));

	if (count < due)
		counter_add(&counters->bursts_short, 1);
	if (count == 0)
		return;
	if (unlikely(counters->first_tsc == 0))
		counter_set(&counters->first_tsc, now);
	if (paced) {
		uint64_t when = span->start + tx_task_due_cycle(&loop->tx, loop->tx.done);
		uint64_t lateness = now > when ? now - when : 0;

		histogram_add(counters->lateness_cycles, lateness);
		counter_max(&counters->lateness_max_cycles, lateness);
	}
	loop_ring_hand_over(&loop->ring, count);
	tx_task_advance(&loop->tx, count);
	counter_add(&counters->bursts, 1);
}

/* The books are closed: what the device did not fetch is unsent. */
static inline void
loop_task_finish(struct loop_task *loop, const struct tx_span *span, uint64_t now, bool paced)
{
	counter_add(&loop->tx.counters->frames_unsent, loop->ring.in_flight);
	tx_task_finish(&loop->tx, span, now, paced);
}

/* Returns the clock after the call; now is the clock before it, not before the traffic's start. */
static inline uint64_t
loop_task_poll(struct loop_task *loop, const struct traffic *traffic, uint64_t now)
{
	struct tx_task *task = &loop->tx;
	const struct tx_span span = tx_task_span(task, traffic);
	const bool paced = task->schedule != TX_UNPACED;
	uint64_t after;
	uint16_t due;

	if (unlikely(now < span.start && now < span.stop))
		return now;
	loop_task_account(loop, now);
	if (likely(!loop->ending)) {
		due = tx_task_take_due(task, &span, now, paced);
		loop->ending = tx_task_is_over(task, &span, now, paced);
		if (!loop->ending && due > 0)
			loop_task_hand_over(loop, &span, due, now, paced);
	}
	if (unlikely(loop->ending) &&
	    (loop->ring.in_flight == 0 || now - loop->moved_tsc > loop->standstill_cycles))
		loop_task_finish(loop, &span, now, paced);
	after = rte_rdtsc();
	histogram_add(task->counters->burst_cycles, after - now);
	counter_add(&task->counters->busy_cycles, after - now);
	return after;
}

/* Told to quit: what was handed over is waited for, since the ring is taken from under it next. */
static inline void
loop_task_end(struct loop_task *loop, const struct traffic *traffic, uint64_t now)
{
	const struct tx_span span = tx_task_span(&loop->tx, traffic);

	while (loop->ring.in_flight > 0 && now - loop->moved_tsc <= loop->standstill_cycles) {
		rte_pause();
		now = rte_rdtsc();
		loop_task_account(loop, now);
	}
	loop_task_finish(loop, &span, now, loop->tx.schedule != TX_UNPACED);
}

/*
 * As tx_task_sleeps_until(); but half a ring is looked after in time, be it what the device fetches or what becomes
 * due.
 */
static inline uint64_t
loop_task_sleeps_until(const struct loop_task *loop, const struct traffic *traffic, uint64_t now,
		       uint64_t quantum)
{
	const struct tx_task *task = &loop->tx;
	uint64_t until;

	if (task->counters->state == TASK_ACTIVE && loop->ring.in_flight > 0 &&
	    (loop->ending || task->schedule == TX_UNPACED ||
	     task->counters->frames_due > task->done))
		return now + loop->pause_cycles;
	until = tx_task_sleeps_until(task, traffic, now, quantum);
	if (task->schedule == TX_UNPACED || until <= now || until == UINT64_MAX)
		return until;
	return RTE_MIN(until,
		       tx_task_span(task, traffic).start +
			       tx_task_due_cycle(task, task->done + loop->ring.capacity / 2));
}

#endif
