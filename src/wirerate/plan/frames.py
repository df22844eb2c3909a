# SPDX-License-Identifier: BSD-3-Clause
"""Flags to frames: template and varying fields of ``wirerate perf``, as the engine's STREAM.

Python knows protocols, the engine only octets (docs/design/0002-engine-interface.md): a stream is
frame 0 complete, which octets change from frame to frame, and which checksums follow from them.
Sources: RFC 791, 768, 9293 (headers), RFC 1071 (checksum), RFC 2544 appendix C.2.2 (addresses).
Called by the perf command; pure.

What is in a frame, and why:

* Ethernet addresses are locally administered (02:…): they belong to no manufacturer, so they cannot
  be a real station's, as pktperf's 00:aa:bb:… could. 57:52 is "WR"; then 00 for the source, 01 for
  the destination, and the port's index. A DUT that routes wants its own address: ``dst_mac``.
* Sources are 198.18.0.1 onward, the destination is 198.19.0.1: both in 198.18.0.0/15, reserved for
  benchmarks by RFC 2544 appendix C.2.2. (pktperf sends 192.18.0.1, which is somebody's.)
* Destination port 9, discard (RFC 863): a host that gets such a frame answers with nothing but, at
  most, an ICMP error. Source ports start at 1024, above the well-known ones.
* DF with identification 0 (RFC 6864: atomic datagrams), TTL 64. TCP is a bare ACK: a SYN would fill
  the DUT's connection table, a FIN or RST would clear it.
* The payload counts octets 00 01 02 … from its start: a shifted or cut frame shows in any dump.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from enum import Enum
from typing import TypedDict

from wirerate.errors import PlanError
from wirerate.units import FRAME_SIZE_MAX, FRAME_SIZE_MIN, frame_len_no_fcs

FLOWS_MAX = 65536
"""Most flows of a stream: see `make_stream`."""

_ETHERNET_OCTETS = 14
_IPV4_OCTETS = 20
_UDP_OCTETS = 8
_TCP_OCTETS = 20
_IPV4 = _ETHERNET_OCTETS
_L4 = _ETHERNET_OCTETS + _IPV4_OCTETS
_IPV4_CHECKSUM = _IPV4 + 10
_IPV4_SRC = _IPV4 + 12
_L4_SRC_PORT = _L4
_ADDRESSES = (_IPV4_SRC, 8)
"""Both IPv4 addresses: the part of the pseudo-header that lies in the frame."""

_SRC_IPV4 = int(ipaddress.IPv4Address("198.18.0.1"))
_DST_IPV4 = int(ipaddress.IPv4Address("198.19.0.1"))
_SRC_PORT = 1024
_DST_PORT = 9
_SRC_PORTS = 65536 - _SRC_PORT
_DONT_FRAGMENT = 0x4000
_TTL = 64
_TCP_ACK = 0x10
_PORT_INDEX_MAX = 0xFFFF


class Protocol(Enum):
    """Layer 4 of the frames; the value is the IPv4 protocol number."""

    UDP = 17
    TCP = 6


class FieldWalk(TypedDict):
    """STREAM.fields[]: frame i carries ``first + step * (i mod count)``, big-endian."""

    offset: int
    octets: int
    first: int
    step: int
    count: int


class Checksum(TypedDict):
    """STREAM.checksums[]: RFC 1071 over ``ranges`` [offset, octets] plus ``add``."""

    offset: int
    ranges: list[list[int]]
    add: int
    udp: bool


class Stream(TypedDict):
    """The engine's STREAM: ``fps`` None = unpaced, ``frames`` None = no limit."""

    name: str
    template: str
    fields: list[FieldWalk]
    checksums: list[Checksum]
    fps: float | None
    frames: int | None


@dataclass(frozen=True)
class FrameSpec:
    """What the frames of one port look like.

    ``frame_size`` [octets, with FCS] 64…16384; ``flows`` distinct 5-tuples, 1…65,536; ``port``
    index for the Ethernet addresses; ``src_mac``/``dst_mac`` (``02:57:52:00:00:00``) replace the
    ones made up from it.
    """

    frame_size: int = FRAME_SIZE_MIN
    protocol: Protocol = Protocol.UDP
    flows: int = 1
    port: int = 0
    src_mac: str | None = None
    dst_mac: str | None = None


def make_stream(
    name: str, spec: FrameSpec, *, fps: float | None = None, frames: int | None = None
) -> Stream:
    """Make the engine's STREAM that sends exactly ``spec.flows`` distinct 5-tuples in turn.

    ``fps`` is the rate of the whole stream [fps], None = as fast as the device takes them;
    ``frames`` ends it, None = never. Raises PlanError for what `FrameSpec` does not allow.
    """
    _check(spec)
    return {
        "name": name,
        "template": build_frame(spec).hex(),
        "fields": _fields(spec.flows),
        "checksums": _checksums(spec),
        "fps": fps,
        "frames": frames,
    }


def build_frame(spec: FrameSpec) -> bytes:
    """Build frame 0 of ``spec`` without FCS, lengths and checksums right. Raises PlanError."""
    _check(spec)
    ip_octets = frame_len_no_fcs(spec.frame_size) - _ETHERNET_OCTETS
    frame = bytearray(
        _ethernet(spec) + _ipv4(spec.protocol, ip_octets) + _layer4(spec.protocol, ip_octets)
    )
    for checksum in _checksums(spec):
        _store(frame, checksum)
    return bytes(frame)


def internet_checksum(data: bytes | bytearray, add: int = 0) -> int:
    """RFC 1071: the complement of the ones' complement sum of 16-bit words and ``add``."""
    padded = bytes(data) + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded)) + add
    while total > 0xFFFF:  # carries fold back into 16 bits
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _check(spec: FrameSpec) -> None:
    if not FRAME_SIZE_MIN <= spec.frame_size <= FRAME_SIZE_MAX:
        raise PlanError(
            f"frame size {spec.frame_size}: not between {FRAME_SIZE_MIN} and {FRAME_SIZE_MAX} "
            "octets with FCS",
        )
    if not 1 <= spec.flows <= FLOWS_MAX:
        raise PlanError(
            f"flows {spec.flows:,}: not between 1 and {FLOWS_MAX:,}; every flow is a ready frame "
            "in memory, and the "
            "sources 198.18.0.1 onward must end before the destination's 198.19.0.1; ask for fewer "
            "flows",
        )
    if not 0 <= spec.port <= _PORT_INDEX_MAX:
        raise PlanError(f"port index {spec.port}: not between 0 and {_PORT_INDEX_MAX}")


def _ethernet(spec: FrameSpec) -> bytes:
    src = (
        _mac(spec.src_mac)
        if spec.src_mac
        else bytes.fromhex("02575200") + struct.pack("!H", spec.port)
    )
    dst = (
        _mac(spec.dst_mac)
        if spec.dst_mac
        else bytes.fromhex("02575201") + struct.pack("!H", spec.port)
    )
    return dst + src + b"\x08\x00"


def _mac(text: str) -> bytes:
    try:
        octets = bytes(int(octet, 16) for octet in text.split(":"))
    except ValueError:
        octets = b""
    if len(octets) != 6:
        raise PlanError(f"Ethernet address {text!r}: write six octets in hex, 02:57:52:00:00:01")
    return octets


def _ipv4(protocol: Protocol, ip_octets: int) -> bytes:
    return struct.pack(
        "!BBHHHBBHII",
        0x45,
        0,
        ip_octets,
        0,
        _DONT_FRAGMENT,
        _TTL,
        protocol.value,
        0,
        _SRC_IPV4,
        _DST_IPV4,
    )


def _layer4(protocol: Protocol, ip_octets: int) -> bytes:
    l4_octets = ip_octets - _IPV4_OCTETS
    if protocol is Protocol.UDP:
        header = struct.pack("!HHHH", _SRC_PORT, _DST_PORT, l4_octets, 0)
    else:
        header = struct.pack(
            "!HHIIBBHHH", _SRC_PORT, _DST_PORT, 1, 1, 5 << 4, _TCP_ACK, 0xFFFF, 0, 0
        )
    return header + bytes(octet & 0xFF for octet in range(l4_octets - len(header)))


def _fields(flows: int) -> list[FieldWalk]:
    """Vary address and port in lock-step; the least common multiple of their counts is ``flows``.

    The address takes a new value in every frame, so it alone makes the flows distinct. The port may
    therefore repeat, but only after a divisor of ``flows`` frames, else the period, and the number
    of flows, would grow.
    """
    if flows == 1:
        return []
    fields: list[FieldWalk] = [
        {
            "offset": _IPV4_SRC,
            "octets": 4,
            "first": _SRC_IPV4,
            "step": 1,
            "count": flows,
        }
    ]
    ports = next(count for count in range(min(flows, _SRC_PORTS), 0, -1) if flows % count == 0)
    if ports > 1:
        fields.append(
            {
                "offset": _L4_SRC_PORT,
                "octets": 2,
                "first": _SRC_PORT,
                "step": 1,
                "count": ports,
            }
        )
    return fields


def _checksums(spec: FrameSpec) -> list[Checksum]:
    l4_octets = frame_len_no_fcs(spec.frame_size) - _L4
    is_udp = spec.protocol is Protocol.UDP
    ipv4: Checksum = {
        "offset": _IPV4_CHECKSUM,
        "ranges": [[_IPV4, _IPV4_OCTETS]],
        "add": 0,
        "udp": False,
    }
    layer4: Checksum = {
        "offset": _L4 + (6 if is_udp else 16),
        "ranges": [list(_ADDRESSES), [_L4, l4_octets]],
        # The rest of the pseudo-header (RFC 768, RFC 9293 §3.1): protocol and length.
        "add": spec.protocol.value + l4_octets,
        "udp": is_udp,
    }
    return [ipv4, layer4]


def _store(frame: bytearray, checksum: Checksum) -> None:
    struct.pack_into("!H", frame, checksum["offset"], 0)
    data = b"".join(frame[offset : offset + octets] for offset, octets in checksum["ranges"])
    value = internet_checksum(data, checksum["add"])
    # RFC 768: a zero UDP checksum on the wire would mean that there is none.
    struct.pack_into(
        "!H",
        frame,
        checksum["offset"],
        0xFFFF if checksum["udp"] and value == 0 else value,
    )
