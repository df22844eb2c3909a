# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the network layer's plans, built by Scapy."""

from __future__ import annotations

from scapy.layers.inet import (
    IPOption,
    IPOption_EOL,
    IPOption_Router_Alert,
    IPOption_Timestamp,
)
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6ExtHdrSegmentRouting,
    IPv6ExtHdrSegmentRoutingTLVPadN,
)
from scapy.layers.l2 import Dot1Q

from golden.words import down, drawn, ether, ip4, ip6, ipv4, ipv6, sized, tcp, turn, udp, up
from support.golden import rebuilds


@rebuilds("ipv4_dscp")
def ipv4_dscp(i):
    return sized(ether() / ipv4(tos=up(46, 3, 9, i, 6) << 2 | i % 4) / udp())


@rebuilds("ipv4_tos")
def ipv4_tos(i):
    throughput, reliability = turn([0, 0, 1], i), turn([1, 0, 0, 0, 0], i)
    tos = (i % 8) << 5 | (1 + i % 2) % 2 << 4 | throughput << 3 | reliability << 2
    return sized(ether() / ipv4(tos=tos) / udp())


@rebuilds("ipv4_fields")
def ipv4_fields(i):
    header = ipv4(
        ip4("198.18.1.2", -(i % 6)),
        ip4("255.255.255.250", 256 * (i % 4)),
        tos=up(254, 1, 4, i, 8),
        id=up(65530, 3, 9, i, 16),
        flags=turn(["DF", "MF", 0], i),
        frag=turn([0, 0, 185], i),
        ttl=down(64, 9, 7, i),
        proto=253,
    )
    return sized(ether() / header)


@rebuilds("ipv4_options")
def ipv4_options(i):
    places = {"internet_address": "198.18.0.9", "timestamp": up(1000, 7, 5, i)}
    options = [
        IPOption_Router_Alert(),
        IPOption_Timestamp(length=12, pointer=5, oflw=3, flg=1, **places),
        IPOption(copy_flag=1, optclass=0, option=30, value=bytes.fromhex("abcdef0102")),
        IPOption_EOL(),
    ]
    return sized(ether() / ipv4(options=options) / udp(), 96)


@rebuilds("ipv4_no_next")
def ipv4_no_next(i):
    source = ip4("0.0.0.0", drawn(0x0A000000, 0x0AFFFFFF, 11, 20, i))
    return sized(ether() / ipv4(source, proto=61), 65)


@rebuilds("ipv6_no_next")
def ipv6_no_next(i):
    return sized(ether() / ipv6(nh=59, hlim=down(3, 1, 5, i, 8), plen=64 - 4 - 14 - 40))


@rebuilds("ipv6_addresses")
def ipv6_addresses(i):
    source = ip6("2001:db8::ffff:ffff:ffff:fffe", i % 6)
    return sized(ether() / ipv6(source, ip6("2001:db8:0:2::1", -(2**64 + 1) * (i % 5))) / udp(), 82)


@rebuilds("ipv6_wrap")
def ipv6_wrap(i):
    source = ip6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffd", 2 * (i % 4))
    return sized(ether() / ipv6(source, ip6("::2", -(i % 5))) / udp(), 82)


@rebuilds("ipv6_flow_label")
def ipv6_flow_label(i):
    label = drawn(0, 0xFFFFF, 42, 16, i)
    target = turn(["2001:db8::2", "2001:db8:ffff::3"], i)
    return sized(ether() / ipv6(dst=target, tc=turn([0, 0xB8, 0xFF], i), fl=label) / udp(), 82)


@rebuilds("ipv4_in_ipv4")
def ipv4_in_ipv4(i):
    outer = ipv4(ip4("192.0.2.1", i % 4), "203.0.113.1")
    return sized(ether() / outer / ipv4("10.0.0.1", ip4("10.1.0.0", (i % 3) << 16)) / udp(), 90)


@rebuilds("ipv6_in_ipv4")
def ipv6_in_ipv4(i):
    outer = ipv4("192.0.2.1", "203.0.113.1")
    return sized(ether() / outer / ipv6() / udp(50000 + i % 8), 110)


@rebuilds("ipv4_in_ipv6")
def ipv4_in_ipv6(i):
    return sized(ether() / ipv6(dst=ip6("2001:db8::2", i % 3)) / ipv4() / tcp(), 110)


def routing(segments, left, **fields):
    """A segment routing header whose last entry and lengths Scapy finds itself."""
    return IPv6ExtHdrSegmentRouting(addresses=segments, segleft=left, **fields)


@rebuilds("srv6_udp")
def srv6_udp(i):
    # RFC 8754 section 4.1.1: without the first segment in the list, two of two are left.
    header = routing([ip6("fc00:3::1", i % 4), "fc00:2::1"], 2, tag=i % 3)
    return sized(ether() / ipv6(dst="fc00:1::1") / header / udp(), 150)


@rebuilds("srv6_tcp")
def srv6_tcp(i):
    padding = IPv6ExtHdrSegmentRoutingTLVPadN(type=4, len=6, padding=bytes(6))
    header = routing(["fc00:3::1", "fc00:2::1"], 1, oam=i % 2, tlv_objects=[padding])
    source = ip6("2001:db8::1", i % 5)
    segment = tcp(seq=up(1, 100, 8, i))
    return sized(ether() / ipv6(source, "fc00:2::1") / header / segment, 160)


@rebuilds("srv6_none_left")
def srv6_none_left(i):
    echo = ICMPv6EchoRequest(seq=1 + i % 8)
    return sized(ether() / ipv6(dst="fc00:3::1") / routing(["fc00:3::9"], 0) / echo, 110)


@rebuilds("srv6_usid")
def srv6_usid(_):
    containers = ["fcbb:bb00:300:f00d:7::", "fcbb:bb00:400:500::"]
    return sized(ether() / ipv6(dst="fcbb:bb00:100:200::") / routing(containers, 1) / udp(), 150)


@rebuilds("lengths_given")
def lengths_given(i):
    return sized(ether() / ipv4() / udp(49152 + i % 8), 90)


@rebuilds("lengths_auto")
def lengths_auto(i):
    return sized(ether() / Dot1Q(vlan=0) / ipv6() / udp(), 86 + 3 * (i % 5))
