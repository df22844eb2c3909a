# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the transport layer's plans and of checksums, built by Scapy."""

from __future__ import annotations

from scapy.layers.inet import ICMP
from scapy.layers.inet6 import ICMPv6EchoRequest

from golden.words import (
    counting,
    counting_down,
    down,
    drawn,
    ether,
    ip4,
    ip6,
    ipv4,
    ipv6,
    sized,
    tcp,
    turn,
    udp,
    up,
)
from support.golden import rebuilds

IPV4_CHECKSUM, UDP_CHECKSUM, TCP_CHECKSUM = 14 + 10, 14 + 20 + 6, 14 + 20 + 16
"""Where they stand in an untagged frame."""


def spoilt(octets, at):
    """The frame with the checksum there one too low: that of a sum one too high."""
    good = int.from_bytes(octets[at : at + 2], "big")
    assert good > 1, "0 and 1 have more than one neighbour in ones' complement"
    return octets[:at] + (good - 1).to_bytes(2, "big") + octets[at + 2 :]


@rebuilds("udp_ports")
def udp_ports(i):
    ports = udp(turn([49152, 65535, 50000], i), up(65534, 1, 4, i, 16))
    return sized(ether() / ipv4() / ports, 70, counting)


@rebuilds("udp_checksum_zero")
def udp_checksum_zero(i):
    frame = sized(ether() / ipv4() / udp(29575 + i % 8))
    assert (frame[UDP_CHECKSUM : UDP_CHECKSUM + 2] == b"\xff\xff") == (i % 8 == 2)
    return frame


@rebuilds("udp_without_checksum")
def udp_without_checksum(i):
    return sized(ether() / ipv4() / udp(49152 + i % 8, chksum=0))


@rebuilds("udp_checksum_bad")
def udp_checksum_bad(i):
    return spoilt(sized(ether() / ipv4() / udp(49152 + i % 8)), UDP_CHECKSUM)


@rebuilds("ipv4_checksum_bad")
def ipv4_checksum_bad(i):
    return spoilt(sized(ether() / ipv4(ip4("198.18.0.1", i % 8)) / udp()), IPV4_CHECKSUM)


@rebuilds("checksum_custom")
def checksum_custom(i):
    return sized(ether() / ipv4(id=i % 8, chksum=4660) / tcp(chksum=0xBEEF))


@rebuilds("tcp_flags")
def tcp_flags(i):
    there = {
        "N": turn([0, 0, 0, 0, 1], i),
        "C": turn([0, 0, 0, 1], i),
        "E": turn([0, 0, 1], i),
        "A": (1 + i % 2) % 2,
        "P": turn([1, 0, 1], i),
        "S": turn([1, 0, 0, 0, 0, 0, 0], i),
        "F": turn([0, 0, 0, 0, 0, 1], i),
    }
    segment = tcp(
        seq=up(4294967000, 100, 9, i, 32),
        ack=down(50, 20, 5, i, 32),
        flags="".join(letter for letter, on in there.items() if on) or 0,
        window=drawn(1, 65535, 5, 12, i),
    )
    return sized(ether() / ipv4() / segment, 77, counting_down)


@rebuilds("tcp_ipv6")
def tcp_ipv6(i):
    source = turn(["2001:db8::1", "2001:db8::ffff:1"], i)
    target = ip6("2001:db8::2", (i % 5) << 64)
    return sized(ether() / ipv6(source, target) / tcp(sport=40000 + i % 3, window=8192), 100)


@rebuilds("icmp_echo")
def icmp_echo(i):
    echo = ICMP(type=turn([8, 8, 0], i), id=0x5752, seq=up(65533, 1, 6, i, 16))
    return sized(ether() / ipv4() / echo, 98, counting)


@rebuilds("icmpv6_echo")
def icmpv6_echo(i):
    echo = ICMPv6EchoRequest(id=drawn(1, 65535, 9, 8, i), seq=257 * (i % 8))
    stack = ether() / ipv6(dst=ip6("2001:db8::2", i % 3)) / echo
    return sized(stack, 99, lambda octets: (b"wire" * octets)[:octets])


@rebuilds("walk_checksum_bad")
def walk_checksum_bad(i):
    frame = sized(ether() / ipv4(ip4("10.0.0.0", i % 70000)) / tcp(sport=40000 + i % 9973))
    return spoilt(frame, TCP_CHECKSUM)
