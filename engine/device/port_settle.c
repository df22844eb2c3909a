/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_settle.h"

static uint64_t
drain_after_reading(const struct settle_device *device, uint64_t *found)
{
	bool emptied = true;

	*found = device->drain(device->user, &emptied);
	return *found + (emptied ? 0 : device->ring_frames);
}

uint64_t
settle_begin(const struct settle_device *device)
{
	uint64_t found;

	return drain_after_reading(device, &found);
}

bool
settle_end(const struct settle_device *device, uint64_t begun, uint64_t received, uint64_t sent,
	   struct settled *out)
{
	uint64_t drained, found, device_received, device_sent;
	bool emptied = true;

	drained = device->drain(device->user, &emptied);
	for (uint32_t i = 0;; i++) {
		device->read(device->user, &device_received, &device_sent);
		out->drained = drained;
		out->uncertain = begun + drain_after_reading(device, &found);
		if (device_sent >= sent &&
		    (received == UINT64_MAX ||
		     (device_received >= received + drained &&
		      device_received - received - drained <= out->uncertain)))
			return true;
		if (i + 1 == SETTLE_READINGS)
			return false;
		drained += found;
		device->wait(device->user);
	}
}
