/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Made-up devices for the descriptor loop: registers and ring are memory, and a test plays the device
 * (loop_consumer.h). Two of them: Intel's manner and virtio's. EAL is not needed.
 */
#ifndef WR_TESTS_LOOP_DEVICES_H
#define WR_TESTS_LOOP_DEVICES_H

#include "tests/test_support.h"

#include "device/tx_loop.h"
#include "device/tx_loop_virtio.h"
#include "worker/loop_task.h"

enum {
	FRAMES_MAX = 4096,
	RING_MAX = 4096,
	OCTETS_MAX = 128,
	REGISTERS = 0x10000, /* octets */
	QUEUE = 3,
	TDBAL = 0xE000 + QUEUE * 0x40,
	TDBAH = TDBAL + 4,
	TDLEN = TDBAL + 8,
	TDH = TDBAL + 0x10,
	TDT = TDBAL + 0x18,
	TXDCTL = TDBAL + 0x28,
	AVAIL_AT = RING_MAX * 16,
	USED_AT = AVAIL_AT + 4 * RING_MAX,
	MEMORY = USED_AT + 16 * RING_MAX,
	HEADER = 12, /* virtio's */
};

static const char *const no_zones[] = {"none", NULL};
static const struct tx_loop_registers place = {0xE000, 0x40, no_zones};

struct fixture {
	struct loop_task task;
	struct tx_counters counters;
	struct traffic traffic;
	struct tx_loop loop;
	struct rte_mbuf mbufs[FRAMES_MAX];
	struct rte_mbuf *frames[FRAMES_MAX];
	uint8_t octets[FRAMES_MAX][OCTETS_MAX];
	uint64_t octets_before[FRAMES_MAX + 2];
	alignas(64) uint8_t registers[REGISTERS];
	alignas(64) uint8_t memory[MEMORY];
	uint64_t fetched; /* by the device */
	uint64_t fetched_octets;
	uint32_t notified; /* virtio: what the device was woken with */
	bool virtio;
	uint64_t random;
};

static uint32_t *
reg(struct fixture *f, uint32_t offset)
{
	return (uint32_t *)(void *)(f->registers + offset);
}

static uint16_t *
half(struct fixture *f, uint32_t offset)
{
	return (uint16_t *)(void *)(f->registers + offset);
}

static uint16_t *
avail(struct fixture *f)
{
	return (uint16_t *)(void *)(f->memory + AVAIL_AT);
}

static uint16_t *
used(struct fixture *f)
{
	return (uint16_t *)(void *)(f->memory + USED_AT);
}

/* Frame i says which one it is, and sizes differ. */
static inline void
make_frames(struct fixture *f, uint32_t lap)
{
	for (uint32_t i = 0; i < lap; i++) {
		struct rte_mbuf *mbuf = &f->mbufs[i];
		uint16_t octets = (uint16_t)(60 + i % 41);

		f->frames[i] = mbuf;
		mbuf->buf_addr = f->octets[i];
		mbuf->buf_iova = (uintptr_t)f->octets[i];
		mbuf->data_off = HEADER + 4;
		mbuf->nb_segs = 1;
		mbuf->data_len = octets;
		mbuf->pkt_len = octets;
		for (uint32_t at = 0; at < OCTETS_MAX; at++)
			f->octets[i][at] = (uint8_t)(i + (i >> 8) * 3 + at * 5);
		f->octets_before[i + 1] = f->octets_before[i] + octets + 4;
	}
}

/* An idle device as its driver leaves it: head and tail at `first`. */
static inline void
make_intel(struct fixture *f, uint32_t lap, uint32_t descriptors, uint32_t first)
{
	make_frames(f, lap);
	f->loop = (struct tx_loop){.driver = &tx_loop_igb,
				   .name = "p0 queue 3 (igb)",
				   .queue = QUEUE,
				   .descriptors = descriptors,
				   .frames = lap,
				   .registers = f->registers,
				   .memory = f->memory,
				   .iova = (uintptr_t)f->memory,
				   .octets = MEMORY};
	*reg(f, TDBAL) = (uint32_t)f->loop.iova;
	*reg(f, TDBAH) = (uint32_t)(f->loop.iova >> 32);
	*reg(f, TDLEN) = descriptors * 16;
	*reg(f, TXDCTL) = 1u << 25;
	*reg(f, TDH) = *reg(f, TDT) = first;
}

static inline struct virtio_registers
make_virtio(struct fixture *f, uint32_t lap, uint32_t descriptors, uint16_t first)
{
	uint64_t addresses[3];

	make_frames(f, lap);
	f->virtio = true;
	f->loop = (struct tx_loop){.driver = &tx_loop_virtio,
				   .name = "p0 queue 3 (virtio)",
				   .queue = QUEUE,
				   .descriptors = descriptors,
				   .frames = lap,
				   .memory = f->memory,
				   .iova = (uintptr_t)f->memory,
				   .octets = MEMORY};
	addresses[0] = f->loop.iova;
	addresses[1] = f->loop.iova + AVAIL_AT;
	addresses[2] = f->loop.iova + USED_AT;
	*reg(f, 12) =
		1; /* VERSION_1 in the upper half, and a checksum of no concern in the lower */
	*half(f, 24) = (uint16_t)descriptors;
	*half(f, 28) = 1;
	*half(f, 30) = 2; /* its register is the third */
	memcpy(f->registers + 32, addresses, sizeof(addresses));
	avail(f)[1] = used(f)[1] = first;
	return (struct virtio_registers){
		.common = f->registers,
		.notify = f->registers + 256,
		.notify_octets = 256,
		.notify_multiplier = 4,
	};
}

#endif
