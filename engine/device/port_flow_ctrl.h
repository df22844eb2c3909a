/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control of a port (PAUSE frames, IEEE 802.3 annex 31B): off while the port is open, put back when it is closed; and
 * how many PAUSE frames the device has received. A sender that obeys them waits instead of losing frames, so that loss
 * is hidden.
 *
 * Called by port_open.c and port.c; control thread. Source: docs/design/0005-measurement.md, "Flow control".
 */
#ifndef WR_DEVICE_PORT_FLOW_CTRL_H
#define WR_DEVICE_PORT_FLOW_CTRL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#define PORT_PAUSE_COUNTERS_MAX 64u /* XON and XOFF, of the link and of 8 priorities, and more */

struct port_flow_ctrl {
	bool changed;                 /* switched off by us */
	struct rte_eth_fc_conf found; /* what was, where `changed` */
	uint32_t counters;            /* extended statistics that count received PAUSE frames */
	uint64_t ids[PORT_PAUSE_COUNTERS_MAX];
	uint64_t last; /* sum of those when last read [frames] */
};

/*
 * Switch flow control off, the rest of it (autoneg, thresholds) as it was: of a started device, after each start, because
 * drivers forget it. A driver that has none or refuses is no error: port_flow_ctrl_mode() says what it is then.
 */
void port_flow_ctrl_off(struct port_flow_ctrl *flow, uint16_t port_id);

/* Put back what port_flow_ctrl_off() found, before the device is stopped for good. */
void port_flow_ctrl_restore(struct port_flow_ctrl *flow, uint16_t port_id);

/*
 * As the device says it is now: "none"; "rx": it obeys PAUSE frames; "tx": it sends them when its queues fill up; "full":
 * both. NULL where the driver does not say.
 */
const char *port_flow_ctrl_mode(uint16_t port_id);

/* Find the counters of a started device, by their names: each driver has its own. */
void port_flow_ctrl_find_counters(struct port_flow_ctrl *flow, uint16_t port_id);

/* PAUSE frames received since the last call. A driver with totals and a count per priority counts some twice. [frames] */
uint64_t port_flow_ctrl_pauses(struct port_flow_ctrl *flow, uint16_t port_id);

/* Is it a counter of PAUSE frames received, by its name in the extended statistics? Of frames, not of time. */
bool port_flow_ctrl_counts_pauses(const char *name);

#endif
