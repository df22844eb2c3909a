/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Write what varies into ready frames just before they are sent: fields, then the checksums over them.
 *
 * A walk never reads what it wrote the lap before: each checksum is the sum of the frame's constant part, known
 * beforehand, and of the values written now. So a burst may be written twice, or be given up, without harm.
 * Made by program/walk_build.h; the contract is STREAM in docs/design/0002-engine-interface.md.
 */
#ifndef WR_EDIT_TX_WALK_H
#define WR_EDIT_TX_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define WALK_CHECKSUMS_MAX 16 /* they are bits of a uint16_t */

enum walk_kind { WALK_STEPS, WALK_VALUES, WALK_RANDOM };

struct walk_field {
	enum walk_kind kind;
	uint16_t offset; /* of its window in the frame */
	uint8_t octets;  /* of its window, 1…8 */
	uint8_t shift;   /* of the value in the window */
	bool shared;     /* octets of the window have bits of other fields too */
	bool plain;      /* 2 or 4 octets, all of them value, in one or two checksums, never odd */
	uint16_t
		even; /* bit c: checksum c covers the window, whose last octet is the low half of a word */
	uint16_t odd;  /* bit c: likewise, the high half */
	uint64_t mask; /* of the value's bits, not shifted */
	uint64_t fill; /* what else stands in the window; only when it is not shared */
	uint64_t count;
	uint64_t count_inverse; /* (2^64 - 1) / count */
	uint64_t every;         /* frames of the stream with the same value, in a row */
	uint64_t every_inverse; /* (2^64 - 1) / every */
	uint64_t jump;          /* the walk's stride / every, modulo count */
	uint64_t jump_rest;     /* the walk's stride modulo every */
	uint64_t first;         /* STEPS, RANDOM */
	uint64_t step;          /* STEPS */
	uint64_t range;         /* RANDOM; 0: 2^64 */
	uint64_t seed;          /* RANDOM */
	const uint64_t *values;
};

struct walk_checksum {
	uint16_t offset;
	bool udp;
	uint16_t inner_even; /* bit c: covers checksum c, which is earlier in the list */
	uint16_t inner_odd;
	uint32_t base; /* sum of all that is constant, of every frame */
	const uint32_t
		*bases; /* the same for each slot of the ring (and the burst behind it), or NULL */
};

struct walk {
	uint32_t n_fields;
	uint32_t n_checksums;
	uint64_t first;  /* stream's number of the task's frame 0 (in a ramp of its flow 0) */
	uint64_t stride; /* from one of the task to its next, in those of the stream */
	struct walk_field *fields;
	struct walk_checksum *checksums;
};

#define WALK_NO_TURN UINT64_MAX

/*
 * Write frames `first`… of the task, `count` of them, into mbufs, which are slots `position`… of its ring. Frame
 * `turn` - 1 is followed by frame 0; `first` is below `turn`.
 */
void tx_walk_write(const struct walk *walk, struct rte_mbuf *const *mbufs, uint32_t position,
		   uint64_t first, uint64_t turn, uint16_t count);

#endif
