/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HOT. All frames of a burst depart at the same clock, so only the sequence differs, and with it the compensator: a
 * few operations on 32 bits, for a chunk of frames at a time in a loop that becomes vector code.
 */
#include "edit/tx_stamp.h"

#include "protocol/stamp.h"
#include "edit/vectorized.h"
#include "edit/ready_frame.h"

#define CHUNK 64u

/* Upper and lower 32 bits of both halves, where they differ from frame to frame. */
struct chunk {
	uint32_t sequence[CHUNK];
	uint32_t compensator[CHUNK];
};

/* `rest` is the sum of all other words, folded. */
VECTORIZED static void
fill(struct chunk *restrict chunk, uint32_t sequence, uint32_t rest)
{
	for (uint32_t j = 0; j < CHUNK; j++) {
		uint32_t number = sequence + j;
		uint32_t sum = rest + (number & 0xffff) + (number >> 16);

		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		chunk->sequence[j] = number;
		chunk->compensator[j] = ~sum & 0xffff;
	}
}

void
tx_stamp_write(const struct tx_stamp *stamp, struct rte_mbuf *const *mbufs, uint64_t done,
	       uint16_t count, uint64_t clock)
{
	uint64_t fixed_first = (uint64_t)stamp->magic << 32 | (uint64_t)stamp->id << 16;
	uint64_t fixed_second = clock & STAMP_TIME_MASK;
	uint32_t rest = stamp_sum(fixed_first, fixed_second);

	for (uint32_t from = 0; from < count; from += CHUNK) {
		uint32_t n = RTE_MIN((uint32_t)count - from, CHUNK);
		struct chunk chunk;

		fill(&chunk, (uint32_t)(done + from), rest);
		for (uint32_t j = 0; j < n; j++) {
			struct rte_mbuf *mbuf = mbufs[from + j];
			uint8_t *tail = ready_frame_data(mbuf) + mbuf->data_len - STAMP_OCTETS;
			uint64_t sequence = chunk.sequence[j];

			stamp_store_half(tail, (uint64_t)chunk.compensator[j] << 48 | fixed_first |
						       sequence >> 16);
			stamp_store_half(tail + 8, sequence << 48 | fixed_second);
		}
	}
}
