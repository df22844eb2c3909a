# SPDX-License-Identifier: BSD-3-Clause
"""Reads capture files number by number, so that what the program writes is not judged by libpcap.

Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng; little-endian ones, as made here.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FRACTIONS = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}
"""Nanoseconds of a fraction's unit, by the magic number."""
_SECTION, _INTERFACE, _ENHANCED = 0x0A0D0D0A, 1, 6
_NAME, _TSRESOL = 2, 9
_NANOSECONDS = 9


def read_pcap(path: Path) -> list[tuple[int, bytes]]:
    """Times [ns] and octets of all frames; fails on anything that is not whole."""
    data = path.read_bytes()
    magic, major, minor, _, _, _, link_type = struct.unpack_from("<IHHiIII", data)
    assert (major, minor, link_type) == (2, 4, 1), path
    unit, at = _FRACTIONS[magic], 24
    frames: list[tuple[int, bytes]] = []
    while at < len(data):
        seconds, fraction, captured, length = struct.unpack_from("<IIII", data, at)
        octets = data[at + 16 : at + 16 + captured]
        assert len(octets) == captured == length, f"{path}: frame {len(frames)}"
        frames.append((seconds * 10**9 + fraction * unit, octets))
        at += 16 + captured
    return frames


@dataclass
class Pcapng:
    """The interfaces' names, and interface, time [ns] and octets of all frames."""

    interfaces: list[str] = field(default_factory=list)
    frames: list[tuple[int, int, bytes]] = field(default_factory=list)

    def of(self, name: str) -> list[tuple[int, bytes]]:
        """Times and octets of one interface's frames."""
        index = self.interfaces.index(name)
        return [(time_ns, octets) for at, time_ns, octets in self.frames if at == index]


def read_pcapng(path: Path) -> Pcapng:
    """Read a file of one section with nanoseconds; fails on anything that is not whole."""
    return parse_pcapng(path.read_bytes())


def parse_pcapng(data: bytes) -> Pcapng:
    """As read_pcapng, from octets."""
    found, at = Pcapng(), 0
    assert struct.unpack_from("<I4xI", data) == (_SECTION, 0x1A2B3C4D)
    while at < len(data):
        kind, octets = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + octets - 4]
        assert struct.unpack_from("<I", data, at + octets - 4) == (octets,)
        if kind == _INTERFACE:
            assert struct.unpack_from("<H", body) == (1,), "Ethernet"
            options = _options(body[8:])
            assert options[_TSRESOL] == bytes([_NANOSECONDS])
            found.interfaces.append(options[_NAME].decode())
        elif kind == _ENHANCED:
            index, high, low, captured, length = struct.unpack_from("<IIIII", body)
            assert captured == length
            found.frames.append((index, high << 32 | low, body[20 : 20 + captured]))
        at += octets
    return found


def _options(data: bytes) -> dict[int, bytes]:
    options: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(data):
        code, octets = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        options[code] = data[at + 4 : at + 4 + octets]
        at += 4 + octets + -octets % 4
    return options
