/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A made-up device for the descriptor loop: registers and ring are memory, and whoever plays the device reads what it finds there, checks
 * each frame against what it should be, and moves the head. Two of them: Intel's manner and virtio's.
 *
 * Included by the tests of the loop, once each. EAL is not needed.
 */
#ifndef WR_TESTS_LOOP_FIXTURE_H
#define WR_TESTS_LOOP_FIXTURE_H

#include "tests/test_support.h"

#include "device/tx_loop.h"
#include "device/tx_loop_virtio.h"
#include "worker/loop_task.h"

#define HZ (UINT64_C(1) << 30)
#define FPS (UINT64_C(1) << 20)
#define INTERVAL 1024u /* [cycles] */
#define START 1000000u /* [cycles] */

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

/* What the device fetches next has to be the frame that comes next, whole and as it was made. */
static inline void
fetch(struct fixture *f, uint64_t address, uint32_t octets)
{
	uint32_t i = (uint32_t)(f->fetched % f->loop.frames);
	const uint8_t *frame = rte_pktmbuf_mtod(f->frames[i], const uint8_t *);

	assert_int_equal(address, (uintptr_t)frame);
	assert_int_equal(octets, 60 + i % 41);
	for (uint32_t at = 0; at < octets; at++) {
		if (frame[at] != (uint8_t)(i + (i >> 8) * 3 + (at + HEADER + 4) * 5))
			fail_msg("frame %u: octet %u was changed", i, at);
	}
	f->fetched++;
	f->fetched_octets += octets + 4;
}

/* At most `count` frames; how many there were. Intel 82576, 7.2.2.3. */
static inline uint32_t
consume_intel(struct fixture *f, uint32_t count)
{
	uint32_t head = *reg(f, TDH), tail = *reg(f, TDT), done = 0;

	for (; done < count && head != tail; done++) {
		const uint32_t *words = (const uint32_t *)(const void *)(f->memory + head * 16);

		assert_int_equal(words[2] & ~0xffffu, 0x23300000); /* DEXT IFCS EOP DTYP, no RS */
		assert_int_equal(words[3], (words[2] & 0xffff) << 14);
		fetch(f, (uint64_t)words[1] << 32 | words[0], words[2] & 0xffff);
		head = (head + 1) % f->loop.descriptors;
	}
	*reg(f, TDH) = head;
	return done;
}

/* virtio 1.2, 2.7.13 */
static inline uint32_t
consume_virtio(struct fixture *f, uint32_t count)
{
	uint32_t done = 0;

	for (; done < count && used(f)[1] != avail(f)[1]; done++) {
		uint16_t slot = used(f)[1] % f->loop.descriptors, id = avail(f)[2 + slot];
		const uint8_t *at = f->memory + id * 16;
		uint64_t address;
		uint32_t octets;

		memcpy(&address, at, sizeof(address));
		memcpy(&octets, at + 8, sizeof(octets));
		assert_int_equal(*(const uint16_t *)(const void *)(at + 12), 0);
		for (uint32_t z = 0; z < HEADER; z++)
			assert_int_equal(((const uint8_t *)(uintptr_t)address)[z], 0);
		fetch(f, address + HEADER, octets - HEADER);
		used(f)[1]++;
	}
	return done;
}

static inline uint32_t
consume(struct fixture *f, uint32_t count)
{
	return f->virtio ? consume_virtio(f, count) : consume_intel(f, count);
}

static inline void
make_task(struct fixture *f)
{
	f->task = (struct loop_task){
		.tx = {.frames = f->frames,
		       .octets_before = f->octets_before,
		       .ring_length = f->loop.frames,
		       .burst = (uint16_t)f->loop.ring.capacity,
		       .limit = UINT64_MAX,
		       .limit_cycles = UINT64_MAX,
		       .duration_cycles = UINT64_MAX,
		       .window_frames = UINT64_MAX,
		       .window_cycles = HZ / 100,
		       .counters = &f->counters},
		.ring = f->loop.ring,
		.standstill_cycles = HZ / 10,
		.pause_cycles_min = HZ / 100000,
		.pause_cycles_max = HZ / 50,
	};
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
	*reg(f, 12) = 1; /* VERSION_1 in the upper half, and a checksum of no concern in the lower */
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

static inline void
attach(struct fixture *f)
{
	struct error err = {0};
	struct virtio_registers registers = {.common = f->registers,
					     .notify = f->registers + 256,
					     .notify_octets = 256,
					     .notify_multiplier = 4};
	int code = f->virtio ? tx_loop_virtio_check(&f->loop, &registers, &err)
			     : tx_loop_check_registers(&f->loop, &place, &err);

	if (code == 0)
		code = tx_loop_fill(&f->loop, f->frames, f->loop.frames, &err);
	if (code != 0)
		fail_msg("%s", err.text);
	make_task(f);
}

static int
set_up(void **state)
{
	struct fixture *f = aligned_alloc(COUNTERS_ALIGN, RTE_ALIGN_CEIL(sizeof(*f), COUNTERS_ALIGN));

	if (f == NULL)
		return -1;
	memset(f, 0, sizeof(*f));
	f->traffic.start_tsc = START;
	f->traffic.stop_tsc = UINT64_MAX;
	f->random = 1;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	free(f->loop.written);
	free(f->loop.own);
	free(f);
	return 0;
}

/* xorshift64 (Marsaglia 2003) */
static inline uint32_t
random_below(struct fixture *f, uint32_t limit)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return (uint32_t)(f->random % limit);
}

/* One look of the worker, `cycles` after the start; false when the task is over. */
static inline bool
look(struct fixture *f, uint64_t cycles)
{
	if (f->counters.state == TASK_DONE)
		return false;
	counter_set(&f->counters.state, TASK_ACTIVE);
	loop_task_poll(&f->task, &f->traffic, START + cycles);
	assert_true(f->task.ring.in_flight <= f->task.ring.capacity);
	return f->counters.state != TASK_DONE;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
