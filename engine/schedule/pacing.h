/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule of one tx task: how many frames are due after so many cycles.
 *
 * The rate is a 64-bit binary fraction of frames per cycle (below 1), and the number of frames due is computed from the
 * start every time, one multiplication without a division: nothing accumulates, so there is no drift. The
 * rounding error of the rate is below 2^-64 frames per cycle: one frame in 200 years at 3 GHz.
 *
 * Frame k (0, 1, 2…) of part p of P parts is due at (k + p/P) intervals of that part, so that the parts of
 * a stream interleave evenly. When the rate changes, the phase changes so that as many frames are due at that moment by
 * the new rate as by the old one, to 2^-64 of a frame. HOT: everything here is inlined into the tx loops. No DPDK: unit-tested alone.
 */
#ifndef WR_SCHEDULE_PACING_H
#define WR_SCHEDULE_PACING_H

#include <stdbool.h>
#include <stdint.h>

struct pacing {
	uint64_t frames_per_cycle_q64; /* of this part; 0 = not paced */
	unsigned __int128 phase_q64;   /* 1 - p/P of a frame (2^-64 less for p = 0); modulo 2^128 */
	double cycles_per_frame;       /* of this part */
	double first_frames;           /* p/P: the first frame's due time in frame intervals */
};

/*
 * fps: frames/s of the whole stream, over `parts` tasks; hz: cycles/s. Returns false when a part's rate is not between
 * 0 (excluded) and 1 frame per cycle.
 */
static inline bool
pacing_init(struct pacing *pacing, double fps, uint32_t part, uint32_t parts, uint64_t hz)
{
	const long double q64 = 18446744073709551616.0L;
	long double per_cycle = (long double)fps / ((long double)hz * parts);

	if (!(per_cycle > 0.0L) || per_cycle * q64 < 2.0L || per_cycle >= 1.0L)
		return false;
	per_cycle *= 1.0L - 0x1p-63L; /* undoes the rounding: never above the rate */
	pacing->frames_per_cycle_q64 = (uint64_t)(per_cycle * q64);
	pacing->phase_q64 = part == 0 ? UINT64_MAX : (uint64_t)(q64 * (parts - part) / parts) - 1;
	pacing->cycles_per_frame = (double)(1.0L / per_cycle);
	pacing->first_frames = (double)part / parts;
	return true;
}

/* Another rate and phase, as they follow from pacing_shift(). */
static inline void
pacing_set(struct pacing *pacing, uint64_t frames_per_cycle_q64, unsigned __int128 phase_q64)
{
	const long double q64 = 18446744073709551616.0L;

	pacing->frames_per_cycle_q64 = frames_per_cycle_q64;
	pacing->phase_q64 = phase_q64;
	pacing->cycles_per_frame = (double)(q64 / (long double)frames_per_cycle_q64);
	pacing->first_frames = (double)(1.0L - (long double)(__int128)phase_q64 / q64);
}

/* By how much the phase changes when the rate does, `elapsed` cycles after the start: the same for all parts. */
static inline unsigned __int128
pacing_shift(uint64_t elapsed, uint64_t old_q64, uint64_t new_q64)
{
	return (unsigned __int128)elapsed * old_q64 - (unsigned __int128)elapsed * new_q64;
}

/* Frames due within the first `elapsed` cycles; after a change of rate, not for a time before it. */
static inline uint64_t
pacing_frames_due(const struct pacing *pacing, uint64_t elapsed)
{
	return (uint64_t)(((unsigned __int128)elapsed * pacing->frames_per_cycle_q64 +
			   pacing->phase_q64) >>
			  64);
}

/* Cycles after the start at which frame k is due; exact to a cycle for 2^52 cycles (20 days at 2.5 GHz). */
static inline uint64_t
pacing_due_cycle(const struct pacing *pacing, uint64_t k)
{
	return (uint64_t)(((double)k + pacing->first_frames) * pacing->cycles_per_frame);
}

#endif
