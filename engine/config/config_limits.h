/* SPDX-License-Identifier: BSD-3-Clause */
/* What one client may ask of the engine at most; part of config.h. No DPDK and no jansson here. */
#ifndef WR_CONFIG_CONFIG_LIMITS_H
#define WR_CONFIG_CONFIG_LIMITS_H

#include <stdint.h>

/*
 * Limits of what one client may ask. They bound memory and keep arithmetic downstream free of
 * overflow; what the device or the machine allows is checked by whoever knows it.
 */
enum config_limit {
	CONFIG_NAME_SIZE = 32,      /* of port and stream names, with the final NUL */
	CONFIG_LOCATION_SIZE = 256, /* with the final NUL */
	CONFIG_PORTS_MAX = 64,
	CONFIG_QUEUES_MAX = 1024,
	CONFIG_DESCRIPTORS_MAX = 65535, /* rte_ethdev counts descriptors in 16 bits */
	CONFIG_LOOP_FRAMES_MAX = 65536,
	CONFIG_MBUFS_MAX = 1 << 24,
	CONFIG_FRAME_SIZE_MIN = 64,
	CONFIG_FRAME_SIZE_MAX = 16384,
	CONFIG_TEMPLATE_OCTETS_MIN = CONFIG_FRAME_SIZE_MIN - 4, /* a template has no FCS */
	CONFIG_TEMPLATE_OCTETS_MAX = CONFIG_FRAME_SIZE_MAX - 4,
	CONFIG_LCORE_MAX = 1023,
	CONFIG_WORKERS_MAX = 256,
	CONFIG_TASKS_MAX = 65536, /* per worker */
	CONFIG_BURST_MAX = 512,
	CONFIG_STREAMS_MAX = 65536,
	CONFIG_PARTS_MAX = 65536,
	CONFIG_STAMPS_MAX =
		65535, /* ids of stamps; what they number is counted in 16 bits, and one says "unknown" */
	CONFIG_FIELDS_MAX = 128,   /* per stream */
	CONFIG_VALUES_MAX = 65536, /* per field */
	CONFIG_CHECKSUMS_MAX = 16, /* per stream */
	CONFIG_RANGES_MAX = 8,     /* per checksum */
	CONFIG_LENGTH_FIELDS_MAX = 16,
	CONFIG_OVERWRITES_MAX = 16,
	CONFIG_PATH_SIZE = 4096,     /* of a file, with the final NUL: PATH_MAX of Linux */
	CONFIG_PERIOD_MAX = 1 << 20, /* [frames] also how many lengths a stream may list */
	CONFIG_PREVIEW_FRAMES_MAX = 1 << 24,
	CONFIG_CAPTURES_MAX = 64,
	CONFIG_CAPTURE_FRAMES_MAX = 1 << 24,
	CONFIG_CAPTURE_OCTETS_MIN = 16,
	CONFIG_CAPTURE_OCTETS_MAX = CONFIG_FRAME_SIZE_MAX,
	CONFIG_DISTINCT_MAX = 1 << 24, /* 5-tuples that a task tells apart */
	CONFIG_ADDRESSES_MAX = 1024,   /* of a reply task */
	CONFIG_EXCHANGE_FRAMES_MAX = 1024,
	CONFIG_FILTER_SIZE = 4096, /* with the final NUL */
	CONFIG_RSS_KEY_OCTETS_MAX = 256,
	CONFIG_RETA_MAX = 2048,         /* entries */
	CONFIG_HASH_INPUTS_MAX = 65536, /* of rss.hash */
	CONFIG_RULES_MAX = 1024,        /* of ports.steer */
	CONFIG_BRIDGE_ADDRESSES_MAX = 64,
	CONFIG_BRIDGE_QUEUES_MAX = 64, /* of a way of a bridge task */
	CONFIG_RINGS_MAX = 64,
	CONFIG_RING_FRAMES_MIN = 64,
	CONFIG_RING_FRAMES_MAX = 65536,
};
#define CONFIG_COUNT_MAX (UINT64_C(1) << 48)
#define CONFIG_EVERY_MAX (UINT64_C(1) << 32)
#define CONFIG_FLOWS_MAX (UINT64_C(1) << 32)
#define CONFIG_BURST_FRAMES_MAX (UINT64_C(1) << 32)
#define CONFIG_FPS_MIN 1e-6 /* [fps] one frame in 11.6 days */
#define CONFIG_FPS_MAX 1e12 /* [fps] a thousand frames per nanosecond */
#define CONFIG_SPEED_MIN 1e-6
#define CONFIG_SPEED_MAX 1e6
#define CONFIG_WORK_CYCLES_MAX UINT64_C(1000000000)
#define CONFIG_DELAY_NS_MAX UINT64_C(1000000000)
#define CONFIG_SLEEP_NS_MAX UINT64_C(5000000) /* half of what makes a frame too late */
#define CONFIG_EXCHANGE_NS_MAX \
	UINT64_C(2000000000) /* the control thread does nothing else meanwhile */
#define CONFIG_DURATION_NS_MAX (UINT64_C(366) * 86400 * 1000000000)

#endif
