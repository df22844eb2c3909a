/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the TSC shows when another clock, a network device's, shows something: a line that one thread renews now and then
 * and any number of others read without ever waiting for it.
 *
 * The line lies in the one of two places that the number of renewals names; the next renewal is written into the other.
 * A reader that sees the number change looks again, since the writer may be about to come back to its place: a word of
 * the renewal after the next can only be read after that number (words are stored with release and read with acquire,
 * which costs nothing on x86), so nobody takes half of a line. Pure.
 */
#ifndef WR_BASE_CLOCK_RELATION_H
#define WR_BASE_CLOCK_RELATION_H

#include <stdatomic.h>
#include <stdint.h>

#define CLOCK_LINE_SHIFT 32

/* Through the point (device, tsc), `slope` / 2^32 cycles of the TSC for each tick of the device; 0: not known. */
struct clock_line {
	uint64_t device;
	uint64_t tsc;
	uint64_t slope;
};

struct clock_relation {
	_Atomic uint64_t renewals;
	struct {
		_Atomic uint64_t device;
		_Atomic uint64_t tsc;
		_Atomic uint64_t slope;
	} lines[2];
};

/* Where a received frame's own time is, and what it means. By value in whatever reads it. */
struct frame_times {
	const struct clock_relation *relation; /* NULL: frames have no time of their own */
	uint64_t flag;                         /* in ol_flags of an mbuf that has one */
	int field;                             /* offset of the time in the mbuf */
	uint64_t age_max_cycles;               /* an older time is wrong */
};

/* The TSC at the device's time; the device's clock may wrap at 2^64 in between. */
static inline uint64_t
clock_line_tsc(const struct clock_line *line, uint64_t device)
{
	__int128 cycles = (__int128)(int64_t)(device - line->device) * (__int128)line->slope;

	return line->tsc + (uint64_t)(int64_t)(cycles >> CLOCK_LINE_SHIFT);
}

/* The only writer. */
static inline void
clock_relation_renew(struct clock_relation *relation, const struct clock_line *line)
{
	uint64_t next = atomic_load_explicit(&relation->renewals, memory_order_relaxed) + 1;
	unsigned int place = next % 2;

	atomic_store_explicit(&relation->lines[place].device, line->device, memory_order_release);
	atomic_store_explicit(&relation->lines[place].tsc, line->tsc, memory_order_release);
	atomic_store_explicit(&relation->lines[place].slope, line->slope, memory_order_release);
	atomic_store_explicit(&relation->renewals, next, memory_order_release);
}

static inline void
clock_relation_read(const struct clock_relation *relation, struct clock_line *line)
{
	uint64_t seen, after = atomic_load_explicit(&relation->renewals, memory_order_acquire);

	do {
		unsigned int place = after % 2;

		seen = after;
		line->device =
			atomic_load_explicit(&relation->lines[place].device, memory_order_acquire);
		line->tsc = atomic_load_explicit(&relation->lines[place].tsc, memory_order_acquire);
		line->slope =
			atomic_load_explicit(&relation->lines[place].slope, memory_order_acquire);
		after = atomic_load_explicit(&relation->renewals, memory_order_acquire);
	} while (__builtin_expect(after != seen, 0));
}

#endif
