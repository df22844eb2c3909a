/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor loop of Intel's 82599, X540 and X550: registers and descriptors as in tx_loop_igb.c.
 *
 * Sources: Intel 82599 datasheet, 7.2.3.2.4 (advanced transmit data descriptor), 8.2.3.9 (transmit registers); the
 * driver's condition on sizes (a multiple of tx_rs_thresh, 32 by default) and the names of the ring's memory: DPDK,
 * drivers/net/ixgbe/ixgbe_rxtx.c. Not yet run on hardware.
 */
#include "device/tx_loop.h"

static const char *const pmds[] = {"net_ixgbe", NULL};
static const char *const zones[] = {"tx_ring", "ixgbe_tx_ring", "ci_tx_ring", NULL};
static const struct tx_loop_registers registers = {0x6000, 0x40, zones};

static int
find(struct tx_loop *loop, struct error *err)
{
	return tx_loop_find_registers(loop, &registers, err);
}

const struct tx_loop_driver tx_loop_ixgbe = {
	.name = "ixgbe",
	.pmds = pmds,
	.proven = false,
	.counts = true,
	.restore = TX_LOOP_RESTORE_START,
	.align = 32,
	.find = find,
	.fill = tx_loop_fill_advanced,
};
