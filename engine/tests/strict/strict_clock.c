/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's clock. Those of other devices than the host's run 40 ppm fast, as crystals may. */
#include <time.h>

#include "tests/strict/strict.h"

#define NS_PER_SECOND 1000000000ULL
#define TAI_SECONDS 37u /* PHCs count TAI, the host counts UTC */
#define PARTS_FAST 25000u

static uint64_t
host_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t
own_ns(void)
{
	uint64_t ns = host_ns(CLOCK_MONOTONIC_RAW);

	return ns + ns / PARTS_FAST;
}

uint64_t
strict_clock_read(const struct strict_device *device)
{
	return device->profile->clock == STRICT_CLOCK_E810 ? host_ns(CLOCK_REALTIME) : own_ns();
}

uint64_t
strict_clock_stamp(const struct strict_device *device)
{
	return device->profile->clock == STRICT_CLOCK_E810 ? own_ns() + TAI_SECONDS * NS_PER_SECOND
							   : own_ns();
}
