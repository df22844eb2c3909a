/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walked frames are the rendered ones: random streams of every kind of field, checksums within checksums, lengths and
 * parts, octet by octet against program/frame_render.h.
 *
 * Run by `meson test`; DPDK without hugepages, devices or privilege. Source: edit/tx_walk.h, program/walk_build.h.
 */
#include "tests/eal_fixture.h"

#include "program/frame_pool.h"
#include "program/frame_render.h"
#include "program/frame_ring.h"
#include "program/walk_build.h"

enum { FRAME = 200, FIELDS = 12, CHECKSUMS = 4, VALUES = 100 };

/* A stream with room for what it may have. */
struct made_up {
	struct stream_config stream;
	uint8_t template[FRAME];
	uint32_t lengths[7];
	struct field_config fields[FIELDS];
	struct checksum_config checksums[CHECKSUMS];
	uint64_t values[FIELDS][VALUES];
};

static uint64_t
below(uint64_t *seed, uint64_t n)
{
	return random_next(seed) % n;
}

static uint64_t
mask_of(uint32_t bits)
{
	return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static void
make_values(struct made_up *made, uint32_t f, uint64_t *seed)
{
	static const uint64_t counts[] = {1,  2,    3,    63,      64,
					  65, 1000, 4097, 1000003, UINT64_C(1) << 40};
	static const uint64_t everys[] = {1, 1, 1, 2, 5, 64, 70, 1000, 65536, UINT64_C(1) << 32};
	struct field_config *field = &made->fields[f];
	uint64_t mask = mask_of(field->bits);

	field->every = everys[below(seed, COUNT(everys))];
	field->kind = (enum field_kind)below(seed, 3);
	field->count = counts[below(seed, COUNT(counts))];
	field->first = random_next(seed) & mask;
	field->step = random_next(seed) & mask;
	field->seed = random_next(seed);
	if (below(seed, 2) == 0)
		field->step = -field->step;
	if (field->kind == FIELD_RANDOM) {
		field->range = below(seed, 4) == 0 ? mask + 1 : below(seed, mask) + 1;
		field->first = field->range == 0 ? 0 : below(seed, mask - field->range + 2);
	}
	if (field->kind != FIELD_VALUES)
		return;
	field->count = below(seed, VALUES) + 1;
	field->values = made->values[f];
	for (uint32_t i = 0; i < VALUES; i++)
		made->values[f][i] = random_next(seed) & mask;
}

/* Fields in the first 100 octets, each in its own eight. */
static void
make_fields(struct made_up *made, uint64_t *seed)
{
	made->stream.fields = made->fields;
	made->stream.n_fields = 1 + (uint32_t)below(seed, FIELDS);
	for (uint32_t f = 0; f < made->stream.n_fields; f++) {
		struct field_config *field = &made->fields[f];

		field->octets = 1 + (uint32_t)below(seed, 8);
		field->offset = 4 + 8 * f + (uint32_t)below(seed, 9 - field->octets);
		field->bits = 1 + (uint32_t)below(seed, 8ull * field->octets);
		field->shift = (uint32_t)below(seed, 8ull * field->octets - field->bits + 1);
		if (below(seed, 2) == 0) {
			field->bits = 8 * field->octets;
			field->shift = 0;
		}
		make_values(made, f, seed);
	}
}

/*
 * Stored behind the fields. Each covers all fields and the checksums before it, so that none is cut; ranges begin at even
 * and odd octets, and end with the frame or before.
 */
static void
make_checksums(struct made_up *made, uint64_t *seed)
{
	made->stream.checksums = made->checksums;
	made->stream.n_checksums = (uint32_t)below(seed, CHECKSUMS + 1);
	for (uint32_t c = 0; c < made->stream.n_checksums; c++) {
		struct checksum_config *checksum = &made->checksums[c];
		uint32_t first = (uint32_t)below(seed, 4);

		checksum->offset = 110 + 3 * c;
		checksum->n_ranges = 1;
		checksum->ranges[0].offset = first;
		checksum->ranges[0].octets = 110 - first + 3 * c;
		if (c + 1 == made->stream.n_checksums && below(seed, 2) == 0)
			checksum->ranges[0].octets = RANGE_TO_END;
		checksum->add = (uint32_t)below(seed, 65536);
		checksum->add_length_less = below(seed, 2) == 0 ? 34 : ADD_NO_LENGTH;
		checksum->udp = below(seed, 2) == 0;
	}
}

static void
make_up(struct made_up *made, uint64_t *seed)
{
	memset(made, 0, sizeof(*made));
	for (uint32_t i = 0; i < FRAME; i++)
		made->template[i] = (uint8_t)random_next(seed);
	snprintf(made->stream.name, sizeof(made->stream.name), "s0");
	made->stream.template = made->template;
	made->stream.frame_len_no_fcs = FRAME;
	made->stream.lengths = made->lengths;
	made->stream.n_lengths = (uint32_t)below(seed, COUNT(made->lengths) + 1);
	for (uint32_t i = 0; i < made->stream.n_lengths; i++)
		made->lengths[i] = 125 + (uint32_t)below(seed, FRAME - 125 + 1);
	make_fields(made, seed);
	make_checksums(made, seed);
	made->stream.period = UINT64_MAX; /* so that they are walked */
}

struct walked {
	struct frame_pool *pool;
	struct frame_ring ring;
	struct walk *walk;
};

static struct walked
build(const struct made_up *made, const struct task_config *task)
{
	static unsigned int number;
	struct frame_source source = {.stream = &made->stream};
	struct ring_shape shape = frame_ring_shape(&source, task->parts, task->burst, 100);
	struct walked walked = {0};
	struct error err = {0};
	uint16_t octets[4096];
	char name[32];

	snprintf(name, sizeof(name), "walk%u", number++);
	assert_true(shape.walk);
	assert_in_range(shape.length, 100 + task->burst, COUNT(octets));
	frame_ring_octets(&source, task, shape.length, octets);
	if (frame_pool_create(&walked.pool, name, octets, shape.length, SOCKET_ID_ANY, &err) != 0 ||
	    frame_ring_render(&walked.ring, &source, task, shape.length,
			      frame_pool_mbufs(walked.pool), SOCKET_ID_ANY, &err) != 0 ||
	    walk_create(&walked.walk, &made->stream, task, shape.length, SOCKET_ID_ANY, &err) != 0)
		fail_msg("%s", err.text);
	return walked;
}

static void
destroy(struct walked *walked)
{
	walk_free(walked->walk);
	frame_ring_free(&walked->ring);
	frame_pool_destroy(walked->pool);
}

static void
check_burst(const struct made_up *made, const struct task_config *task, struct walked *walked,
	    uint64_t done, uint64_t turn, uint16_t count)
{
	uint32_t position = (uint32_t)(done % walked->ring.length);
	struct rte_mbuf *const *mbufs = &walked->ring.frames[position];

	tx_walk_write(walked->walk, mbufs, position, done % turn, turn, count);
	for (uint16_t j = 0; j < count; j++) {
		uint64_t i = task->part + (done + j) % turn * task->parts;
		uint8_t expected[FRAME];
		uint32_t octets = frame_render(&made->stream, i, expected);

		assert_int_equal(rte_pktmbuf_data_len(mbufs[j]), octets);
		assert_memory_equal(rte_pktmbuf_mtod(mbufs[j], uint8_t *), expected, octets);
	}
}

/* Bursts of any number, three rings of them, each written twice as after a refusal; and some very far away. */
static void
check_walk(const struct made_up *made, const struct task_config *task, struct walked *walked,
	   uint64_t turn, uint64_t *seed)
{
	for (uint64_t done = 0, n; done < 3ull * walked->ring.length; done += n) {
		n = 1 + below(seed, task->burst);
		check_burst(made, task, walked, done, turn, (uint16_t)n);
		check_burst(made, task, walked, done, turn, (uint16_t)n);
	}
	check_burst(made, task, walked, UINT64_C(1) << 41, turn, (uint16_t)task->burst);
}

static void
walked_frames_are_the_rendered_ones(void **state)
{
	static struct made_up made;

	(void)state;
	for (uint64_t round = 1; round <= 300; round++) {
		uint64_t seed = round;
		struct task_config task = {.burst = 1 + (uint32_t)below(&seed, 200)};
		struct walked walked;

		task.parts = 1 + (uint32_t)below(&seed, 5);
		task.part = (uint32_t)below(&seed, task.parts);
		make_up(&made, &seed);
		walked = build(&made, &task);
		check_walk(&made, &task, &walked, WALK_NO_TURN, &seed);
		destroy(&walked);
	}
}

/* Turns from a single flow to more than any burst, so that several are in one and one is in several. */
static void
flows_in_turn_are_the_rendered_ones(void **state)
{
	static const uint64_t turns[] = {1,  2,   3,   31,  32,   63,    64,
					 65, 100, 127, 128, 1000, 65536, 300000};
	static struct made_up made;

	(void)state;
	for (uint64_t round = 1; round <= 300; round++) {
		uint64_t seed = round;
		struct task_config task = {.burst = 1 + (uint32_t)below(&seed, 200)};
		struct walked walked;

		task.parts = 1 + (uint32_t)below(&seed, 5);
		task.part = (uint32_t)below(&seed, task.parts);
		make_up(&made, &seed);
		made.stream.n_lengths = made.stream.n_lengths > 0; /* a ramp has one length */
		made.stream.ramp.flows = 300000;
		walked = build(&made, &task);
		check_walk(&made, &task, &walked, turns[round % COUNT(turns)], &seed);
		check_walk(&made, &task, &walked, 1 + below(&seed, 200), &seed);
		destroy(&walked);
	}
}

static void
a_field_across_the_end_of_a_range_is_refused(void **state)
{
	static struct made_up made;
	struct task_config task = {.parts = 1, .burst = 32};
	struct walk *walk = NULL;
	struct error err = {0};
	uint64_t seed = 1;

	(void)state;
	make_up(&made, &seed);
	made.stream.n_fields = 1;
	made.fields[0] = (struct field_config){
		.kind = FIELD_STEPS, .offset = 40, .octets = 4, .bits = 32, .every = 1, .count = 9};
	made.stream.n_checksums = 1;
	made.checksums[0] = (struct checksum_config){.offset = 100,
						     .ranges = {{42, 8}},
						     .n_ranges = 1,
						     .add_length_less = ADD_NO_LENGTH};
	assert_int_equal(walk_create(&walk, &made.stream, &task, 256, SOCKET_ID_ANY, &err),
			 -EINVAL);
	assert_null(walk);
	assert_non_null(strstr(err.text, "fields[0] lies across"));
	made.fields[0].bits = 16; /* its value is in the range, its window is not */
	assert_int_equal(walk_create(&walk, &made.stream, &task, 256, SOCKET_ID_ANY, &err), 0);
	walk_free(walk);
}

static void
rings_outgrow_what_a_device_holds(void **state)
{
	static struct made_up made;
	struct frame_source source = {.stream = &made.stream};
	struct ring_shape shape;
	uint64_t seed = 7;

	(void)state;
	make_up(&made, &seed);
	made.stream.n_lengths = 7;
	for (uint32_t held = 0; held < 5000; held += 777) {
		shape = frame_ring_shape(&source, 1, 32, held);
		assert_true(shape.walk);
		assert_int_equal(shape.length % 7, 0);
		assert_true(shape.length >= held + 32 && shape.length >= 64);
		assert_true(shape.length < RTE_MAX(held + 32, 64u) + 7);
	}
	made.stream.period = RING_READY_FRAMES_MAX;
	assert_false(frame_ring_shape(&source, 1, 32, 5000).walk);
	made.stream.period = UINT64_MAX;
	made.stream.n_fields = 0; /* nothing to write: all lengths are ready */
	made.stream.period = 7;
	assert_false(frame_ring_shape(&source, 1, 32, 5000).walk);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walked_frames_are_the_rendered_ones),
		cmocka_unit_test(flows_in_turn_are_the_rendered_ones),
		cmocka_unit_test(a_field_across_the_end_of_a_range_is_refused),
		cmocka_unit_test(rings_outgrow_what_a_device_holds),
	};

	return cmocka_run_group_tests_name("tx_walk", tests, eal_up, eal_down);
}
