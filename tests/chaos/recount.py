# SPDX-License-Identifier: BSD-3-Clause
"""The frames of a file that a pcap port wrote, counted without any library."""

from __future__ import annotations

import struct
from collections import Counter
from typing import TYPE_CHECKING, Any

from chaos.stamp import damaged, udp_port

if TYPE_CHECKING:
    from pathlib import Path

_HEAD_OCTETS = 24
_RECORD = struct.Struct("<IIII")


def recount(file: Path) -> dict[str, Any]:
    """Whole frames in all and by UDP port; ``torn``: the last one is cut off."""
    octets = file.read_bytes()
    at = _HEAD_OCTETS
    ports: Counter[int] = Counter()
    bad = 0
    while at + _RECORD.size <= len(octets):
        _, _, length, _ = _RECORD.unpack_from(octets, at)
        at += _RECORD.size + length
        if at > len(octets):
            break
        frame = octets[at - length : at]
        ports[udp_port(frame)] += 1
        bad += damaged(frame)
    return {
        "came": sum(ports.values()),
        "ports": {str(port): count for port, count in ports.items()},
        "damaged": bad,
        "torn": at != len(octets),
    }
