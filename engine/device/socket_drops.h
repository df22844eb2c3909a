/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that the kernel dropped at the sockets of an af_packet or af_xdp port because nobody had emptied their rings:
 * what DPDK's driver does not say in imissed. The sockets are file descriptors of our own process, found by comparing
 * those before a port is opened with those after.
 *
 * AF_PACKET: tp_drops of PACKET_STATISTICS, packet(7). The kernel clears it when it is read, so that whoever reads first
 * has it: net_af_packet does not read it as of DPDK 22.11, and where a driver does, what it took stands in imissed and
 * is not seen here. Ask the driver first; nothing is counted twice, whatever its version.
 * AF_XDP: rx_ring_full of XDP_STATISTICS. net_af_xdp reports rx_dropped itself, in which a copying socket's empty fill
 * ring (rx_fill_ring_empty_descs) is counted already; in a zero-copy one that word counts failed refills, not frames.
 *
 * Control thread only. A device that EAL's own arguments made (--vdev) is older than the comparison: nothing is found.
 */
#ifndef WR_DEVICE_SOCKET_DROPS_H
#define WR_DEVICE_SOCKET_DROPS_H

#include <stdint.h>

struct socket_drops {
	int *sockets; /* before socket_drops_after(): those that are not the port's */
	uint32_t count;
	uint64_t
		xdp_drops; /* sum over AF_XDP sockets when last asked: the kernel never clears it */
};

/* Note which sockets of these families are open. -errno when they cannot be listed; nothing is held then. */
int socket_drops_before(struct socket_drops *drops);

/* Keep those that have come since, for `driver`'s port: none for any other driver than the two. -errno as above. */
int socket_drops_after(struct socket_drops *drops, const char *driver);

/* Frames dropped since the last call. Sockets that do not answer add nothing. */
uint64_t socket_drops_read(struct socket_drops *drops);

/* Forget the sockets; they belong to the driver. May be called at any time, and twice. */
void socket_drops_close(struct socket_drops *drops);

#endif
