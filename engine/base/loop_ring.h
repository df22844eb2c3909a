/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device's transmit ring whose frames were written into it once: how far the device is, and how far it may go.
 *
 * device/ fills these in (tx_loop.h), worker/ moves the tail. Two manners: a head and a tail register that count
 * descriptors (Intel's), or a used and an available index in memory that count frames modulo 65,536, and a register
 * that wakes the device (virtio 1.2, 2.7 split virtqueues). HOT: everything here is inlined into the loop. Headers
 * of DPDK only.
 */
#ifndef WR_BASE_LOOP_RING_H
#define WR_BASE_LOOP_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>
#include <rte_io.h>
#include <rte_memcpy.h>

/* What virtio has in place of two registers. */
struct loop_virtio {
	const volatile uint16_t *used_flags;
	const volatile uint16_t *used_index;
	volatile uint16_t *avail_index;
	uint16_t *avail_ring;    /* of the ring's size */
	const uint16_t *pattern; /* 0, 1, … lap-1, 0, 1, …: of lap + ring size entries */
	uint32_t lap;            /* [frames] */
	uint32_t next;           /* frame of the lap that the next slot shall name */
	bool periodic;           /* the lap divides the ring: the slots never change */
	bool notify_data;        /* VIRTIO_F_NOTIFICATION_DATA */
	volatile void *notify;
	uint16_t queue; /* the device's number of it */
};

struct loop_ring {
	const volatile uint32_t *head_register; /* NULL: virtio */
	volatile uint32_t *tail_register;
	uint32_t head_mask; /* of the head register: the bits that are the head */
	uint32_t size;      /* [descriptors] */
	uint32_t capacity;  /* frames that may wait in it: size - 1, or size (virtio) */
	uint32_t head;      /* at the last look; virtio: modulo 65,536 */
	uint32_t tail;      /* as last written */
	uint32_t in_flight; /* from head to tail */
	struct loop_virtio virtio;
};

#define VIRTIO_USED_NO_NOTIFY 1u

/*
 * Frames that the device has fetched since the last look. A head that is nowhere between the last one and the tail
 * is none: the device was reset or is gone.
 */
static inline uint32_t
loop_ring_fetched(struct loop_ring *ring)
{
	uint32_t head, fetched;

	if (ring->head_register != NULL) {
		head = rte_read32(ring->head_register) & ring->head_mask;
		fetched = head >= ring->head ? head - ring->head : head + ring->size - ring->head;
	} else {
		head = *ring->virtio.used_index;
		fetched = (uint16_t)(head - ring->head);
	}
	if (unlikely(fetched > ring->in_flight ||
		     (ring->head_register != NULL && head >= ring->size)))
		return 0;
	ring->head = head;
	ring->in_flight -= fetched;
	return fetched;
}

static inline uint32_t
loop_ring_room(const struct loop_ring *ring)
{
	return ring->capacity - ring->in_flight;
}

/* The slots of the next `count` frames: where the lap does not divide the ring, they name other frames each time. */
static inline void
loop_virtio_write_slots(struct loop_ring *ring, uint32_t count)
{
	struct loop_virtio *virtio = &ring->virtio;
	uint32_t slot = ring->tail & (ring->size - 1), first = RTE_MIN(count, ring->size - slot);

	rte_memcpy(&virtio->avail_ring[slot], &virtio->pattern[virtio->next],
		   first * sizeof(virtio->pattern[0]));
	if (count > first)
		rte_memcpy(virtio->avail_ring, &virtio->pattern[virtio->next + first],
			   (count - first) * sizeof(virtio->pattern[0]));
	virtio->next = (virtio->next + count) % virtio->lap;
}

static inline void
loop_virtio_hand_over(struct loop_ring *ring, uint32_t count)
{
	struct loop_virtio *virtio = &ring->virtio;

	if (!virtio->periodic)
		loop_virtio_write_slots(ring, count);
	ring->tail = (uint16_t)(ring->tail + count);
	rte_io_wmb(); /* slots before the index */
	*virtio->avail_index = (uint16_t)ring->tail;
	rte_mb(); /* the index before a look at whether the device sleeps */
	if (*virtio->used_flags & VIRTIO_USED_NO_NOTIFY)
		return;
	if (virtio->notify_data)
		rte_write32(ring->tail << 16 | virtio->queue, virtio->notify);
	else
		rte_write16(virtio->queue, virtio->notify);
}

/* Let the device fetch `count` more frames, no more than there is room for. */
static inline void
loop_ring_hand_over(struct loop_ring *ring, uint32_t count)
{
	ring->in_flight += count;
	if (ring->head_register == NULL) {
		loop_virtio_hand_over(ring, count);
		return;
	}
	ring->tail += count;
	if (ring->tail >= ring->size)
		ring->tail -= ring->size;
	rte_write32(ring->tail, ring->tail_register); /* with a write barrier before it */
}

#endif
