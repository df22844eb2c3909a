# SPDX-License-Identifier: BSD-3-Clause
"""Capture files for tests, made number by number: what the program reads is not judged by itself.

Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ETHERNET = 1
LINUX_SLL = 113
SNAPLEN = 262144

Frame = tuple[int, bytes, "int | None"]
"""Time [ns since 1970], captured octets, octets on the wire (None: as captured)."""


def frame_octets(length: int, number: int = 0) -> bytes:
    """An Ethernet frame without FCS that is different for each number: to 02:00:00:00:00:02."""
    header = bytes.fromhex("020000000002 020000000001 88b5") + number.to_bytes(4, "big")
    return (header + bytes((number + i) % 256 for i in range(length)))[:length]


def pcap_octets(
    frames: Sequence[Frame],
    *,
    nanoseconds: bool = True,
    big_endian: bool = False,
    link_type: int = ETHERNET,
) -> bytes:
    """A pcap file; with microseconds, times are cut to whole ones."""
    order = ">" if big_endian else "<"
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    parts = [struct.pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, SNAPLEN, link_type)]
    for time_ns, octets, wire in frames:
        seconds, fraction = divmod(time_ns, 10**9)
        fraction = fraction if nanoseconds else fraction // 1000
        length = len(octets) if wire is None else wire
        parts += [struct.pack(f"{order}IIII", seconds, fraction, len(octets), length), octets]
    return b"".join(parts)


def write_pcap(
    path: Path,
    frames: Sequence[Frame],
    *,
    nanoseconds: bool = True,
    big_endian: bool = False,
    link_type: int = ETHERNET,
) -> Path:
    """Write them as a pcap file and return its path."""
    octets = pcap_octets(
        frames, nanoseconds=nanoseconds, big_endian=big_endian, link_type=link_type
    )
    path.write_bytes(octets)
    return path


def _padded(octets: bytes) -> bytes:
    return octets + bytes(-len(octets) % 4)


class _Blocks:
    """Blocks of pcapng in one byte order."""

    def __init__(self, *, big_endian: bool) -> None:
        self._order = ">" if big_endian else "<"
        self.octets = b""

    def pack(self, form: str, *values: int) -> bytes:
        return struct.pack(self._order + form, *values)

    def add(self, kind: int, body: bytes) -> None:
        n = 12 + len(body)
        self.octets += self.pack("II", kind, n) + body + self.pack("I", n)

    def option(self, code: int, value: bytes) -> bytes:
        return self.pack("HH", code, len(value)) + _padded(value)


def pcapng_octets(
    frames: Sequence[tuple[int, Frame]],
    *,
    interfaces: Sequence[str] = ("p0",),
    nanoseconds: bool = True,
    big_endian: bool = False,
    link_type: int = ETHERNET,
) -> bytes:
    """A pcapng file; each frame comes with the index of its interface."""
    blocks = _Blocks(big_endian=big_endian)
    blocks.add(0x0A0D0D0A, blocks.pack("IHHq", 0x1A2B3C4D, 1, 0, -1))
    for name in interfaces:
        options = blocks.option(2, name.encode())
        options += blocks.option(9, bytes([9 if nanoseconds else 6])) + blocks.option(0, b"")
        blocks.add(1, blocks.pack("HHI", link_type, 0, SNAPLEN) + options)
    for index, (time_ns, octets, wire) in frames:
        time = time_ns if nanoseconds else time_ns // 1000
        length = len(octets) if wire is None else wire
        head = blocks.pack("IIIII", index, time >> 32, time % 2**32, len(octets), length)
        blocks.add(6, head + _padded(octets))
    return blocks.octets


def write_pcapng(
    path: Path,
    frames: Sequence[tuple[int, Frame]],
    *,
    interfaces: Sequence[str] = ("p0",),
    nanoseconds: bool = True,
    big_endian: bool = False,
    link_type: int = ETHERNET,
) -> Path:
    """Write them as a pcapng file and return its path."""
    octets = pcapng_octets(
        frames,
        interfaces=interfaces,
        nanoseconds=nanoseconds,
        big_endian=big_endian,
        link_type=link_type,
    )
    path.write_bytes(octets)
    return path
