# SPDX-License-Identifier: BSD-3-Clause
"""Numbers by which a header names the one that follows, by kind of header. Pure data."""

from __future__ import annotations

ETHER_TYPES = {
    "ipv4": 0x0800,
    "arp": 0x0806,
    "ethernet": 0x6558,
    "vlan": 0x8100,
    "ipv6": 0x86DD,
    "lacp": 0x8809,
    "ppp": 0x880B,
    "mpls": 0x8847,
    "macsec": 0x88E5,
    "cfm": 0x8902,
}
"""IANA "IEEE 802 Numbers": EtherType; ``ethernet`` is transparent bridging (RFC 1701)."""

IP_PROTOCOLS = {
    "icmp": 1,
    "igmpv1": 2,
    "ipv4": 4,
    "tcp": 6,
    "udp": 17,
    "ipv6": 41,
    "ipv6_extension_header": 43,
    "rsvp": 46,
    "gre": 47,
    "icmpv6": 58,
    "mpls": 137,
    "ethernet": 143,
}
"""IANA "Protocol Numbers", for IPv4 and IPv6 alike; OTG's extension headers are all routing's."""

PPP_PROTOCOLS = {"ipv4": 0x0021, "ipv6": 0x0057, "mpls": 0x0281}
"""IANA "PPP DLL Protocol Numbers"."""
