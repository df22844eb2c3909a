/* SPDX-License-Identifier: BSD-3-Clause */
/* What each device saw, at the engine's end: a line of JSON into the file of its argument report=, breaches on stderr. */
#include <stdio.h>

#include "tests/strict/strict.h"

#define STRICT_NAME(name) #name,
static const char *const names[] = {STRICT_BREACHES(STRICT_NAME)};

static void
write_report(const struct strict_device *device)
{
	const struct strict_source *source = &device->source;
	uint64_t held_max = 0, capacity = 0, filled = 0;
	FILE *file = device->report[0] != '\0' ? fopen(device->report, "ae") : NULL;

	for (uint16_t q = 0; q < device->tx_queues; q++) {
		held_max = RTE_MAX(held_max, device->tx[q].held_max);
		capacity = RTE_MAX(capacity, device->tx[q].capacity);
		filled += device->tx[q].filled;
	}
	if (file == NULL)
		return;
	fprintf(file,
		"{\"device\": \"%s\", \"profile\": \"%s\", \"taken\": %lu, \"sent\": %lu, "
		"\"received\": %lu, \"missed\": %lu, \"held_max\": %lu, \"descriptors\": %lu, "
		"\"unread\": %lu, \"made\": %lu, \"plain\": %lu, \"replies\": %lu, \"disordered\": %lu, "
		"\"timestamps\": %s",
		device->name, device->profile->name, filled, device->stats.opackets,
		device->stats.ipackets, device->stats.imissed, held_max, capacity, device->unread,
		source->made, source->plain, source->replies, source->disordered,
		(device->rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 ? "true" : "false");
	for (int i = 0; i < STRICT_BREACHES_COUNT; i++)
		fprintf(file, "%s\"%s\": %lu", i == 0 ? ", \"breaches\": {" : ", ", names[i],
			device->breaches[i]);
	fprintf(file, "}}\n");
	fclose(file);
}

void
strict_report_all(void)
{
	for (unsigned int d = 0; d < strict_device_count; d++) {
		const struct strict_device *device = &strict_devices[d];

		write_report(device);
		for (int i = 0; i < STRICT_BREACHES_COUNT; i++) {
			if (device->breaches[i] > 0)
				fprintf(stderr, "%s: error: %s %lu times\n", device->name, names[i],
					device->breaches[i]);
		}
	}
}
