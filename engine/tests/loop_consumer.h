/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Playing a made-up device: fetch frames from its ring, and check that each is the one that comes next, as it was
 * made.
 */
#ifndef WR_TESTS_LOOP_CONSUMER_H
#define WR_TESTS_LOOP_CONSUMER_H

#include "tests/loop_devices.h"

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

#endif
