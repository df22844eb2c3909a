/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rules a device keeps: its profile, and the arguments in its location. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <rte_kvargs.h>

#include "tests/strict/strict.h"

static const struct strict_profile profiles[] = {
	{.name = "i40e", /* vector code; tx_rs_thresh 32, buffers in steps of 128 */
	 .fast_free = true,
	 .align = 32,
	 .descriptors_min = 64,
	 .descriptors_max = 4096,
	 .rx_burst = 4,
	 .rx_room = 128,
	 .batch = 32},
	{.name = "ixgbe", /* multiples of 8; buffers in steps of 1,024 */
	 .align = 8,
	 .descriptors_min = 32,
	 .descriptors_max = 4096,
	 .rx_burst = 4,
	 .rx_room = 1024,
	 .batch = 32},
	{.name = "e810", /* AVX2 */
	 .fast_free = true,
	 .align = 32,
	 .descriptors_min = 64,
	 .descriptors_max = 4096,
	 .rx_burst = 8,
	 .rx_room = 128,
	 .batch = 32,
	 .clock = STRICT_CLOCK_E810},
	{.name = "mlx5", /* ConnectX; MLX5_TX_COMP_THRESH 32 */
	 .fast_free = true,
	 .rounds_up = true,
	 .reports_rounded = true,
	 .align = 1,
	 .descriptors_min = 1,
	 .descriptors_max = 32768,
	 .rx_burst = 4,
	 .rx_room = 64,
	 .batch = 32,
	 .clock = STRICT_CLOCK_CONNECTX},
	{.name = "bnxt", /* rounds up as well, and reports what was asked for */
	 .fast_free = true,
	 .rounds_up = true,
	 .align = 1,
	 .descriptors_min = 16,
	 .descriptors_max = 4096,
	 .rx_burst = 4,
	 .rx_room = 64,
	 .batch = 32},
};

static int
take_profile(struct strict_device *device, const char *value)
{
	for (size_t i = 0; i < RTE_DIM(profiles); i++) {
		if (strcmp(profiles[i].name, value) == 0)
			device->profile = &profiles[i];
	}
	return device->profile != NULL && strcmp(device->profile->name, value) == 0 ? 0 : -EINVAL;
}

static int
take_number(uint64_t *out, const char *value)
{
	char *end;

	*out = strtoull(value, &end, 10);
	return *value != '\0' && *end == '\0' ? 0 : -EINVAL;
}

static int
take_argument(const char *key, const char *value, void *user)
{
	struct strict_device *device = user;
	uint64_t number = 0;
	int code;

	if (strcmp(key, "profile") == 0)
		return take_profile(device, value);
	if (strcmp(key, "wire") == 0)
		return snprintf(device->wire, sizeof(device->wire), "%s", value) < 32 ? 0 : -EINVAL;
	if (strcmp(key, "report") == 0)
		return snprintf(device->report, sizeof(device->report), "%s", value) < 256
			       ? 0
			       : -EINVAL;
	if (strcmp(key, "ping") == 0) {
		code = inet_pton(AF_INET, value, &device->source.ping) == 1 ? 0 : -EINVAL;
		device->source.ping = ntohl(device->source.ping);
		return code;
	}
	code = take_number(&number, value);
	if (strcmp(key, "source") == 0)
		device->source.frames = number;
	else if (strcmp(key, "octets") == 0)
		device->source.octets = (uint16_t)RTE_MIN(number, 2000u);
	else if (strcmp(key, "link_down_at") == 0)
		device->link_down_at = number;
	else if (strcmp(key, "capacity") == 0)
		device->capacity_fps = number;
	else if (strcmp(key, "lossy") == 0)
		device->lossy = number != 0;
	else
		device->sink = number != 0;
	return code;
}

int
strict_parse(struct strict_device *device, const char *args)
{
	static const char *const keys[] = {"profile",      "wire",   "report",   "ping",
					   "source",       "octets", "capacity", "lossy",
					   "link_down_at", "sink",   NULL};
	struct rte_kvargs *given = rte_kvargs_parse(args, keys);
	int code = -EINVAL;

	device->profile = &profiles[0];
	device->source.octets = 60;
	if (given != NULL)
		code = rte_kvargs_process(given, NULL, take_argument, device);
	rte_kvargs_free(given);
	device->sink |= device->source.frames > 0;
	if (code != 0)
		fprintf(stderr, "net_strict: error: bad arguments \"%s\"\n", args);
	return code;
}
