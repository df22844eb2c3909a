/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop before a virtio device that is a thread of its own, as one in QEMU, in the kernel (vhost) or in a
 * SmartNIC is: it remembers the available index that it read, reads slots long after that, and returns a batch of
 * them at once, while the worker writes what comes next. Every frame is fetched once and in order.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: virtio 1.2, 2.7.13 (the device may read a slot until it
 * has returned it).
 */
#include <pthread.h>
#include <sched.h>

#include "tests/loop_fixture.h"

#define FRAMES 1000000u
#define BATCH 64u

struct device {
	struct fixture *f;
	pthread_t thread;
	_Atomic bool quit;
	uint64_t fetched;   /* frames */
	uint64_t misplaced; /* frames that were not the next one of the lap */
	uint64_t random;
};

/* As QEMU's virtqueue_pop() and vhost's batches: `popped` runs ahead of what was returned. */
static void
fetch_batch(struct device *device, uint16_t *seen, uint16_t *popped)
{
	struct fixture *f = device->f;
	const uint16_t *slots = avail(f) + 2;
	uint32_t batch;

	device->random = device->random * 6364136223846793005u + 1442695040888963407u; /* Knuth */
	batch = 1 + (uint32_t)(device->random >> 33) % BATCH;
	for (uint32_t i = 0; i < batch; i++) {
		if (*popped == *seen)
			*seen = __atomic_load_n(&avail(f)[1], __ATOMIC_ACQUIRE);
		if (*popped == *seen)
			break;
		device->misplaced +=
			__atomic_load_n(&slots[*popped % f->loop.descriptors], __ATOMIC_RELAXED) !=
			device->fetched % f->loop.frames;
		device->fetched++;
		++*popped;
	}
	if (device->random >> 60 == 0)
		sched_yield(); /* the worker may find it in the middle of a batch */
	__atomic_store_n(&used(f)[1], *popped, __ATOMIC_RELEASE);
}

static void *
run_device(void *context)
{
	struct device *device = context;
	uint16_t seen = used(device->f)[1], popped = seen;

	while (!device->quit) {
		uint16_t before = popped;

		fetch_batch(device, &seen, &popped);
		if (popped == before)
			sched_yield();
	}
	return NULL;
}

/* The ring's start, and whether the lap divides the ring, differ. */
static void
check_order(struct fixture *f, uint32_t lap, uint32_t descriptors, uint16_t first)
{
	struct device device = {.f = f, .random = lap};

	make_virtio(f, lap, descriptors, first);
	attach(f);
	f->task.tx.limit = FRAMES;
	assert_int_equal(pthread_create(&device.thread, NULL, run_device, &device), 0);
	while (look(
		f, 1)) /* a clock that stands: no standstill, however late the device's thread is */
		sched_yield();
	device.quit = true;
	pthread_join(device.thread, NULL);
	assert_int_equal(device.misplaced, 0);
	assert_int_equal(device.fetched, FRAMES);
	assert_int_equal(f->counters.frames, FRAMES);
	assert_int_equal(f->counters.octets, FRAMES / lap * f->octets_before[lap]);
	assert_int_equal(f->counters.frames_unsent, 0);
	assert_int_equal(tx_loop_changed(&f->loop), 0);
}

static void
laps_that_do_not_divide_the_ring(void **state)
{
	check_order(*state, 200, 256, 0);
}

static void
laps_that_divide_the_ring(void **state)
{
	check_order(*state, 64, 256, 65500);
}

static void
laps_of_the_ring(void **state)
{
	check_order(*state, 250, 1024, 1023);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(laps_that_do_not_divide_the_ring),
		TEST(laps_that_divide_the_ring),
		TEST(laps_of_the_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
