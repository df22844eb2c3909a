/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_ring.h"

#include <errno.h>

#include <rte_malloc.h>

#include "base/numbers.h"
#include "base/units.h"
#include "program/frame_render.h"

#define RING_FRAMES_MIN 64u

/* Part p sends frames p, p + parts, p + 2 parts…: these repeat after period / gcd(period, parts) of them. */
uint32_t
frame_ring_length(const struct stream_config *stream, uint32_t parts, uint32_t burst)
{
	uint32_t period = stream->period / (uint32_t)greatest_common_divisor(stream->period, parts);
	uint32_t least = RTE_MAX(burst, RING_FRAMES_MIN);

	return (least + period - 1) / period * period;
}

static void
render_mbuf(struct rte_mbuf *mbuf, const struct stream_config *stream, uint64_t i)
{
	uint16_t octets = (uint16_t)stream->frame_len_no_fcs;

	frame_render(stream, i, rte_pktmbuf_mtod(mbuf, uint8_t *));
	mbuf->data_len = octets;
	mbuf->pkt_len = octets;
}

int
frame_ring_render(struct frame_ring *ring, const struct stream_config *stream,
		  const struct task_config *task, struct rte_mbuf **mbufs, int socket,
		  struct error *err)
{
	uint32_t length = frame_ring_length(stream, task->parts, task->burst);
	uint32_t pointers = length + task->burst;

	ring->length = length;
	ring->frames = rte_malloc_socket("frames", pointers * sizeof(ring->frames[0]),
					 RTE_CACHE_LINE_SIZE, socket);
	ring->octets_before =
		rte_malloc_socket("octets", (pointers + 1) * sizeof(ring->octets_before[0]),
				  RTE_CACHE_LINE_SIZE, socket);
	if (ring->frames == NULL || ring->octets_before == NULL) {
		frame_ring_free(ring);
		return error_set(err, -ENOMEM, NULL, "no memory for a ring of %u frames", length);
	}
	for (uint32_t i = 0; i < length; i++)
		render_mbuf(mbufs[i], stream, task->part + (uint64_t)i * task->parts);
	ring->octets_before[0] = 0;
	for (uint32_t i = 0; i < pointers; i++) {
		ring->frames[i] = mbufs[i % length];
		ring->octets_before[i + 1] =
			ring->octets_before[i] + rte_pktmbuf_pkt_len(ring->frames[i]) + FCS_OCTETS;
	}
	return 0;
}

void
frame_ring_free(struct frame_ring *ring)
{
	rte_free(ring->frames);
	rte_free(ring->octets_before);
	ring->frames = NULL;
	ring->octets_before = NULL;
}
