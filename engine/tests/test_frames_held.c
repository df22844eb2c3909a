/* SPDX-License-Identifier: BSD-3-Clause */
/* How many frames a device may hold, driver by driver. Run by `meson test`. Source: device/frames_held.h. */
#include "tests/test_support.h"

#include "config/config.h"
#include "device/frames_held.h"

static void
each_driver(void **state)
{
	static const struct {
		const char *driver, *location;
		uint32_t descriptors, ring;
	} rows[] = {
		{"net_ring", "ring:a", 1024, 1024},
		{"net_ring", "ring:a", 64, 64},
		{"net_i40e", "0000:03:00.0", 1024, 1024},
		{"net_i40e", "0000:03:00.0", 4096, 4096},
		{"mlx5_pci", "0000:03:00.0", 1100, 2048},
		{"mlx5_pci", "0000:03:00.0", 1025, 2048},
		{"net_bnxt", "0000:03:00.0", 3000, 4096},
		{"net_sfc_efx", "0000:03:00.0", 64, 1024},
		{"net_kni", "kni:kni0", 64, 1024},
		{"net_nobody_knows", "vdev:net_nobody_knows0", 5000, 8192},
		{"net_nobody_knows", "vdev:net_nobody_knows0", 65535, 65536},
		{"net_virtio_user", "virtio-user:/s,queue_size=4096", 1024, 4096},
		{"net_virtio_user", "virtio-user:/s", 1024, 1024},
		{"net_memif", "memif:/s,zero-copy=yes", 64, 1024},
		{"net_memif", "memif:/s,zero-copy=yes,rsize=14", 1024, 16384},
		{"net_memif", "memif:/s,rsize=12,zero-copy=yes", 1024, 4096},
		{"net_memif", "memif:/s,rsize=14,zero-copy=yes,rsize=5", 1024, 16384},
		{"net_memif", "memif:/s,zero-copy=yes,rsize=99", 1024, 16384},
		{"net_memif", "vdev:net_memif0,socket=/rsize=3,zero-copy=yes", 1024, 1024},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(
			frames_held_max(rows[i].driver, rows[i].location, rows[i].descriptors),
			rows[i].ring + CONFIG_BURST_MAX);
}

static void
what_copies_holds_none(void **state)
{
	static const char *const drivers[] = {"net_null",      "net_pcap",  "net_tap",
					      "net_af_packet", "net_vhost", "net_memif"};

	(void)state;
	for (size_t i = 0; i < COUNT(drivers); i++)
		assert_int_equal(frames_held_max(drivers[i], "memif:/s,rsize=14", 1024), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_driver),
		cmocka_unit_test(what_copies_holds_none),
	};

	return cmocka_run_group_tests_name("frames_held", tests, NULL, NULL);
}
