/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of ready frames of one tx task: its length, its order, its running sums.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: program/frame_ring.h.
 */
#include "tests/eal_fixture.h"

#include "base/units.h"
#include "program/frame_pool.h"
#include "program/frame_ring.h"

static uint32_t
length_of(uint32_t period, uint32_t parts, uint32_t burst)
{
	struct stream_config stream = {.period = period};
	struct frame_source source = {.stream = &stream};
	struct ring_shape shape = frame_ring_shape(&source, parts, burst, 0);

	assert_false(shape.walk);
	return shape.length;
}

static void
lengths(void **state)
{
	static const struct {
		uint32_t period, parts, burst, length;
	} rows[] = {
		{1, 1, 1, 64},
		{1, 1, 64, 64},
		{1, 1, 65, 65},
		{1, 7, 512, 512},
		{3, 1, 32, 66},
		{64, 1, 32, 64},
		{65, 1, 32, 65},
		{100, 1, 32, 100},
		{100, 4, 32, 75},
		{100, 3, 32, 100},
		{4096, 2, 32, 2048},
		{1 << 20, 1, 512, 1 << 20},
		{1 << 20, 1 << 16, 32, 64},
		{6, 4, 32, 66},
		{40, 1, 50, 80},
		{60, 60, 32, 64},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(length_of(rows[i].period, rows[i].parts, rows[i].burst),
				 rows[i].length);
}

/* The frames of a part repeat after `length` of them, and no shorter ring would do. */
static void
lengths_are_the_least_whole_periods(void **state)
{
	(void)state;
	for (uint32_t period = 1; period <= 200; period++) {
		for (uint32_t parts = 1; parts <= 24; parts++) {
			uint32_t own = 1, least = period % 2 == 0 ? 64 : 100;

			while ((uint64_t)own * parts % period != 0)
				own++;
			assert_int_equal(length_of(period, parts, least == 64 ? 32 : 100),
					 (least + own - 1) / own * own);
		}
	}
}

static void
check_ring(const struct frame_ring *ring, const struct stream_config *stream,
	   const struct task_config *task, struct rte_mbuf **mbufs)
{
	assert_int_equal(ring->octets_before[0], 0);
	for (uint32_t i = 0; i < ring->length + task->burst; i++) {
		const struct rte_mbuf *mbuf = ring->frames[i];
		uint64_t frame = task->part + (uint64_t)i * task->parts;

		assert_ptr_equal(mbuf, mbufs[i % ring->length]);
		assert_int_equal(number_of(mbuf), frame % stream->period);
		assert_int_equal(mbuf->data_len, stream->frame_len_no_fcs);
		assert_int_equal(mbuf->pkt_len, stream->frame_len_no_fcs);
		assert_int_equal(mbuf->nb_segs, 1);
		assert_int_equal(rte_mbuf_refcnt_read(mbuf), 1);
		assert_int_equal(ring->octets_before[i + 1],
				 (i + 1) * (uint64_t)(stream->frame_len_no_fcs + FCS_OCTETS));
	}
}

static void
check_part(const struct stream_config *stream, uint32_t part, uint32_t parts, uint32_t burst)
{
	static unsigned int number;
	struct task_config task = {.kind = TASK_TX, .part = part, .parts = parts, .burst = burst};
	struct frame_source source = {.stream = stream};
	uint32_t length = frame_ring_shape(&source, parts, burst, 0).length;
	uint16_t octets[2048];
	struct frame_pool *pool;
	struct frame_ring ring;
	char name[32];

	snprintf(name, sizeof(name), "ring%u", number++);
	assert_in_range(length, 1, COUNT(octets));
	frame_ring_octets(&source, &task, length, octets);
	assert_int_equal(frame_pool_create(&pool, name, octets, length, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(frame_ring_render(&ring, &source, &task, length, frame_pool_mbufs(pool),
					   SOCKET_ID_ANY, NULL),
			 0);
	assert_int_equal(ring.length, length);
	check_ring(&ring, stream, &task, frame_pool_mbufs(pool));
	frame_ring_free(&ring);
	assert_null(ring.frames);
	assert_null(ring.octets_before);
	frame_pool_destroy(pool);
}

static void
parts_carry_their_frames_of_the_stream(void **state)
{
	static const uint32_t periods[] = {1, 2, 7, 64, 100, 1000}, bursts[] = {1, 32, 64, 512};
	struct field_config field;

	(void)state;
	for (size_t p = 0; p < COUNT(periods); p++) {
		struct stream_config stream = numbered_stream(&field, periods[p], OCTETS_MIN);

		for (size_t b = 0; b < COUNT(bursts); b++) {
			for (uint32_t parts = 1; parts <= 5; parts += 2) {
				for (uint32_t part = 0; part < parts; part++)
					check_part(&stream, part, parts, bursts[b]);
			}
		}
		free(stream.template);
	}
}

static void
frames_of_every_size(void **state)
{
	static const uint32_t sizes[] = {60, 61, 1514, 9014, CONFIG_TEMPLATE_OCTETS_MAX};
	struct field_config field;

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct stream_config stream = numbered_stream(&field, 10, sizes[s]);

		check_part(&stream, 0, 1, 32);
		check_part(&stream, 1, 2, 32);
		free(stream.template);
	}
}

/* Rings of a megaframe each, without their frames, until 64 MiB are used up. */
static void
no_memory_is_told(void **state)
{
	static uint8_t octets[OCTETS_MIN];
	static struct rte_mbuf *mbufs[CONFIG_PERIOD_MAX], mbuf = {.buf_addr = octets};
	struct stream_config stream = {
		.period = CONFIG_PERIOD_MAX, .template = octets + 1, .frame_len_no_fcs = 1};
	struct frame_source source = {.stream = &stream};
	struct task_config task = {.parts = 1, .burst = 512};
	struct frame_ring rings[16] = {0};
	struct error err = {0};
	int code = 0;

	(void)state;
	for (size_t m = 0; m < COUNT(mbufs); m++)
		mbufs[m] = &mbuf;
	for (size_t i = 0; i < COUNT(rings) && code == 0; i++) {
		code = frame_ring_render(&rings[i], &source, &task, CONFIG_PERIOD_MAX, mbufs,
					 SOCKET_ID_ANY, &err);
		assert_int_equal(rings[i].frames != NULL, code == 0);
		assert_int_equal(rings[i].octets_before != NULL, code == 0);
	}
	assert_int_equal(code, -ENOMEM);
	assert_non_null(strstr(err.text, "a ring of 1048576 frames"));
	for (size_t i = 0; i < COUNT(rings); i++)
		frame_ring_free(&rings[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(lengths_are_the_least_whole_periods),
		cmocka_unit_test(parts_carry_their_frames_of_the_stream),
		cmocka_unit_test(frames_of_every_size),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests_name("frame_ring", tests, eal_up, eal_down);
}
