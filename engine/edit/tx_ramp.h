/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Which flows of a ramp are active, and which is next. Contract: "Ramps" in docs/design/0007-flows.md.
 *
 * Of the flows 0…flows-1 those below n(t) are active. Part p of P owns p, p + P, …, and calls them 0, 1, …; its turn ends
 * with the last active one of these. n(t) is computed from the start every time, so nothing adds up. No DPDK: unit-tested
 * alone.
 */
#ifndef WR_EDIT_TX_RAMP_H
#define WR_EDIT_TX_RAMP_H

#include <stdint.h>

struct tx_ramp {
	uint64_t flows;       /* in all; 0: there is no ramp */
	uint64_t start;       /* active at first */
	double per_cycle;     /* flows added, later taken away, per cycle */
	uint64_t full_cycles; /* after the stream's start: all are active */
	uint64_t down_cycles; /* likewise: they begin to become fewer; UINT64_MAX: never */
	uint64_t lead_cycles; /* from the stream's start to the task's, until which it had none */
	uint32_t part;
	uint32_t parts;
	uint64_t active; /* of all parts at the last look, from which `turn` was computed */
	uint64_t turn;   /* of the task's own */
	uint64_t next;   /* of its own: the one whose frame is next; 0 follows turn - 1 */
};

/* n(t) of all parts together, `elapsed` cycles after the stream's start. */
static inline uint64_t
tx_ramp_active(const struct tx_ramp *ramp, uint64_t elapsed)
{
	double gone;

	if (elapsed < ramp->full_cycles) {
		uint64_t flows = ramp->start + (uint64_t)((double)elapsed * ramp->per_cycle);
		return flows < ramp->flows ? flows : ramp->flows;
	}
	if (elapsed < ramp->down_cycles)
		return ramp->flows;
	gone = (double)(elapsed - ramp->down_cycles) * ramp->per_cycle;
	return gone < (double)ramp->flows ? ramp->flows - (uint64_t)gone : 1;
}

/* How many of `active` are the part's. */
static inline uint64_t
tx_ramp_own(const struct tx_ramp *ramp, uint64_t active)
{
	return active > ramp->part ? (active - ramp->part - 1) / ramp->parts + 1 : 0;
}

/* How many of the part's are active `elapsed` cycles after the task's start. */
static inline uint64_t
tx_ramp_own_after(const struct tx_ramp *ramp, uint64_t elapsed)
{
	return tx_ramp_own(ramp, tx_ramp_active(ramp, ramp->lead_cycles + elapsed));
}

/*
 * The task's active flows are those of `elapsed` cycles after its own start from now on. A task has one at least: what
 * was due while it had one may be sent a moment later.
 */
static inline void
tx_ramp_look(struct tx_ramp *ramp, uint64_t elapsed)
{
	uint64_t active = tx_ramp_active(ramp, ramp->lead_cycles + elapsed);

	if (active == ramp->active)
		return;
	ramp->active = active;
	ramp->turn = tx_ramp_own(ramp, active);
	if (ramp->turn == 0)
		ramp->turn = 1;
	if (ramp->next >= ramp->turn)
		ramp->next = 0;
}

/* `frames` have been sent, of as many flows or of several turns. */
static inline void
tx_ramp_advance(struct tx_ramp *ramp, uint64_t frames)
{
	ramp->next += frames;
	if (ramp->next >= ramp->turn)
		ramp->next %= ramp->turn;
}

#endif
