/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. Store what a walk has made ready into its frames. Of tx_walk.c only.
 *
 * Windows of 4 and 2 octets are stored together, frame by frame, when all values of a chunk are known: fetching a frame's
 * address once and storing without a loop around each store halves what stores cost.
 */
#ifndef WR_EDIT_TX_WALK_STORE_H
#define WR_EDIT_TX_WALK_STORE_H

#include <string.h>

#include "edit/ready_frame.h"

#define STORES_4_MAX 2u
#define STORES_2_MAX 4u

struct stores {
	uint32_t n4;
	uint32_t n2;
	const uint32_t *rows4[STORES_4_MAX]; /* of the chunk's frames, in network order */
	const uint32_t *rows2[STORES_2_MAX]; /* in the lower half */
	uint32_t offsets4[STORES_4_MAX];
	uint32_t offsets2[STORES_2_MAX];
};

/* n4 and n2 are literals where this is used, so that nothing is left of the inner loops. */
static __rte_always_inline void
store_frames(const struct stores *stores, struct rte_mbuf *const *mbufs, uint32_t n,
	     const uint32_t n4, const uint32_t n2)
{
#pragma GCC unroll 4
	for (uint32_t j = 0; j < n; j++) {
		uint8_t *data = ready_frame_data(mbufs[j]);

		for (uint32_t k = 0; k < n4; k++)
			memcpy(data + stores->offsets4[k], &stores->rows4[k][j], 4);
		for (uint32_t k = 0; k < n2; k++)
			memcpy(data + stores->offsets2[k], &stores->rows2[k][j], 2);
	}
}

/* The numbers of stores that addresses, ports and their checksums need; others take turns by window. */
static void
store_together(const struct stores *stores, struct rte_mbuf *const *mbufs, uint32_t n)
{
	struct stores all = *stores; /* so that stores into frames cannot change it */

	switch (all.n4 * 8 + all.n2) {
	case 0 * 8 + 1:
		store_frames(&all, mbufs, n, 0, 1);
		break;
	case 0 * 8 + 2:
		store_frames(&all, mbufs, n, 0, 2);
		break;
	case 0 * 8 + 3:
		store_frames(&all, mbufs, n, 0, 3);
		break;
	case 1 * 8 + 1:
		store_frames(&all, mbufs, n, 1, 1);
		break;
	case 1 * 8 + 2:
		store_frames(&all, mbufs, n, 1, 2);
		break;
	case 1 * 8 + 3:
		store_frames(&all, mbufs, n, 1, 3);
		break;
	case 2 * 8 + 3:
		store_frames(&all, mbufs, n, 2, 3);
		break;
	case 2 * 8 + 4:
		store_frames(&all, mbufs, n, 2, 4);
		break;
	default:
		store_frames(&all, mbufs, n, all.n4, all.n2);
	}
}

/* A window of any other width, or one too many. */
static void
store_row(const uint32_t *row, uint32_t offset, uint32_t octets, struct rte_mbuf *const *mbufs,
	  uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		memcpy(ready_frame_data(mbufs[j]) + offset, &row[j], octets);
}

static void
store_bits(uint8_t *window, uint64_t value, uint64_t mask, uint32_t octets)
{
	for (uint32_t i = octets; i > 0; i--) {
		window[i - 1] = (uint8_t)((window[i - 1] & ~mask) | value);
		value >>= 8;
		mask >>= 8;
	}
}

#endif
