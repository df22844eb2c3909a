# SPDX-License-Identifier: BSD-3-Clause
"""The frames of plans that `wirerate flows --show-plan` made, built by Scapy from its options."""

from __future__ import annotations

from golden.words import counting, ether, ip4, ipv4, ipv6, sized, stamped, udp
from support.golden import NS_PER_S, at_rate, every, rebuilds, rebuilds_all

LATENCY_TOS = 0x20


def packet(src="198.18.0.1", port=1024, **fields):
    """As all of them have it."""
    return ether() / ipv4(src, flags="DF", ttl=64, **fields) / udp(port)


@rebuilds("flows_at_once")
def flows_at_once(i):
    """--flow-num 7 --no-ramp --src-port 65533 --payload 1."""
    return sized(packet(port=(65533 + i % 7) % 65536), 64, counting)


@rebuilds("flows_every")
def flows_every(i):
    """Ten flows at once, three of an address, from port 65535."""
    k = i % 10
    return sized(packet(ip4("10.0.0.255", k // 3), (65535 + k) % 65536), 64, counting)


@rebuilds_all("flows_ramp", 20)
def flows_ramp():
    """--flow-num 12 --cps 300 -s 2kpps --payload 100: a turn ends with the last active flow."""
    due, flows, k = every(2000), [], 0
    for i in range(20):
        active = min(12, 1 + int(due(i) * 300 / NS_PER_S))
        flows.append(k)
        k = k + 1 if k + 1 < active else 0
    assert flows[:12] == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0], flows
    assert max(flows) == 2
    make = [sized(packet("10.0.0.255", 1024 + k), 146, counting) for k in flows]
    return at_rate(make.__getitem__, 20, due=due)


@rebuilds("flows_ipv6_latency")
def flows_ipv6_latency(i):
    """--flow-num 5 --no-ramp --mode 1, from 2001:db8::1 to 2001:db8::2."""
    stack = ether() / ipv6(tc=LATENCY_TOS, hlim=64) / udp(1024 + i % 5)
    return stamped(stack, i, 84, counting)


@rebuilds_all("flows_probe", 40)
def flows_probe():
    """--flow-num 5 --no-ramp --probe=1kpps: two flows at 1,000 frames/s, the probe's measured."""
    main = at_rate(lambda i: sized(packet(port=1024 + i % 5), 64, counting), 20)
    probe = at_rate(lambda i: stamped(packet(tos=LATENCY_TOS), i, 64, counting), 20)
    return sorted([*main, *probe], key=lambda frame: frame.time_ns)
