/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device's own counters against what was read from it, while frames go on arriving.
 *
 * A device counts a frame when it arrives (NICs) or when it is read (drivers in software), and its counters cannot be
 * read in the same moment in which the queues are. So the queues are emptied before and after a reading of the counters:
 * frames found after it arrived about then, and may be in the reading or not. All others are, or the device or its
 * driver lost some. Control thread, while no worker polls. Pure.
 */
#ifndef WR_DEVICE_PORT_SETTLE_H
#define WR_DEVICE_PORT_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

/* How to get at a device; user is passed on. */
struct settle_device {
	/* Empty the Rx queues; the number of frames found. Gives up where more keep coming: *emptied is false. */
	uint32_t (*drain)(void *user, bool *emptied);
	/* The device's counts of frames since counting began. */
	void (*read)(void *user, uint64_t *received, uint64_t *sent);
	void (*wait)(void *user);
	void *user;
	uint32_t ring_frames; /* what Rx queues that were not emptied may still hold */
};

struct settled {
	uint64_t
		drained; /* read from the queues after the workers had stopped; in the device's count */
	uint64_t
		uncertain; /* read next to a reading of the counters: in the device's count or not */
};

/* Readings until the counts agree; a NIC may take its time to count and to send. */
#define SETTLE_READINGS 30u

/* Right after the counters were read for the first time: what may be in the next difference without being received. */
uint64_t settle_begin(const struct settle_device *device);

/*
 * The workers have stopped: received and sent are what they counted (received UINT64_MAX: no worker received, what the
 * device did is not compared), begun is of settle_begin(). Reads until the device's
 * counts are explained, SETTLE_READINGS times at most; true when they are.
 */
bool settle_end(const struct settle_device *device, uint64_t begun, uint64_t received,
		uint64_t sent, struct settled *out);

#endif
