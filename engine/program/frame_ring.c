/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/frame_ring.h"

#include <errno.h>

#include <rte_malloc.h>

#include "base/numbers.h"
#include "base/units.h"

#define RING_FRAMES_MIN 64u

/* Part p sends frames p, p + parts, p + 2 parts…: these repeat after period / gcd(period, parts) of them. */
static uint32_t
whole_periods(uint64_t period, uint32_t parts, uint32_t least)
{
	uint32_t own = (uint32_t)(period / greatest_common_divisor(period, parts));

	return (uint32_t)(((uint64_t)least + own - 1) / own * own);
}

struct ring_shape
frame_ring_shape(const struct frame_source *source, uint32_t parts, uint32_t burst, uint32_t held)
{
	const struct stream_config *stream = source->stream;
	uint64_t period = frame_source_period(source);
	uint32_t least = RTE_MAX(burst, RING_FRAMES_MIN);
	struct ring_shape shape = {0, false};

	if (stream->has_stamp)
		least = RTE_MAX(least, held + burst);
	if (stream->ramp.flows == 0 &&
	    (source->trace != NULL || stream->n_fields == 0 || period <= RING_READY_FRAMES_MAX)) {
		shape.length = whole_periods(period, parts, least);
		return shape;
	}
	shape.walk = true;
	shape.length =
		whole_periods(RTE_MAX(stream->n_lengths, 1u), parts, RTE_MAX(least, held + burst));
	return shape;
}

void
frame_ring_octets(const struct frame_source *source, const struct task_config *task,
		  uint32_t length, uint16_t *octets)
{
	for (uint32_t i = 0; i < length; i++)
		octets[i] = (uint16_t)frame_source_octets(source,
							  task->part + (uint64_t)i * task->parts);
}

static void
render_mbuf(struct rte_mbuf *mbuf, const struct frame_source *source, uint64_t i)
{
	uint16_t octets = (uint16_t)frame_source_octets(source, i);

	frame_source_render(source, i, rte_pktmbuf_mtod(mbuf, uint8_t *));
	mbuf->data_len = octets;
	mbuf->pkt_len = octets;
}

int
frame_ring_render(struct frame_ring *ring, const struct frame_source *source,
		  const struct task_config *task, uint32_t length, struct rte_mbuf **mbufs,
		  int socket, struct error *err)
{
	uint64_t pointers = (uint64_t)length + task->burst;

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
		render_mbuf(mbufs[i], source, task->part + (uint64_t)i * task->parts);
	ring->octets_before[0] = 0;
	for (uint64_t i = 0; i < pointers; i++) {
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
