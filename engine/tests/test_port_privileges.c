/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of port keeps. Run by `meson test`. Source: device/port_privileges.h. */
#include "tests/test_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include <linux/capability.h>

#include "base/privileges.h"
#include "device/port_privileges.h"

#define NET (PRIVILEGE(CAP_NET_ADMIN) | PRIVILEGE(CAP_NET_RAW))

static uint64_t
of(const char *text, const char *driver)
{
	struct location location;

	assert_int_equal(location_parse(&location, text, 0, 1, NULL), 0);
	return port_privileges(&location, text, driver);
}

static void
each_kind(void **state)
{
	(void)state;
	assert_int_equal(of("ring:a", "net_ring"), 0);
	assert_int_equal(of("null:a", "net_null"), 0);
	assert_int_equal(of("pcap:,/tmp/a", "net_pcap"), 0);
	assert_int_equal(of("vdev:net_null0", "net_null"), 0);
	assert_int_equal(of("tap:a", "net_tap"), PRIVILEGE(CAP_NET_ADMIN));
	assert_int_equal(of("af_packet:a", "net_af_packet"), NET);
	assert_true((of("af_xdp:a", "net_af_xdp") & PRIVILEGE(CAP_SYS_ADMIN)) != 0);
	assert_int_equal(of("0000:03:00.0", "net_ixgbe"), PRIVILEGE(CAP_IPC_LOCK));
	assert_int_equal(of("0000:03:00.0", "mlx5_pci"), NET | PRIVILEGE(CAP_IPC_LOCK));
	assert_int_equal(of("virtio-user:/dev/vhost-net,iface=a", "net_virtio_user"),
			 PRIVILEGE(CAP_NET_ADMIN));
}

static void
what_nobody_knows_keeps_all(void **state)
{
	(void)state;
	assert_int_equal(of("vdev:net_nobody_knows0", "net_nobody_knows"), PRIVILEGES_ALL);
	assert_int_equal(of("vdev:net_memif0,socket=/s", "net_memif"), PRIVILEGES_ALL);
}

/* Removing it, or connecting again, must stay possible. */
static void
sockets_of_others(void **state)
{
	char folder[] = "/tmp/wr-test-XXXXXX", text[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(text, sizeof(text), "memif:%s/s,role=server", folder);
	assert_int_equal(of(text, "net_memif"), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(folder, 65534, 65534), 0);
		assert_int_equal(of(text, "net_memif"), PRIVILEGE(CAP_DAC_OVERRIDE));
		snprintf(text, sizeof(text), "vhost:%s/s", folder);
		assert_int_equal(of(text, "net_vhost"), PRIVILEGE(CAP_DAC_OVERRIDE));
	}
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(of("memif:no-file,socket-abstract=yes", "net_memif"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind),
		cmocka_unit_test(what_nobody_knows_keeps_all),
		cmocka_unit_test(sockets_of_others),
	};

	return cmocka_run_group_tests_name("port_privileges", tests, NULL, NULL);
}
