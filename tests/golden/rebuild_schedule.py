# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the plans about times, several flows, lock-step and random, built by Scapy."""

from __future__ import annotations

from fractions import Fraction

from scapy.layers.l2 import ARP, Dot1Q

from golden.rebuild_sizes import udp_ipv4
from golden.words import (
    counting,
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
    with_stamp,
)
from support.golden import at_rate, every, rebuilds, rebuilds_all

US = 1000
"""Nanoseconds."""


def in_bursts(frames, fps, gap_ns):
    """When frame i is due: bursts at ``fps``, and after each a gap beyond the frame interval."""
    burst_ns = frames * Fraction(10**9) / fps + Fraction(gap_ns)
    return lambda i: i // frames * burst_ns + i % frames * Fraction(10**9) / fps


def later(due, delay_ns):
    """The same, so much later."""
    return lambda i: due(i) + delay_ns


@rebuilds("fixed_packets", 11, asked=20, due=every(3000))
def fixed_packets(i):
    return udp_ipv4(i)


# Due before 10 ms are over: 17 of them would be due at 1,700 frames/s, the 18th just then.
@rebuilds("fixed_seconds", 17, asked=30, due=every(1700))
def fixed_seconds(i):
    return udp_ipv4(i)


@rebuilds("bursts", 15, asked=20, due=in_bursts(5, 100_000, 20 * US))
def bursts(i):
    return udp_ipv4(i)


# 84 octets on the line each, and 1,250 more in a gap: 10 us.
@rebuilds("bursts_in_bytes", due=in_bursts(4, Fraction(10**9, 84 * 8), 10 * US))
def bursts_in_bytes(i):
    return udp_ipv4(i)


@rebuilds("delay", 9, asked=20, due=later(every(2000), 1500 * US))
def delay(i):
    return udp_ipv4(i)


@rebuilds("rate_bits", due=every(Fraction(10**7, 8 * 125)))
def rate_bits(i):
    return udp_ipv4(i, turn([64, 186], i))


def port_mac(index):
    """The made-up address of a port (docs/preview.md)."""
    return mac(0x025752000000 + index)


def steady(i):
    return sized(ether(src=port_mac(0)) / ipv4() / udp(49152 + i % 4))


def quick(i):
    return sized(ether(src=port_mac(0)) / Dot1Q(vlan=1 + i % 3) / ipv6(nh=59, plen=38), 100)


def back(i):
    zero = "00:00:00:00:00:00"
    asked = ARP(hwsrc=zero, psrc="198.18.0.1", hwdst=zero, pdst=ip4("198.18.0.2", i % 3))
    return sized(ether("02:00:00:00:00:02", port_mac(1)) / asked)


def pulses(i):
    addresses = ether("02:00:00:00:00:03", "02:00:00:00:00:04", type=0x88B5)
    return sized(addresses, turn([64, 67, 70], i), counting)


@rebuilds_all("many_flows", 36)
def many_flows():
    frames = [
        *at_rate(steady, 36, port=0),
        *at_rate(quick, 12, port=0, due=later(every(3500), 100 * US)),
        *at_rate(back, 7, port=1, due=later(every(1300), 50 * US)),
        *at_rate(pulses, 9, port=1, due=in_bursts(3, 50_000, Fraction("2345600"))),
    ]
    return sorted(frames, key=lambda frame: frame.time_ns)[:36]


def snappi_first(i):
    stack = (
        ether(mac(0x020000000010 + 256 * (i % 3)))
        / Dot1Q(vlan=turn([10, 20, 30, 40], i), prio=2)
        / ipv4(
            ip4("198.18.0.1", 2 * (i % 5)),
            ip4("0.0.0.0", drawn(0xC6130000, 0xC613FFFF, 99, 6, i)),
            tos=turn([46, 10], i) << 2,
        )
        / udp(50010 - 5 * (i % 4))
    )
    # OTG's metrics.enable: the flow is measured. A frame of 72 octets takes 144 us at 4 Mbit/s.
    return with_stamp(sized(stack, 72), i, 144_000 * i)


def snappi_second(_):
    source = "02:00:00:00:00:03"
    asked = ARP(hwsrc=source, psrc="198.19.0.1", hwdst="00:00:00:00:00:00", pdst="198.18.0.1")
    return sized(ether("ff:ff:ff:ff:ff:ff", source) / asked)


@rebuilds_all("snappi", 40)
def snappi():
    frames = [
        *at_rate(snappi_first, 18, due=every(Fraction(4_000_000, 8 * 72))),
        *at_rate(snappi_second, 4, port=1, due=later(every(700), 250 * US)),
    ]
    return sorted(frames, key=lambda frame: frame.time_ns)


@rebuilds("lock_step", 36)
def lock_step(i):
    stack = (
        ether(src=mac(0x020000000010 + i % 2))
        / Dot1Q(vlan=turn([7, 8, 9], i), prio=7 - i % 4)
        / ipv4(ip4("198.18.0.0", i % 5), ip4("198.19.0.0", -256 * (i % 6)))
        / udp(drawn(49152, 65535, 8, 4, i))
    )
    return sized(stack, 70 + 6 * (i % 3))


@rebuilds("random_seeded", 32)
def random_seeded(i):
    source = drawn(0x020000000000, 0x02FFFFFFFFFF, 1234567890123, 9, i)
    tag = Dot1Q(prio=drawn(0, 7, 2, 5, i), vlan=drawn(1, 4094, 3, 100, i))
    addresses = ipv4(
        ip4("0.0.0.0", drawn(0x0A000000, 0x0A00FFFF, 4, 50, i)),
        ip4("0.0.0.0", drawn(0xC6130000, 0xC61300FF, 1, 7, i)),
    )
    ports = udp(drawn(49152, 65535, 6, 11, i), drawn(50000, 50003, 7, 1000, i))
    return sized(ether(src=mac(source)) / tag / addresses / ports)


@rebuilds("walk_five_tuple", 40)
def walk_five_tuple(i):
    header = ipv4(
        ip4("10.0.0.250", i % 7),
        ip4("10.1.0.0", (i % 11) << 16),
        tos=up(60, 1, 13, i, 6) << 2,
    )
    ports = udp(up(65530, 1, 17, i, 16), 50000 - 7 * (i % 19))
    return sized(ether() / header / ports, 72, counting)


@rebuilds("walk_million")
def walk_million(i):
    header = ipv4(
        ip4("10.0.0.0", i % 1_000_000),
        ip4("0.0.0.0", drawn(0x0B000000, 0x0BFFFFFF, 21, 2**48, i)),
    )
    segment = tcp(sport=drawn(49152, 65535, 22, 65537, i), seq=up(0, 1460, 2**32, i, 32))
    return sized(ether() / header / segment, 90)


@rebuilds("walk_ipv6", 40)
def walk_ipv6(i):
    header = ipv6(
        ip6("2001:db8::ffff:ffff:ffff:fff8", 3 * (i % 65536)),
        ip6("2001:db8:1::4", -(2**64 + 1) * (i % 65521)),
        fl=drawn(0, 0xFFFFF, 31, 1000003, i),
    )
    ports = udp(turn([49152, 50000, 50001], i), 50010 + i % 8191)
    return sized(ether() / header / ports, 90)
