/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports.exchange: some frames out, what comes back in, without a program. docs/design/0005-measurement.md, "Answering".
 * Control thread; no worker may be polling the port.
 */
#ifndef WR_CONTROL_EXCHANGE_H
#define WR_CONTROL_EXCHANGE_H

#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "device/port.h"
#include "program/frame_pool.h"

/*
 * A port's frames to send. They are written in turn and never freed: devices that free the frames of a queue as if all
 * were of one pool may find those of streams beside them.
 */
struct exchange {
	struct frame_pool *
		pool; /* NULL until the first exchange; not to be destroyed before the port is closed */
	struct rte_mbuf **frames;
	uint32_t frame_count; /* what the device may hold and a burst more */
	uint64_t filled;      /* frames so far; number n is frames[n % frame_count] */
};

/*
 * The method's result, or NULL: params that do not decode, a port that is not open or lacks queues, a filter that is
 * none, a frame that is too long. exchanges[] has an entry for each port; hz is the TSC's.
 */
json_t *exchange_frames(struct exchange *exchanges, struct port *ports, uint32_t port_count,
			uint64_t hz, const json_t *params, struct error *err);

#endif
