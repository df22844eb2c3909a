/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/port_privileges.h"

#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/capability.h>

#include "base/privileges.h"

#ifndef CAP_BPF
#define CAP_BPF 39 /* Linux 5.8 */
#endif

#define NET (PRIVILEGE(CAP_NET_ADMIN) | PRIVILEGE(CAP_NET_RAW))

/* Virtual devices, and NICs whose driver works through the kernel's (flow rules, modes, queues that are made anew). */
static const struct {
	const char *driver; /* how its name begins */
	uint64_t needs;
} known[] = {
	{"net_null", 0},
	{"net_ring", 0},
	{"net_pcap", 0},
	{"net_tap", PRIVILEGE(CAP_NET_ADMIN)},
	{"net_kni", PRIVILEGE(CAP_NET_ADMIN)},
	{"net_af_packet", NET},
	/* libxdp finds the program that it takes off again by its number, which is CAP_SYS_ADMIN's (bpf(2)). */
	{"net_af_xdp",
	 NET | PRIVILEGE(CAP_BPF) | PRIVILEGE(CAP_SYS_ADMIN) | PRIVILEGE(CAP_IPC_LOCK)},
	{"mlx", NET | PRIVILEGE(CAP_IPC_LOCK)},
	{"net_mlx", NET | PRIVILEGE(CAP_IPC_LOCK)},
	{"net_mana", NET | PRIVILEGE(CAP_IPC_LOCK)},
};

static bool
is_ours(const char *path)
{
	struct stat is;

	return stat(path, &is) != 0 || is.st_uid == geteuid();
}

/*
 * Its driver removes a socket, or connects to it again: in another user's folder, or to another user's, only who may do so
 * anywhere. An abstract socket has no owner.
 */
static uint64_t
of_socket(const char *text)
{
	const char *value = strchr(text, ':') + 1;
	char path[256];

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(value, ","), value);
	if (strstr(text, "socket-abstract=yes") != NULL ||
	    (is_ours(path) && is_ours(dirname(path))))
		return 0;
	return PRIVILEGE(CAP_DAC_OVERRIDE);
}

static uint64_t
of_driver(const char *driver, uint64_t unknown)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(driver, known[i].driver, strlen(known[i].driver)) == 0)
			return known[i].needs;
	}
	return unknown;
}

uint64_t
port_privileges(const struct location *location, const char *text, const char *driver)
{
	switch (location->kind) {
	case LOCATION_PCI: /* memory that the device gets later is locked */
		return of_driver(driver, 0) | PRIVILEGE(CAP_IPC_LOCK);
	case LOCATION_MEMIF:
	case LOCATION_VHOST:
		return of_socket(text);
	case LOCATION_VIRTIO_USER:
		return location->interface[0] != '\0' ? PRIVILEGE(CAP_NET_ADMIN) : of_socket(text);
	default:
		return of_driver(driver, PRIVILEGES_ALL);
	}
}
