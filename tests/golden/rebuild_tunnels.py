# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the tunnels' plans, built by Scapy."""

from __future__ import annotations

from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.gtp_v2 import GTPHeader as GTPv2Header
from scapy.layers.inet import ICMP
from scapy.layers.l2 import ARP, GRE, Dot1Q
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

from golden.words import (
    counting_down,
    down,
    drawn,
    ether,
    ip4,
    ip6,
    ipv4,
    ipv6,
    mac,
    sized,
    tcp,
    turn,
    udp,
    up,
    words_up,
)
from support.golden import rebuilds

INNER_DST, INNER_SRC = "02:00:00:00:01:01", "02:00:00:00:01:02"


def inner(src=INNER_SRC):
    """The Ethernet header inside."""
    return ether(INNER_DST, src)


def vxlan(vni):
    """RFC 7348; Scapy would like to say what follows, as a later draft does."""
    return VXLAN(flags=0x08, NextProtocol=0, vni=vni)


def to_vxlan(i):
    """The UDP header before VXLAN."""
    return udp(49152 + i % 7, 4789)


@rebuilds("vxlan_ipv4")
def vxlan_ipv4(i):
    outer = ether() / ipv4() / to_vxlan(i) / vxlan(vni=up(16777214, 1, 5, i, 24))
    source = mac(0x020000000102 + i % 3)
    return sized(outer / inner(source) / ipv4(ip4("10.0.0.1", i % 4), "10.0.1.1") / udp(), 124)


@rebuilds("vxlan_ipv6")
def vxlan_ipv6(i):
    outer = ether() / ipv6() / to_vxlan(i) / vxlan(vni=turn([1, 100, 4096], i))
    packet = ipv6("fd00::1", ip6("fd00::2", i % 4)) / tcp(seq=1000 * (i % 6))
    return sized(outer / inner() / Dot1Q(vlan=12) / packet, 180)


@rebuilds("vxlan_sizes")
def vxlan_sizes(i):
    outer = ether() / ipv4() / to_vxlan(i) / vxlan(vni=7)
    packet = ipv4("10.0.0.1", "10.0.1.1") / udp()
    return sized(outer / inner() / packet, turn(range(96, 132, 5), i), words_up)


@rebuilds("walk_vxlan")
def walk_vxlan(i):
    outer = ipv4(ip4("198.18.0.1", i % 31)) / udp(49152 + i % 16381, 4789)
    network = vxlan(vni=up(0, 257, 1048573, i, 24))
    source = ip4("0.0.0.0", drawn(0x0A000000, 0x0A0000FF, 41, 1000, i))
    packet = ipv4(source, "10.1.0.1") / udp(50000 + i % 37)
    return sized(ether() / outer / network / inner() / packet, 130)


@rebuilds("gre")
def gre(i):
    packet = ipv4("10.0.0.1", ip4("10.0.1.1", i % 5)) / ICMP(type=8, seq=1 + i % 8)
    return sized(ether() / ipv4() / GRE() / packet, 100)


@rebuilds("gre_checksum")
def gre_checksum(i):
    packet = ipv6("fd00::1", ip6("fd00::2", i % 4)) / udp(50000 + i % 6)
    return sized(ether() / ipv4() / GRE(chksum_present=1) / packet, 121)


@rebuilds("gre_ethernet")
def gre_ethernet(i):
    asked = ARP(
        hwsrc=INNER_SRC,
        psrc="10.0.0.1",
        hwdst="00:00:00:00:00:00",
        pdst=ip4("10.0.0.2", i % 5),
    )
    # The EtherType is that of RFC 7637; Scapy's GRE leaves it to the caller.
    tunnel = GRE(proto=0x6558)
    return sized(ether() / ipv6(nh=47) / tunnel / inner() / Dot1Q(vlan=5 + i % 3) / asked, 108)


def to_gtp():
    """The UDP header before GTP-U."""
    return udp(2152, 2152)


@rebuilds("gtpu_ipv4")
def gtpu_ipv4(i):
    tunnel = GTP_U_Header(gtp_type=255, teid=up(0xFFFFFFFE, 1, 5, i, 32))
    packet = ipv4(ip4("10.45.0.1", i % 4), "10.0.1.1") / udp()
    return sized(ether() / ipv4() / to_gtp() / tunnel / packet, 110)


@rebuilds("gtpu_extension")
def gtpu_extension(i):
    tunnel = GTP_U_Header(
        gtp_type=255, E=1, S=1, teid=0x57520001, seq=up(65534, 1, 4, i, 16), next_ex=0x85
    )
    # TS 38.415 section 5.5.2.1: PDU type 0 (downlink), QFI 9 and 5; no further extension.
    extension = Raw(bytes([1, 0, turn([9, 5], i), 0]))
    # Behind plain octets Scapy does not know what comes before the TCP header.
    packet = bytes(sized(ipv6("fd00::1", "fd00::2") / tcp(), 170 - 14 - 40 - 8 - 12 - 4))
    return sized(ether() / ipv6() / to_gtp() / tunnel / extension / Raw(packet), 170)


@rebuilds("gtpv2")
def gtpv2(i):
    # TS 29.274 section 7.1.1: Recovery, element 3, one octet.
    header = GTPv2Header(P=0, T=0, gtp_type=1, seq=up(0xFFFFFD, 1, 5, i, 24), length=9, SPARE3=0)
    return sized(ether() / ipv6() / udp(dport=2123) / header / Raw(bytes([3, 0, 1, 0, 5])), 79)


@rebuilds("gtpv2_teid")
def gtpv2_teid(i):
    # TS 29.274 section 7.2.9.1: EPS bearer id, element 73, one octet.
    teid = drawn(1, 0xFFFFFFFF, 77, 10, i)
    header = GTPv2Header(P=0, T=1, gtp_type=36, teid=teid, seq=3, length=13, SPARE3=0)
    stack = ether() / Dot1Q(vlan=5) / ipv4() / udp(dport=2123)
    return sized(stack / header / Raw(bytes([73, 0, 1, 0, 5])), 67)


@rebuilds("walk_gtpu")
def walk_gtpu(i):
    tunnel = GTP_U_Header(
        gtp_type=255,
        E=1,
        S=1,
        teid=down(3, 2, 10007, i, 32),
        seq=up(65530, 3, 65536, i, 16),
        next_ex=0xC0,
    )
    # A PDCP number (TS 29.281 section 5.2.2.2), then a PDU session container as above.
    number = up(65530, 1, 8209, i, 16)
    extensions = bytes([1, number >> 8, number & 0xFF, 0x85, 1, 0, turn([9, 5, 1], i), 0])
    packet = ipv4(
        ip4("10.45.0.250", i % 65537),
        ip4("0.0.0.0", drawn(0x0A000000, 0x0A00FFFF, 71, 9973, i)),
        id=drawn(0, 65535, 72, 30011, i),
    ) / udp(50000 + i % 2, drawn(50100, 50200, 73, 8999, i))
    size = 120 + i % 4
    inside = sized(packet, size - 14 - 20 - 8 - 12 - 8, counting_down)
    outer = ether() / ipv4() / udp(2152 + i % 16411, 2152)
    return sized(outer / tunnel / Raw(extensions) / Raw(inside), size)
