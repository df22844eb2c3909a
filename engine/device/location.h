/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a location string (docs/perf.md) to what EAL shall probe: a device name and its arguments. Pure.
 */
#ifndef WR_DEVICE_LOCATION_H
#define WR_DEVICE_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum location_kind {
	LOCATION_PCI,
	LOCATION_RING,
	LOCATION_NULL,
	LOCATION_MEMIF,
	LOCATION_VHOST,
	LOCATION_VIRTIO_USER,
	LOCATION_TAP,
	LOCATION_AF_PACKET,
	LOCATION_AF_XDP,
	LOCATION_PCAP,
	LOCATION_VDEV,
	LOCATION_KNI,
};

struct location {
	enum location_kind kind;
	char device[64]; /* EAL device name: "0000:03:00.0", "net_memif0" */
	char args
		[512]; /* its arguments; "" for a ring, which is made from the engine's own rte_rings */
	char input[256]; /* file that a pcap port reads; else "" */
	/* Kernel interface of tap, af_packet, af_xdp, kni and of a virtio-user on /dev/vhost-net; else "". */
	char interface[64];
};

/*
 * `index` makes the device name unique within this engine, `queues` is the larger of the port's Rx and Tx queue counts
 * (virtual devices are made with as many pairs). Fails with -EINVAL, text names the text and the valid forms.
 */
int location_parse(struct location *out, const char *text, unsigned int index, uint16_t queues,
		   struct error *err);

/*
 * The character device by which a location reaches the kernel, NULL when it needs none; *module is the kernel module
 * that makes it. Its interface is made with the port, so that none of that name may be there before.
 */
const char *location_kernel_device(const struct location *location, const char **module);

/* True when a process on this machine listens on the UNIX socket `path` (looked up, not connected to). */
bool location_socket_is_listening(const char *path);

/* True when the link speed that the device reports is that of a real line. */
bool location_has_line(const struct location *location);

#endif
