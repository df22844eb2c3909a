/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_offloads.h"

#define TX_L4 (RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM)
#define RX_L4 (RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)
/* A segment's checksum is the device's to compute: without that there is no TSO (rte_mbuf_core.h). */
#define TSO \
	(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)

static bool
has_all(uint64_t offloads, uint64_t wanted)
{
	return (offloads & wanted) == wanted;
}

static void
choose_checksums(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	conf->txmode.offloads |= info->tx_offload_capa & (TX_L4 | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM);
	conf->rxmode.offloads |= info->rx_offload_capa & (RX_L4 | RTE_ETH_RX_OFFLOAD_IPV4_CKSUM);
}

static void
choose_segments(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	conf->txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (has_all(info->tx_offload_capa, TSO))
		conf->txmode.offloads |=
			TSO | (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM);
	if (!has_all(info->rx_offload_capa, RTE_ETH_RX_OFFLOAD_TCP_LRO))
		return;
	/* 0 is ethdev's own choice; what a device tells is what it can. */
	conf->rxmode.max_lro_pkt_size = info->max_lro_pkt_size;
	conf->rxmode.offloads |=
		RTE_ETH_RX_OFFLOAD_TCP_LRO | (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER);
}

void
port_offloads_choose(const struct offloads_config *asked, bool one_pool,
		     const struct rte_eth_dev_info *info, struct rte_eth_conf *conf,
		     struct port_offloads *out)
{
	if (one_pool && !asked->segments)
		conf->txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (asked->checksums)
		choose_checksums(info, conf);
	if (asked->segments)
		choose_segments(info, conf);
	*out = (struct port_offloads){
		.tx_checksums = has_all(conf->txmode.offloads, TX_L4),
		.tx_ipv4_checksums = has_all(conf->txmode.offloads, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM),
		.rx_checksums = has_all(conf->rxmode.offloads, RX_L4),
		.tso = has_all(conf->txmode.offloads, TSO),
		.fast_free = has_all(conf->txmode.offloads, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE),
		.lro = has_all(conf->rxmode.offloads, RTE_ETH_RX_OFFLOAD_TCP_LRO),
	};
}
