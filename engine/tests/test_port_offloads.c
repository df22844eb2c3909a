/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which offloads are switched on: what is asked, of what a device has.
 *
 * Run by `meson test`, no DPDK. Source: docs/design/0009-kernel-path.md, PORT.
 */
#include "tests/test_support.h"

#include "device/port_offloads.h"

#define TX_CHECKSUMS \
	(RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_IPV4_CKSUM)
#define RX_CHECKSUMS (RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)
#define FAST_FREE RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE

static const struct rte_eth_dev_info has_all = {
	.tx_offload_capa = TX_CHECKSUMS | FAST_FREE | RTE_ETH_TX_OFFLOAD_TCP_TSO |
			   RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT,
	.rx_offload_capa = RX_CHECKSUMS | RTE_ETH_RX_OFFLOAD_TCP_LRO | RTE_ETH_RX_OFFLOAD_SCATTER |
			   RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
	.max_lro_pkt_size = 9728,
};

static struct rte_eth_conf
choose(bool checksums, bool segments, const struct rte_eth_dev_info *info,
       struct port_offloads *out)
{
	const struct offloads_config asked = {.checksums = checksums, .segments = segments};
	struct rte_eth_conf conf = {0};

	conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	port_offloads_choose(&asked, true, info, &conf, out);
	return conf;
}

static void
nothing_asked_changes_nothing(void **state)
{
	struct port_offloads on;
	struct rte_eth_conf conf = choose(false, false, &has_all, &on);

	(void)state;
	assert_int_equal(conf.txmode.offloads, FAST_FREE);
	assert_int_equal(conf.rxmode.offloads, RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	assert_int_equal(conf.rxmode.max_lro_pkt_size, 0);
	assert_false(on.tx_checksums || on.rx_checksums || on.tso || on.lro);
}

static void
checksums_alone(void **state)
{
	struct port_offloads on;
	struct rte_eth_conf conf = choose(true, false, &has_all, &on);

	(void)state;
	assert_int_equal(conf.txmode.offloads, TX_CHECKSUMS | FAST_FREE);
	assert_int_equal(conf.rxmode.offloads, RTE_ETH_RX_OFFLOAD_TIMESTAMP | RX_CHECKSUMS);
	assert_true(on.tx_checksums && on.tx_ipv4_checksums && on.rx_checksums);
	assert_false(on.tso || on.lro);
}

static void
segments_take_what_they_need(void **state)
{
	struct port_offloads on;
	struct rte_eth_conf conf = choose(false, true, &has_all, &on);

	(void)state;
	assert_int_equal(conf.txmode.offloads,
			 RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
				 RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	assert_int_equal(conf.rxmode.offloads, RTE_ETH_RX_OFFLOAD_TIMESTAMP |
						       RTE_ETH_RX_OFFLOAD_TCP_LRO |
						       RTE_ETH_RX_OFFLOAD_SCATTER);
	assert_int_equal(conf.rxmode.max_lro_pkt_size, 9728);
	assert_true(on.tso && on.lro);
	assert_false(on.tx_checksums || on.rx_checksums); /* UDP's are not on */
}

static void
frames_are_freed_without_looking_only_of_one_pool(void **state)
{
	const struct offloads_config nothing = {0};
	struct rte_eth_conf conf = {0};
	struct port_offloads on;

	(void)state;
	port_offloads_choose(&nothing, false, &has_all, &conf, &on);
	assert_int_equal(conf.txmode.offloads, 0);
	assert_false(on.fast_free);
	choose(false, false, &has_all, &on);
	assert_true(on.fast_free);
	choose(true, true, &has_all, &on);
	assert_false(on.fast_free);
}

static void
a_device_that_has_half(void **state)
{
	const struct rte_eth_dev_info info = {
		.tx_offload_capa = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_CKSUM,
		.rx_offload_capa = RTE_ETH_RX_OFFLOAD_UDP_CKSUM,
	};
	struct port_offloads on;
	struct rte_eth_conf conf = choose(true, true, &info, &on);

	(void)state;
	assert_int_equal(conf.txmode.offloads, RTE_ETH_TX_OFFLOAD_UDP_CKSUM);
	assert_false(on.tx_checksums || on.tx_ipv4_checksums || on.rx_checksums);
	assert_false(on.tso || on.lro);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_asked_changes_nothing),
		cmocka_unit_test(checksums_alone),
		cmocka_unit_test(segments_take_what_they_need),
		cmocka_unit_test(frames_are_freed_without_looking_only_of_one_pool),
		cmocka_unit_test(a_device_that_has_half),
	};

	return cmocka_run_group_tests_name("port_offloads", tests, NULL, NULL);
}
