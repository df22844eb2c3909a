/* SPDX-License-Identifier: BSD-3-Clause */
/* HOT. Write stamps into ready frames just before they are sent. The layout is protocol/stamp.h. */
#ifndef WR_EDIT_TX_STAMP_H
#define WR_EDIT_TX_STAMP_H

#include <stdint.h>

#include <rte_mbuf.h>

/* What a task's stamps have in common. */
struct tx_stamp {
	uint16_t magic;
	uint16_t id;
};

/* Stamp frames `done`… of the task, `count` of them, as departing at `clock`. */
void tx_stamp_write(const struct tx_stamp *stamp, struct rte_mbuf *const *mbufs, uint64_t done,
		    uint16_t count, uint64_t clock);

#endif
