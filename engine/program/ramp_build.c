/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/ramp_build.h"

#include <rte_common.h>

#include "base/units.h"

/* Of a number that is not negative; UINT64_MAX for 2^63 and more, which no clock reaches. */
static uint64_t
rounded_up(double number)
{
	uint64_t whole;

	if (number >= 0x1p63)
		return UINT64_MAX;
	whole = (uint64_t)number;
	return whole + ((double)whole < number);
}

/* Cycles in which `flows` are added or taken away. */
static uint64_t
cycles_for(const struct tx_ramp *ramp, uint64_t flows)
{
	return rounded_up((double)flows / ramp->per_cycle);
}

static uint64_t
later(uint64_t cycles, uint64_t more)
{
	return more > UINT64_MAX - cycles ? UINT64_MAX : cycles + more;
}

/* After the stream's start: the part's first flow becomes active. */
static uint64_t
first_active(const struct tx_ramp *ramp)
{
	if (ramp->part >= ramp->flows)
		return UINT64_MAX;
	return ramp->part < ramp->start ? 0 : cycles_for(ramp, ramp->part + 1 - ramp->start);
}

/* Likewise: its first flow, which is the last, is active no more. */
static uint64_t
last_active(const struct tx_ramp *ramp)
{
	if (ramp->part == 0 || ramp->down_cycles == UINT64_MAX)
		return UINT64_MAX;
	return later(ramp->down_cycles, cycles_for(ramp, ramp->flows - ramp->part));
}

/* A whole number of the part's frame intervals, so that the parts stay evenly spaced. */
static uint64_t
whole_intervals(const struct pacing *pacing, uint64_t cycles)
{
	double intervals = (double)cycles / pacing->cycles_per_frame - pacing->first_frames;

	return intervals > 0 ? rounded_up((double)rounded_up(intervals) * pacing->cycles_per_frame)
			     : 0;
}

void
ramp_build(struct tx_task *task, const struct ramp_config *ramp, const struct task_config *config,
	   uint64_t hz)
{
	struct tx_ramp *built = &task->ramp;
	uint64_t begin, end;

	*built = (struct tx_ramp){.flows = ramp->flows,
				  .start = ramp->start,
				  .per_cycle = ramp->per_second / (double)hz,
				  .part = config->part,
				  .parts = config->parts};
	built->full_cycles = cycles_for(built, ramp->flows - ramp->start);
	built->down_cycles = ramp->down ? later(built->full_cycles, cycles_of_ns(ramp->hold_ns, hz))
					: UINT64_MAX;
	begin = first_active(built);
	end = RTE_MIN(last_active(built), task->duration_cycles);
	if (begin >= end) {
		task->limit = 0; /* never: there is nothing to wait for */
		return;
	}
	if (task->schedule == TX_RATE)
		begin = RTE_MIN(whole_intervals(&task->pacing, begin), end);
	built->lead_cycles = begin;
	task->phase_loaded_q64 -= (unsigned __int128)begin * task->pacing.frames_per_cycle_q64;
	task->delay_cycles += begin;
	task->duration_cycles = end == UINT64_MAX ? UINT64_MAX : end - begin;
}
