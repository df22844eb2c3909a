/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's only conversions between units. Constants of time and of a frame on the line.
 * Source: IEEE 802.3 clause 4.2 (frame check sequence, preamble, interpacket gap).
 */
#ifndef WR_BASE_UNITS_H
#define WR_BASE_UNITS_H

#include <stdint.h>

#define NS_PER_SECOND 1000000000ULL
#define FCS_OCTETS 4u /* frame check sequence: counted in frame_size, never in an mbuf */
#define ETHERNET_HEADER_OCTETS 14u

/* frame_size (with FCS) of a frame that fills mtu octets of payload, untagged. */
static inline uint32_t
frame_size_of_mtu(uint32_t mtu)
{
	return mtu + ETHERNET_HEADER_OCTETS + FCS_OCTETS;
}

static inline uint32_t
mtu_of_frame_size(uint32_t frame_size)
{
	return frame_size - ETHERNET_HEADER_OCTETS - FCS_OCTETS;
}

/* Whole cycles in ns nanoseconds of a clock of hz; exact for any ns below 580 years. */
static inline uint64_t
cycles_of_ns(uint64_t ns, uint64_t hz)
{
	return (uint64_t)((unsigned __int128)ns * hz / NS_PER_SECOND);
}

#endif
