/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/socket_drops.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_packet.h>
#include <linux/if_xdp.h>

static int
family_of(int socket)
{
	socklen_t octets = sizeof(int);
	int family = AF_UNSPEC;

	if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &octets) != 0)
		return AF_UNSPEC; /* no socket at all */
	return family;
}

static int
append(struct socket_drops *list, int socket)
{
	int *larger = realloc(list->sockets, (list->count + 1) * sizeof(larger[0]));

	if (larger == NULL)
		return -ENOMEM;
	larger[list->count++] = socket;
	list->sockets = larger;
	return 0;
}

static bool
holds(const struct socket_drops *list, int socket)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->sockets[i] == socket)
			return true;
	}
	return false;
}

/* The open sockets of either family, or of one, that are not in `except`. */
static int
list_sockets(struct socket_drops *out, int family, const struct socket_drops *except)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int code = 0;

	memset(out, 0, sizeof(*out));
	if (directory == NULL)
		return -errno;
	while (code == 0 && (entry = readdir(directory)) != NULL) {
		int socket = atoi(entry->d_name), found; /* "." and ".." are read as 0 */

		if (entry->d_name[0] == '.')
			continue;
		found = family_of(socket);
		if ((found == AF_PACKET || found == AF_XDP) &&
		    (family == AF_UNSPEC || found == family) && !holds(except, socket))
			code = append(out, socket);
	}
	closedir(directory);
	if (code != 0)
		socket_drops_close(out);
	return code;
}

int
socket_drops_before(struct socket_drops *drops)
{
	static const struct socket_drops none;

	return list_sockets(drops, AF_UNSPEC, &none);
}

int
socket_drops_after(struct socket_drops *drops, const char *driver)
{
	struct socket_drops before = *drops;
	int code = 0;

	memset(drops, 0, sizeof(*drops));
	if (strcmp(driver, "net_af_packet") == 0)
		code = list_sockets(drops, AF_PACKET, &before);
	else if (strcmp(driver, "net_af_xdp") == 0)
		code = list_sockets(drops, AF_XDP, &before);
	socket_drops_close(&before);
	return code;
}

static uint64_t
packet_drops(int socket)
{
	struct tpacket_stats stats = {0, 0};
	socklen_t octets = sizeof(stats);

	if (getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &stats, &octets) != 0)
		return 0;
	return stats.tp_drops;
}

/* Linux before 5.9 has no rx_ring_full and adds it to rx_dropped, which the driver reports: it stays 0 here. */
static uint64_t
xdp_drops(int socket)
{
	struct xdp_statistics stats;
	socklen_t octets = sizeof(stats);

	memset(&stats, 0, sizeof(stats));
	if (getsockopt(socket, SOL_XDP, XDP_STATISTICS, &stats, &octets) != 0)
		return 0;
	return stats.rx_ring_full;
}

uint64_t
socket_drops_read(struct socket_drops *drops)
{
	uint64_t cleared = 0, running = 0, before = drops->xdp_drops;

	for (uint32_t i = 0; i < drops->count; i++) {
		cleared += packet_drops(drops->sockets[i]);
		running += xdp_drops(drops->sockets[i]);
	}
	drops->xdp_drops = running;
	return cleared + (running > before ? running - before : 0);
}

void
socket_drops_close(struct socket_drops *drops)
{
	free(drops->sockets);
	memset(drops, 0, sizeof(*drops));
}
