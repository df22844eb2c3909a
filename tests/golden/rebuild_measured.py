# SPDX-License-Identifier: BSD-3-Clause
"""The frames of measured flows' plans, built by Scapy: checksums first, stamps afterwards."""

from __future__ import annotations

from scapy.layers.l2 import Dot1AD, Dot1Q
from scapy.layers.vxlan import VXLAN

from golden.words import (
    counting,
    counting_down,
    drawn,
    ether,
    ip4,
    ip6,
    ipv4,
    ipv6,
    sized,
    stamped,
    tcp,
    turn,
    udp,
    words_up,
)
from support.golden import at_rate, every, rebuilds, rebuilds_all

SIZES = (64, 571, 64, 571, 64, 65)
"""Three of 64, two of 571 and one of 65, spread evenly."""


@rebuilds("measured_udp_ipv4")
def measured_udp_ipv4(i):
    return stamped(ether() / ipv4() / udp(49152 + i % 7), i)


@rebuilds("measured_constant")
def measured_constant(i):
    return stamped(ether() / ipv4() / udp(49152), i, 99, counting)


@rebuilds("measured_udp_ipv6")
def measured_udp_ipv6(i):
    return stamped(ether() / ipv6("2001:db8::1", ip6("2001:db8::2", i % 3)) / udp(), i, 82)


@rebuilds("measured_vlan")
def measured_vlan(i):
    tags = Dot1AD(vlan=turn([5, 6, 7], i)) / Dot1Q(vlan=100, prio=i % 8)
    return stamped(ether() / tags / ipv4() / tcp(seq=1460 * (i % 1000)), i, 83, counting_down)


@rebuilds("measured_vxlan")
def measured_vxlan(i):
    outer = ether() / ipv4() / udp(49152 + i % 5, 4789) / VXLAN(flags=8, NextProtocol=0, vni=7)
    inner = ether("02:00:00:00:01:01", "02:00:00:00:01:02")
    packet = ipv4(ip4("10.0.0.1", i % 4), "10.0.1.1") / udp()
    return stamped(outer / inner / packet, i, turn([131, 112, 113], i), words_up)


@rebuilds("measured_sizes", 24)
def measured_sizes(i):
    return stamped(ether() / ipv4() / udp(49152 + i % 5), i, turn(SIZES, i), counting)


@rebuilds("measured_walk", 40)
def measured_walk(i):
    header = ipv4(
        ip4("10.0.0.0", i % 1_000_000),
        ip4("0.0.0.0", drawn(0x0B000000, 0x0BFFFFFF, 21, 1_000_000, i)),
    )
    return stamped(ether() / header / udp(1024 + i % 64511), i, turn([64, 91, 128], i), words_up)


def first(i):
    return stamped(ether() / ipv4() / udp(), i)


def counted(_):
    return sized(ether() / ipv4() / udp(dport=10))


def second(i):
    return stamped(ether(dst="02:00:00:00:00:03") / ipv4() / tcp(), i, 74, number=1)


@rebuilds_all("measured_flows", 30)
def measured_flows():
    frames = [
        *at_rate(first, 10, due=every(1000)),
        *at_rate(counted, 10, due=every(1000)),
        *at_rate(second, 10, port=1, due=every(1000)),
    ]
    return sorted(frames, key=lambda frame: frame.time_ns)
