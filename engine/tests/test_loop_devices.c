/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of a device is checked before it is looped, and how large its ring is: each condition that does not hold is
 * refused with its reason, and nothing of the device has changed.
 *
 * Run by `meson test`; DPDK's inline functions only. Source: device/tx_loop.h, docs/design/0006.
 */
#include "tests/loop_fixture.h"

/* A device that is almost right: the word at `offset` is something else. */
struct oddity {
	uint32_t offset;
	uint32_t word;
	const char *reason;
};

static void
check_refused(struct fixture *f, int code, const struct error *err, const char *reason,
	      const uint8_t *registers, const uint8_t *memory)
{
	assert_int_equal(code, -ENOTSUP);
	if (strstr(err->text, reason) == NULL || strstr(err->text, "normal engine") == NULL)
		fail_msg("wanted \"%s\", got \"%s\"", reason, err->text);
	assert_memory_equal(registers, f->registers, REGISTERS);
	assert_memory_equal(memory, f->memory, MEMORY);
}

static void
intel_device_is_checked(void **state)
{
	static const struct oddity oddities[] = {
		{TDBAL, 0x1000, "driver's memory"},
		{TDBAH, 0x7, "driver's memory"},
		{TDLEN, 599 * 16, "octets, not"},
		{TDLEN, 0, "octets, not"},
		{TXDCTL, 0x10, "switched off"},
		{TDH, 5, "not idle (head 5, tail 3)"},
		{TDT, 600, "not idle"},
		{TDH, UINT32_MAX, "not idle"},
		{TXDCTL, 0, "switched off"},
	};
	static uint8_t registers[REGISTERS], memory[MEMORY];

	for (size_t i = 0; i < COUNT(oddities); i++) {
		struct fixture *f = *state;
		struct error err = {0};
		int code;

		make_intel(f, 200, 600, 3);
		*reg(f, oddities[i].offset) = oddities[i].word;
		memcpy(registers, f->registers, REGISTERS);
		memcpy(memory, f->memory, MEMORY);
		code = tx_loop_check_registers(&f->loop, &place, &err);
		check_refused(f, code, &err, oddities[i].reason, registers, memory);
	}
}

/* Its memory is shorter than its ring. */
static void
intel_ring_lies_in_its_memory(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};

	make_intel(f, 200, 600, 0);
	f->loop.octets = 600 * 16 - 1;
	assert_int_equal(tx_loop_check_registers(&f->loop, &place, &err), -ENOTSUP);
}

static void
virtio_device_is_checked(void **state)
{
	static const struct oddity oddities[] = {
		{12, 0, "before version 1"},       {12, 1 | 1u << 2, "packed"},
		{12, 1 | 1u << 3, "in order"},     {12, 1 | 1u << 29, "event"},
		{28, 2u << 16, "switched off"},    {24, 512, "512 descriptors, not the 256"},
		{32, 0x1000, "driver's memory"},   {40, 0x1000, "outside the driver's"},
		{52, 0x7, "outside the driver's"}, {28, 1 | 200u << 16, "end before"},
	};
	static uint8_t registers[REGISTERS], memory[MEMORY];

	for (size_t i = 0; i < COUNT(oddities); i++) {
		struct fixture *f = *state;
		struct virtio_registers at = make_virtio(f, 200, 256, 9);
		struct error err = {0};
		int code;

		*reg(f, oddities[i].offset) = oddities[i].word;
		*reg(f, 8) = 0; /* selectors are written: as they are afterwards */
		*half(f, 22) = 2 * QUEUE + 1;
		memcpy(registers, f->registers, REGISTERS);
		memcpy(memory, f->memory, MEMORY);
		code = tx_loop_virtio_check(&f->loop, &at, &err);
		if (code == 0 || strstr(err.text, "version 1") || strstr(err.text, "packed") ||
		    strstr(err.text, "promised"))
			*half(f, 22) = 2 * QUEUE + 1;
		check_refused(f, code, &err, oddities[i].reason, registers, memory);
	}
}

static void
virtio_device_has_to_be_idle(void **state)
{
	struct fixture *f = *state;
	struct virtio_registers at = make_virtio(f, 200, 256, 9);
	struct error err = {0};

	avail(f)[1] = 10;
	assert_int_equal(tx_loop_virtio_check(&f->loop, &at, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "available index 10, used 9"));
}

static void
frames_have_to_be_as_many_and_within_reach(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};

	make_intel(f, 200, 600, 0);
	assert_int_equal(tx_loop_check_registers(&f->loop, &place, &err), 0);
	assert_int_equal(tx_loop_check_frames(&f->loop, f->frames, 199, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "199 frames"));
	f->mbufs[7].buf_iova = RTE_BAD_IOVA;
	assert_int_equal(tx_loop_check_frames(&f->loop, f->frames, 200, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "frame 7"));
	assert_null(f->loop.table);
}

/* Whole laps, multiples of the alignment, as near to 4,096 as it gets. */
static void
ring_holds_whole_laps(void **state)
{
	static const struct {
		uint32_t frames, align, most, descriptors;
	} rows[] = {
		{200, 8, 4096, 4000},   {201, 8, 4096, 3216},     {1, 8, 4096, 4096},
		{4097, 8, 4096, 0},     {4096, 8, 4096, 4096},    {4095, 8, 4096, 0},
		{200, 32, 4096, 4000},  {201, 32, 4096, 0},       {1, 32, 4096, 4096},
		{4097, 32, 4096, 0},    {3, 32, 4096, 4032},      {128, 32, 4096, 4096},
		{4097, 1, 65535, 4097}, {65535, 1, 65535, 65535}, {200, 1, 65535, 4000},
		{5000, 8, 8192, 5000},  {1000, 8, 512, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tx_loop_sizes sizes = {32, rows[i].most, rows[i].align, true};
		uint32_t got = tx_loop_choose(&sizes, rows[i].frames);

		if (got != rows[i].descriptors)
			fail_msg("%u frames, multiples of %u up to %u: %u, not %u", rows[i].frames,
				 rows[i].align, rows[i].most, got, rows[i].descriptors);
	}
}

/* virtio: the device's size whatever the lap, as long as it holds one. */
static void
ring_of_a_given_size(void **state)
{
	struct tx_loop_sizes sizes = {32, 256, 1, false};

	(void)state;
	assert_int_equal(tx_loop_choose(&sizes, 1), 256);
	assert_int_equal(tx_loop_choose(&sizes, 200), 256);
	assert_int_equal(tx_loop_choose(&sizes, 256), 256);
	assert_int_equal(tx_loop_choose(&sizes, 257), 0);
	assert_int_equal(tx_loop_frames_max(&sizes), 256);
}

static void
drivers_are_known_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(tx_loop_driver_of("net_e1000_igb"), &tx_loop_igb);
	assert_ptr_equal(tx_loop_driver_of("net_virtio"), &tx_loop_virtio);
	assert_ptr_equal(tx_loop_driver_of("net_null"), &tx_loop_null);
	assert_null(tx_loop_driver_of("net_ring"));
	assert_null(tx_loop_driver_of("net_e1000_em"));
	assert_null(tx_loop_driver_of("net_virtio_user"));
	assert_non_null(tx_loop_driver_of("net_iavf")->lacks);
	assert_null(tx_loop_igb.lacks);
	assert_true(tx_loop_igb.proven && tx_loop_virtio.proven);
	assert_false(tx_loop_ixgbe.proven || tx_loop_i40e.proven || tx_loop_ice.proven);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(intel_device_is_checked),
		TEST(intel_ring_lies_in_its_memory),
		TEST(virtio_device_is_checked),
		TEST(virtio_device_has_to_be_idle),
		TEST(frames_have_to_be_as_many_and_within_reach),
		cmocka_unit_test(ring_holds_whole_laps),
		cmocka_unit_test(ring_of_a_given_size),
		cmocka_unit_test(drivers_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
