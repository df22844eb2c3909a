# SPDX-License-Identifier: BSD-3-Clause
"""The witness's own reading of a frame: the stamp at its end, its UDP port, its checksums.

Written from docs/design/0005-measurement.md ("The stamp") alone, and shares no code with the engine
or the package: a fault there must not be repeated here.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

STAMP_OCTETS = 16
TIME_MASK = (1 << 48) - 1
_WORDS = struct.Struct(">8H")
_ETHERNET_OCTETS = 14
_SMALLEST = _ETHERNET_OCTETS + 20 + 8 + STAMP_OCTETS
_IPV4 = 0x0800
_UDP = 17


class Stamp(NamedTuple):
    """What the last 16 octets say; ``departure`` in cycles, modulo 2^48."""

    magic: int
    number: int
    sequence: int
    departure: int


def ones_sum(octets: bytes) -> int:
    """The 16-bit ones' complement sum (RFC 1071), folded, not inverted."""
    if len(octets) % 2:
        octets += b"\0"
    total = int(sum(struct.unpack(f">{len(octets) // 2}H", octets)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def read_stamp(frame: bytes) -> Stamp | None:
    """The stamp of a frame without FCS; None where the last octets do not add up to one."""
    if len(frame) < _SMALLEST:
        return None
    words = _WORDS.unpack_from(frame, len(frame) - STAMP_OCTETS)
    total = sum(words)
    if total == 0 or total % 0xFFFF:
        return None
    sequence = words[3] << 16 | words[4]
    return Stamp(words[1], words[2], sequence, words[5] << 32 | words[6] << 16 | words[7])


def with_stamp(frame: bytes, stamp: Stamp) -> bytes:
    """The frame with another stamp that adds up as the old one did."""
    words = [
        stamp.magic,
        stamp.number,
        stamp.sequence >> 16,
        stamp.sequence & 0xFFFF,
        stamp.departure >> 32 & 0xFFFF,
        stamp.departure >> 16 & 0xFFFF,
        stamp.departure & 0xFFFF,
    ]
    tail = struct.pack(">7H", *words)
    return frame[:-STAMP_OCTETS] + struct.pack(">H", 0xFFFF ^ ones_sum(tail)) + tail


def udp_port(frame: bytes) -> int:
    """The destination port of an untagged UDP frame over IPv4; -1 of any other frame."""
    if len(frame) < _SMALLEST or frame[12:14] != b"\x08\x00" or frame[23] != _UDP:
        return -1
    at = _ETHERNET_OCTETS + 4 * (frame[14] & 0xF) + 2
    return frame[at] << 8 | frame[at + 1]


def damaged(frame: bytes) -> bool:
    """Is a checksum of IPv4 or UDP wrong, or the frame shorter than IP says?"""
    if udp_port(frame) < 0:
        return False
    header = 4 * (frame[14] & 0xF)
    packet = frame[_ETHERNET_OCTETS:]
    length = packet[2] << 8 | packet[3]
    if length > len(packet) or ones_sum(packet[:header]) != 0xFFFF:
        return True
    udp = packet[header:length]
    if udp[6:8] == b"\0\0":
        return False
    return ones_sum(packet[12:20] + struct.pack(">HH", _UDP, len(udp)) + udp) != 0xFFFF


def plain_frame(number: int, octets: int, port: int = 7) -> bytes:
    """A UDP frame without a stamp, of ``octets`` without FCS, that carries its number."""
    payload = struct.pack(">I", number).ljust(octets - 42, b"w")
    udp = struct.pack(">HHHH", 4000, port, 8 + len(payload), 0) + payload
    head = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        0,
        20 + len(udp),
        0,
        0x4000,
        64,
        _UDP,
        0,
        b"\xc6\x12\0\1",
        b"\xc6\x13\0\1",
    )
    total = 0xFFFF ^ ones_sum(head)
    ip = head[:10] + struct.pack(">H", total) + head[12:]
    return b"\x02\x57\x52\0\0\2\x02\x57\x52\0\0\1" + struct.pack(">H", _IPV4) + ip + udp
