/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/frames_held.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

#define RING_MIN 1024u /* KNI_FIFO_COUNT_MAX; no driver's own minimum is larger */
#define MEMIF_RSIZE_DEFAULT 10u
#define MEMIF_RSIZE_MAX 14u

static bool
copies(const char *driver, const char *location)
{
	static const char *const copying[] = {"net_null", "net_pcap", "net_tap", "net_af_packet",
					      "net_vhost"};

	for (size_t i = 0; i < sizeof(copying) / sizeof(copying[0]); i++) {
		if (strcmp(driver, copying[i]) == 0)
			return true;
	}
	return strcmp(driver, "net_memif") == 0 && strstr(location, "zero-copy=yes") == NULL;
}

/* The largest number that an argument has, whichever of several a driver takes; `otherwise` where there is none. */
static uint32_t
largest_argument(const char *location, const char *name, uint32_t otherwise, uint32_t max)
{
	size_t length = strlen(name);
	uint32_t largest = 0;

	for (const char *at = strchr(location, ','); at != NULL; at = strchr(at + 1, ',')) {
		unsigned long number;

		if (strncmp(at + 1, name, length) != 0 || at[1 + length] != '=')
			continue;
		number = strtoul(at + length + 2, NULL, 0);
		largest = number > max ? max : number > largest ? (uint32_t)number : largest;
	}
	return largest > 0 ? largest : otherwise;
}

static uint32_t
ring_of(const char *driver, const char *location, uint32_t descriptors)
{
	uint32_t ring = RING_MIN, asked = descriptors;

	if (strcmp(driver, "net_memif") == 0)
		asked = 1u << largest_argument(location, "rsize", MEMIF_RSIZE_DEFAULT,
					       MEMIF_RSIZE_MAX);
	if (strcmp(driver, "net_virtio_user") == 0) {
		uint32_t size = largest_argument(location, "queue_size", 0, UINT16_MAX);

		asked = size > asked ? size : asked;
	}
	while (ring < asked)
		ring *= 2;
	return ring;
}

uint32_t
frames_held_max(const char *driver, const char *location, uint32_t descriptors)
{
	uint32_t ring = descriptors;

	if (copies(driver, location))
		return 0;
	if (strcmp(driver, "net_ring") != 0) /* ours, and as long as was asked for */
		ring = ring_of(driver, location, descriptors);
	return ring + CONFIG_BURST_MAX; /* a ring's reader may hold a burst of its own besides */
}
