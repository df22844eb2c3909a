# SPDX-License-Identifier: BSD-3-Clause
"""What the rebuilding modules have in common: patterns, addresses, usual headers, payloads.

Written from docs/headers.md and docs/design (0002: random, 0005: stamps), not from the code that
they judge. ``i`` is the number of a frame in its flow, from 0.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

FCS_OCTETS = 4
MAGIC = 22354
STAMP_OCTETS = 16
DST, SRC = "02:00:00:00:00:01", "02:00:00:00:00:02"
_64_BITS = (1 << 64) - 1

Value = TypeVar("Value")
Fill = Callable[[int], bytes]
"""The first so many octets of a payload."""


def turn(values: Sequence[Value], i: int) -> Value:
    """Frame i's of a list that is gone through over and over."""
    return values[i % len(values)]


def up(start: int, step: int, count: int, i: int, bits: int = 64) -> int:
    """An increment."""
    return (start + step * (i % count)) % (1 << bits)


def down(start: int, step: int, count: int, i: int, bits: int = 64) -> int:
    """A decrement."""
    return (start - step * (i % count)) % (1 << bits)


def drawn(minimum: int, maximum: int, seed: int, count: int, i: int) -> int:
    """A random pattern: splitmix64 (Steele and others, 2014), scaled by its high bits."""
    z = (seed + (i % count + 1) * 0x9E3779B97F4A7C15) & _64_BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _64_BITS
    z ^= z >> 31
    return minimum + (z * (maximum - minimum + 1) >> 64)


def mac(number: int) -> str:
    """A number as MAC address."""
    return number.to_bytes(6, "big").hex(":")


def mac_number(text: str) -> int:
    """A MAC address as number."""
    return int(text.replace(":", ""), 16)


def ip4(start: str, add: int = 0) -> str:
    """An IPv4 address so many behind another; behind the last comes the first."""
    return str(ipaddress.IPv4Address((int(ipaddress.IPv4Address(start)) + add) % (1 << 32)))


def ip6(start: str, add: int = 0) -> str:
    """Likewise for IPv6."""
    return str(ipaddress.IPv6Address((int(ipaddress.IPv6Address(start)) + add) % (1 << 128)))


def ether(dst: str = DST, src: str = SRC, **fields: Any) -> Any:
    """The plans' usual Ethernet header."""
    return Ether(dst=dst, src=src, **fields)


def ipv4(src: str = "198.18.0.1", dst: str = "198.19.0.1", **fields: Any) -> Any:
    """The plans' usual IPv4 header; identification 0, as OTG has it."""
    return IP(src=src, dst=dst, **({"id": 0} | fields))


def ipv6(src: str = "2001:db8::1", dst: str = "2001:db8::2", **fields: Any) -> Any:
    """The plans' usual IPv6 header."""
    return IPv6(src=src, dst=dst, **fields)


def udp(sport: int = 49152, dport: int = 9, **fields: Any) -> Any:
    """The plans' usual UDP header."""
    return UDP(sport=sport, dport=dport, **fields)


def tcp(**fields: Any) -> Any:
    """The plans' usual TCP header: no flag and no window, as OTG has it."""
    return TCP(**({"sport": 40000, "dport": 40001, "flags": 0, "window": 0} | fields))


def zeros(octets: int) -> bytes:
    """OTG's payload where the plan says nothing."""
    return bytes(octets)


def counting(octets: int) -> bytes:
    """increment_byte."""
    return bytes(at % 256 for at in range(octets))


def counting_down(octets: int) -> bytes:
    """decrement_byte."""
    return bytes(255 - at % 256 for at in range(octets))


def words_up(octets: int) -> bytes:
    """increment_word."""
    return b"".join((at // 2).to_bytes(2, "big") for at in range(0, octets, 2))[:octets]


def words_down(octets: int) -> bytes:
    """decrement_word."""
    return b"".join((0xFFFF - at // 2).to_bytes(2, "big") for at in range(0, octets, 2))[:octets]


def sized(stack: Any, size: int = 64, fill: Fill = zeros) -> bytes:
    """The octets of a frame of ``size`` (with FCS, which is not there): headers and payload."""
    room = size - FCS_OCTETS - len(stack)
    assert room >= 0, f"{len(stack)} octets of headers do not fit {size}"
    return bytes(stack / Raw(fill(room)) if room else stack)


def stamped(stack: Any, i: int, size: int = 64, fill: Fill = zeros, *, number: int = 0) -> bytes:
    """Frame i of a measured flow at 1,000 frames/s whose stamp has the id ``number``."""
    return with_stamp(sized(stack, size, measured_fill(fill)), i, i * 1_000_000, number)


def measured_fill(fill: Fill) -> Fill:
    """A payload with zeros where the stamp will be: checksums are computed over these."""
    return lambda octets: fill(octets - STAMP_OCTETS) + bytes(STAMP_OCTETS)


def with_stamp(frame: bytes, i: int, time_ns: int, number: int = 0) -> bytes:
    """The frame with its stamp in place of the zeros; a preview's clock counts tenths of a ns."""
    assert frame[-STAMP_OCTETS:] == bytes(STAMP_OCTETS), "the stamp would stand in a header"
    departure = 10 * time_ns % (1 << 48)
    behind = struct.pack("!HHIHI", MAGIC, number, i, departure >> 32, departure & 0xFFFFFFFF)
    compensator: int = -sum(struct.unpack("!7H", behind)) % 0xFFFF
    return b"".join((frame[:-STAMP_OCTETS], compensator.to_bytes(2, "big"), behind))
