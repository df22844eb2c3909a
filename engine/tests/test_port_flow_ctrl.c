/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control is off while a port is open and put back afterwards, also where a restart forgets it and where the driver
 * refuses; PAUSE frames are counted by whichever names the driver has; links are waited for at the same time.
 *
 * Run by `meson test`; no device at hand has flow control, so that ethdev's functions for it are made up here: these
 * definitions stand before the library's. Source: device/port_flow_ctrl.h, docs/design/0005-measurement.md.
 */
#include "tests/eal_fixture.h"

#include <errno.h>

#include <rte_cycles.h>

#include "device/port.h"

enum { NAMES = 6, LINKS = 4 };

static struct {
	struct rte_eth_fc_conf conf;
	int get_code;
	int set_code;
	unsigned int sets;
	const char *names[NAMES];
	uint64_t values[NAMES];
	unsigned int asked[LINKS]; /* how often for each link */
	unsigned int up_at[LINKS]; /* it is up at this asking; 0: never */
	uint64_t slept_us;
} device;

int
rte_eth_dev_flow_ctrl_get(uint16_t port_id, struct rte_eth_fc_conf *conf)
{
	(void)port_id;
	*conf = device.conf;
	return device.get_code;
}

int
rte_eth_dev_flow_ctrl_set(uint16_t port_id, struct rte_eth_fc_conf *conf)
{
	(void)port_id;
	device.sets++;
	if (device.set_code == 0)
		device.conf = *conf;
	return device.set_code;
}

int
rte_eth_xstats_get_names(uint16_t port_id, struct rte_eth_xstat_name *names, unsigned int size)
{
	(void)port_id;
	for (unsigned int i = 0; i < size && i < NAMES; i++)
		snprintf(names[i].name, sizeof(names[i].name), "%s",
			 device.names[i] != NULL ? device.names[i] : "rx_good_packets");
	return NAMES;
}

int
rte_eth_xstats_get_by_id(uint16_t port_id, const uint64_t *ids, uint64_t *values, unsigned int size)
{
	(void)port_id;
	for (unsigned int i = 0; i < size; i++)
		values[i] = device.values[ids[i]];
	return (int)size;
}

int
rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link)
{
	unsigned int asked = ++device.asked[port_id];

	memset(link, 0, sizeof(*link));
	if (device.up_at[port_id] > 0 && asked >= device.up_at[port_id])
		link->link_status = RTE_ETH_LINK_UP;
	return 0;
}

int
usleep(useconds_t us)
{
	device.slept_us += us;
	return 0;
}

static int
set_up(void **state)
{
	(void)state;
	memset(&device, 0, sizeof(device));
	device.conf = (struct rte_eth_fc_conf){.mode = RTE_ETH_FC_FULL,
					       .autoneg = 1,
					       .pause_time = 0x680,
					       .high_water = 3000,
					       .low_water = 1500};
	return 0;
}

static void
open_null(struct port *port)
{
	static const struct port_config config = {.name = "p0",
						  .location = "null:f",
						  .rx_queues = 1,
						  .tx_queues = 1,
						  .mbufs = 64,
						  .frame_size_max = 1518,
						  .rx_descriptors = 64,
						  .tx_descriptors = 64};
	static unsigned int index;
	struct error err = {0};

	if (port_open(port, &config, index++, rte_get_tsc_hz(), "ports[0]", &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
}

static void
close_null(struct port *port)
{
	port_close(port);
	port_free(port);
}

static void
off_while_open_and_then_as_it_was(void **state)
{
	const struct rte_eth_fc_conf found = device.conf;
	struct rte_eth_fc_conf off = found;
	struct port port;

	(void)state;
	off.mode = RTE_ETH_FC_NONE;
	open_null(&port);
	assert_memory_equal(&device.conf, &off, sizeof(off));
	assert_string_equal(port_flow_ctrl_mode(port.port_id), "none");
	close_null(&port);
	assert_memory_equal(&device.conf, &found, sizeof(found));
}

/* As igb does (igb_ethdev.c, igb_hardware_init()). */
static void
a_start_that_forgets_it_changes_nothing(void **state)
{
	const struct rte_eth_fc_conf found = device.conf;
	struct port port;

	(void)state;
	open_null(&port);
	device.conf.mode = RTE_ETH_FC_RX_PAUSE;
	assert_int_equal(port_restart(&port, false, NULL), 0);
	assert_string_equal(port_flow_ctrl_mode(port.port_id), "none");
	close_null(&port);
	assert_memory_equal(&device.conf, &found, sizeof(found));
}

static void
a_driver_that_refuses_is_reported_as_it_is(void **state)
{
	static const char *const words[] = {"none", "rx", "tx", "full"};
	struct port port;

	(void)state;
	device.set_code = -EINVAL;
	for (int mode = RTE_ETH_FC_RX_PAUSE; mode <= RTE_ETH_FC_FULL; mode++) {
		device.conf.mode = (enum rte_eth_fc_mode)mode;
		device.sets = 0;
		open_null(&port);
		assert_string_equal(port_flow_ctrl_mode(port.port_id), words[mode]);
		close_null(&port);
		assert_int_equal(device.sets, 1); /* what was never changed is not put back */
	}
}

static void
what_is_off_or_not_there_is_left_alone(void **state)
{
	struct port port;

	(void)state;
	device.conf.mode = RTE_ETH_FC_NONE;
	open_null(&port);
	assert_string_equal(port_flow_ctrl_mode(port.port_id), "none");
	close_null(&port);
	device.conf.mode = RTE_ETH_FC_FULL;
	device.get_code = -ENOTSUP;
	open_null(&port);
	assert_null(port_flow_ctrl_mode(port.port_id));
	close_null(&port);
	assert_int_equal(device.sets, 0);
}

static void
drivers_name_the_frames_in_their_own_way(void **state)
{
	static const char *const frames[] = {
		"rx_xon_packets",       "rx_xoff_packets",         "rx_priority3_xoff_packets",
		"mac_rx_mac_pause_num", "rx_pause_frames",         "mac.rx_pause_mac_ctrl_frames",
		"rx_pause_ctrl_phy",    "rx_priority0_xon_packets"};
	static const char *const other[] = {"tx_xon_packets",
					    "tx_xoff_packets",
					    "tx_pause_frames",
					    "rx_good_packets",
					    "rx_prio3_pause_duration",
					    "rx_prio3_pause_transition",
					    "rx_flow_control_unsupported_packets"};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(frames); i++)
		if (!port_flow_ctrl_counts_pauses(frames[i]))
			fail_msg("%s", frames[i]);
	for (size_t i = 0; i < RTE_DIM(other); i++)
		if (port_flow_ctrl_counts_pauses(other[i]))
			fail_msg("%s", other[i]);
}

/* Those of a program only, and those of a device that began to count anew. */
static void
pause_frames_are_counted(void **state)
{
	alignas(COUNTERS_ALIGN) struct port_counters counters = {0};
	struct port port;

	(void)state;
	device.names[1] = "tx_xoff_packets";
	device.names[2] = "rx_xon_packets";
	device.names[5] = "rx_xoff_packets";
	device.values[0] = device.values[1] = 1000000;
	device.values[2] = device.values[5] = 7;
	open_null(&port);
	port_begin_counting(&port);
	port_sample(&port, &counters);
	assert_int_equal(counters.pause_frames, 0);
	device.values[0] = device.values[1] = 2000000;
	device.values[2] += 3;
	device.values[5] += 20;
	port_sample(&port, &counters);
	assert_int_equal(counters.pause_frames, 23);
	device.values[2] = 0;
	device.values[5] = 2;
	port_sample(&port, &counters);
	assert_int_equal(counters.pause_frames, 25);
	close_null(&port);
}

static void
links_are_waited_for_at_the_same_time(void **state)
{
	struct port ports[LINKS] = {
		{.location.kind = LOCATION_PCI, .port_id = 0},
		{.location.kind = LOCATION_PCI, .port_id = 1},
		{.location.kind = LOCATION_MEMIF, .port_id = 2},
		{.location.kind = LOCATION_RING, .port_id = 3},
	};

	(void)state;
	ports_link_wait(ports, LINKS); /* nothing comes up */
	assert_int_equal(device.slept_us, 10000000);
	memset(device.asked, 0, sizeof(device.asked));
	device.slept_us = 0;
	device.up_at[0] = 601; /* after 6 s */
	device.up_at[1] = 701;
	ports_link_wait(ports, LINKS);
	assert_int_equal(device.slept_us, 7000000);
	assert_int_equal(ports[0].link.link_status, RTE_ETH_LINK_UP);
	assert_int_equal(ports[1].link.link_status, RTE_ETH_LINK_UP);
	device.slept_us = 0;
	ports_link_wait(&ports[2], 2);
	assert_int_equal(device.slept_us, 1000000);
	device.slept_us = 0;
	ports_link_wait(&ports[3], 1);
	assert_int_equal(device.slept_us, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(off_while_open_and_then_as_it_was, set_up),
		cmocka_unit_test_setup(a_start_that_forgets_it_changes_nothing, set_up),
		cmocka_unit_test_setup(a_driver_that_refuses_is_reported_as_it_is, set_up),
		cmocka_unit_test_setup(what_is_off_or_not_there_is_left_alone, set_up),
		cmocka_unit_test_setup(drivers_name_the_frames_in_their_own_way, set_up),
		cmocka_unit_test_setup(pause_frames_are_counted, set_up),
		cmocka_unit_test_setup(links_are_waited_for_at_the_same_time, set_up),
	};

	return cmocka_run_group_tests_name("port_flow_ctrl", tests, eal_up, eal_down);
}
