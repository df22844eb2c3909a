# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the plans about sizes and payloads, built by Scapy."""

from __future__ import annotations

from scapy.layers.l2 import Dot1Q

from golden.words import (
    counting,
    counting_down,
    ether,
    ipv4,
    ipv6,
    sized,
    turn,
    udp,
    words_down,
    words_up,
    zeros,
)
from support.golden import rebuilds

JUMBO_FRAMES = 8

# The weights exactly, spread evenly; test_golden_patterns.py checks that of both.
IMIX = (64, 570, 64, 64, 570, 64, 64, 570, 64, 570, 64, 1518)
WEIGHTED = (100, 64, 100, 64, 100, 301)

# Which sizes are drawn is the program's choice: 20 of 64 to 300, the same in every run.
DRAWN = (
    234,
    84,
    271,
    290,
    256,
    232,
    215,
    144,
    171,
    115,
    282,
    96,
    87,
    218,
    151,
    279,
    299,
    126,
    282,
    133,
)
assert all(64 <= size <= 300 for size in DRAWN)


def udp_ipv4(i, size=64, fill=zeros):
    """Most of these plans' frames: five source ports in turn."""
    return sized(ether() / ipv4() / udp(49152 + i % 5), size, fill)


@rebuilds("size_increment")
def size_increment(i):
    return udp_ipv4(i, turn(range(64, 111, 9), i))


@rebuilds("size_odd")
def size_odd(i):
    return sized(ether() / ipv6() / udp(49152 + i % 5), 66 + i % 12, counting_down)


@rebuilds("size_random")
def size_random(i):
    return udp_ipv4(i, DRAWN[i])


@rebuilds("size_imix", 24)
def size_imix(i):
    return udp_ipv4(i, turn(IMIX, i))


@rebuilds("size_weights", 24)
def size_weights(i):
    return udp_ipv4(i, turn(WEIGHTED, i))


@rebuilds("size_1518", JUMBO_FRAMES)
def size_1518(i):
    return udp_ipv4(i, 1518, words_up)


@rebuilds("size_9000", JUMBO_FRAMES)
def size_9000(i):
    return udp_ipv4(i, 9000, counting)


@rebuilds("payload_fixed")
def payload_fixed(i):
    return udp_ipv4(i, 99, lambda octets: (bytes.fromhex("deadbeef01") * octets)[:octets])


@rebuilds("payload_once")
def payload_once(i):
    pattern = bytes(17 * at for at in range(16)) + bytes(17 * at for at in range(10))
    return udp_ipv4(
        i, turn(range(64, 101, 7), i), lambda octets: pattern.ljust(octets, b"\0")[:octets]
    )


@rebuilds("payload_increment_byte")
def payload_increment_byte(i):
    return udp_ipv4(i, 320, counting)


@rebuilds("payload_decrement_byte")
def payload_decrement_byte(i):
    return udp_ipv4(i, 321, counting_down)


@rebuilds("payload_increment_word")
def payload_increment_word(i):
    return udp_ipv4(i, 601, words_up)


@rebuilds("payload_decrement_word")
def payload_decrement_word(i):
    return udp_ipv4(i, 600, words_down)


@rebuilds("walk_sizes")
def walk_sizes(i):
    tag = Dot1Q(vlan=1 + i % 4093, prio=i % 7)
    return sized(ether() / tag / ipv4() / udp(49152 + i % 8209), 68 + i % 9, words_down)
