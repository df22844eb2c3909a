# SPDX-License-Identifier: BSD-3-Clause
"""Headers and payload to octets: the engine's template, and what varies in it from frame to frame.

The engine knows no protocol (docs/design/0002-engine-interface.md, STREAM): it gets one complete
frame at the greatest length, windows whose values change (`wirerate.plan.windows`), length fields,
and checksums with the octets they cover. What is automatic in a plan (lengths, next headers,
checksums, the port's address) is resolved here; what comes out the same in every frame is part of
the template, so the engine does not write it again. Used by `wirerate.plan.compile`; pure.
Sources: RFC 1071 (checksum), RFC 768, 9293, 8200 section 8.1 (pseudo-headers).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.fields import (
    Checksum,
    Fixed,
    Length,
    NeighborMac,
    NextHeader,
    Octets,
    PortMac,
    Values,
)
from wirerate.plan.windows import VALUES_MAX, cut, value_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.fields import Field, Header, Pattern
    from wirerate.plan.model import Payload

STAMP_OCTETS = 16
"""Of the stamp at the end of each frame of a measured flow (docs/design/0005-measurement.md)."""

FIELDS_MAX = 128
LENGTH_FIELDS_MAX = 16
CHECKSUMS_MAX = 16
"""Most of each in one STREAM (engine/config/config_limits.h)."""

_LENGTH_FIELD_BITS = (8, 16, 32)
#: Where the addresses stand in an IP header: offset and octets of both, octets of one.
_ADDRESSES = {"ipv4": (12, 8, 4), "ipv6": (8, 32, 16)}


@dataclass(frozen=True)
class Layout:
    """The frame part of a STREAM: ``template`` without FCS at the greatest length; see 0002."""

    template: bytes
    fields: list[dict[str, Any]]
    length_fields: list[dict[str, int]]
    checksums: list[dict[str, Any]]


@dataclass(frozen=True)
class _Sum:
    """A checksum and where it stands: ``header`` is its header's place in the stack."""

    header: int
    offset: int
    path: str
    content: Checksum


@dataclass
class _Draft:
    """A layout in the making.

    ``lengths`` are those of one period without FCS, a single one when all are equal; ``least`` and
    ``greatest`` of them; ``offsets`` those of the headers; ``varying`` the octets [from, to) that
    are not the same in every frame.
    """

    headers: Sequence[Header]
    lengths: Sequence[int]
    least: int
    greatest: int
    mac: bytes
    offsets: list[int] = field(default_factory=list)
    fields: list[dict[str, Any]] = field(default_factory=list)
    length_fields: list[dict[str, int]] = field(default_factory=list)
    sums: list[_Sum] = field(default_factory=list)
    varying: list[tuple[int, int]] = field(default_factory=list)


def lay_out(
    headers: Sequence[Header],
    payload: Payload,
    lengths: Sequence[int],
    mac: bytes,
    *,
    stamped: bool = False,
) -> Layout:
    """Lay headers and payload out in frames of ``lengths`` [octets, without FCS].

    ``lengths`` are those of one period, a single one when all are equal, none too short for the
    headers; ``mac`` is the sending port's. ``stamped``: zeros stand where the stamp will be, which
    adds up to what they do, so that checksums over it stay right. Raises PlanError at the field
    concerned.
    """
    draft = _Draft(headers, lengths, min(lengths), max(lengths), mac)
    frame = bytearray()
    for index, header in enumerate(headers):
        draft.offsets.append(len(frame))
        frame += _header(draft, index, header)
    stamp = bytes(STAMP_OCTETS) if stamped else b""
    frame += payload_octets(payload, draft.greatest - len(frame) - len(stamp)) + stamp
    checksums = _checksums(draft, frame)
    _check_number(headers, "varying fields", len(draft.fields), FIELDS_MAX)
    _check_number(headers, "length fields", len(draft.length_fields), LENGTH_FIELDS_MAX)
    _check_number(headers, "checksums", len(checksums), CHECKSUMS_MAX)
    return Layout(bytes(frame), draft.fields, draft.length_fields, checksums)


@lru_cache(maxsize=64)
def payload_octets(payload: Payload, octets: int) -> bytes:
    """The first ``octets`` of a payload; those of a shorter one are its beginning."""
    if payload.kind == "fixed":
        pattern = payload.pattern or b"\0"
        times = -(-octets // len(pattern)) if payload.repeat else 1
        return (pattern * times).ljust(octets, b"\0")[:octets]
    down = payload.kind.startswith("decrement")
    if payload.kind.endswith("byte"):
        period = bytes(range(255, -1, -1) if down else range(256))
        return (period * (octets // 256 + 1))[:octets]
    words = octets // 2 + 1
    numbers = range(0xFFFF, 0xFFFF - words, -1) if down else range(words)
    return struct.pack(f"!{words}H", *numbers)[:octets]


def internet_checksum(data: bytes | bytearray, add: int = 0) -> int:
    """RFC 1071: the complement of the ones' complement sum of 16-bit words and ``add``."""
    if len(data) % 2:
        data = bytes(data) + b"\0"
    # 2^16 is 1 modulo 2^16 - 1, so the octets as one number leave the sum of their words.
    total = int.from_bytes(data, "big") + add
    return 0xFFFF if total == 0 else 0xFFFF - (total % 0xFFFF or 0xFFFF)


def _check_number(headers: Sequence[Header], what: str, number: int, most: int) -> None:
    if number > most:
        place = headers[0].path.rpartition("[")[0]
        raise PlanError(
            f"{place}: {number} {what} in a frame, but the engine takes at most {most}; let fewer "
            "of them vary, or set some to values"
        )


def _header(draft: _Draft, index: int, header: Header) -> bytes:
    """The octets of a header in frame 0, checksums zero; what varies goes into the draft."""
    value = 0
    bit = start = draft.offsets[index] * 8
    for part in header.fields:
        content, bits = part.content, part.bits
        if isinstance(content, Fixed):
            number = content.value
        elif isinstance(content, Octets):
            number = int.from_bytes(content.data, "big")
        else:
            number = _resolved(draft, index, part, bit)
        value = value << bits | number
        bit += bits
    return value.to_bytes((bit - start) // 8, "big")


def _resolved(draft: _Draft, index: int, part: Field, bit: int) -> int:
    """What frame 0 has in a field whose content is automatic or varies."""
    content = part.content
    header = draft.headers[index]
    path = f"{header.path}.{part.name}"
    if isinstance(content, NextHeader):
        return _next_header(draft, index, content)
    if isinstance(content, PortMac):
        return int.from_bytes(draft.mac, "big")
    if isinstance(content, Checksum):
        draft.sums.append(_Sum(index, bit // 8, path, content))
        return 0
    if isinstance(content, Length):
        return _length(draft, draft.offsets[index] + content.less, bit, part.bits, path)
    assert not isinstance(content, NeighborMac | Octets)
    return _pattern(draft, content, bit, part.bits, path)


def _next_header(draft: _Draft, index: int, content: NextHeader) -> int:
    if index + 1 == len(draft.headers):
        return content.otherwise
    kind = draft.headers[index + 1].kind
    numbers = content.numbers
    return numbers.get(kind, numbers.get(kind.partition(".")[0], content.otherwise))


def _pattern(draft: _Draft, pattern: Pattern, bit: int, bits: int, path: str) -> int:
    value = 0
    for piece in cut(pattern, bit, bits, path):
        value |= value_at(piece.pattern, piece.bits, 0) << (bit + bits - piece.bit - piece.bits)
        if not isinstance(piece.pattern, Fixed):
            draft.fields.append(piece.field)
            draft.varying.append((piece.bit // 8, (piece.bit + piece.bits + 7) // 8))
    return value


def _length(draft: _Draft, less: int, bit: int, bits: int, path: str) -> int:
    """A length at the greatest frame; a length field, or a list of values where that cannot be."""
    lengths = draft.lengths
    least, greatest = draft.least - less, draft.greatest - less
    if least < 0 or greatest >> bits:
        wrong = least if least < 0 else greatest
        raise PlanError(
            f"{path}: the length comes to {wrong}, which {bits} bits do not hold; choose another "
            "frame size, or set the length to a value"
        )
    if len(lengths) == 1:
        return greatest
    if bits in _LENGTH_FIELD_BITS and bit % 8 == 0 and less >= 0:
        draft.length_fields.append({"offset": bit // 8, "octets": bits // 8, "less": less})
        draft.varying.append((bit // 8, (bit + bits) // 8))
        return greatest
    if len(lengths) > VALUES_MAX:
        raise PlanError(
            f"{path}: with {len(lengths):,} frame sizes in turn this length cannot follow them; "
            f"use at most {VALUES_MAX:,}, or set the length to a value"
        )
    _pattern(draft, Values(tuple(length - less for length in lengths)), bit, bits, path)
    return greatest


def _checksums(draft: _Draft, frame: bytearray) -> list[dict[str, Any]]:
    """Store all checksums in the template; return those that the engine has to follow.

    From the innermost header outward: what a checksum covers is then complete before it.
    """
    checksums = []
    for entry in sorted(draft.sums, key=lambda entry: -entry.header):
        checksum = _checksum(draft, entry)
        _store(frame, checksum)
        if _varies(draft, checksum):
            checksums.append(checksum)
            draft.varying.append((entry.offset, entry.offset + 2))
    return checksums


def _checksum(draft: _Draft, entry: _Sum) -> dict[str, Any]:
    content = entry.content
    offset = draft.offsets[entry.header]
    ranges: list[list[int | None]] = [[offset, None]]
    add, less = 0, None
    if content.scope == "header":
        ranges = [[offset, draft.headers[entry.header].octets]]
    elif content.scope == "pseudo":
        ranges = [*_addresses(draft, entry), [offset, None]]
        add, less = content.protocol, offset
    if content.bad:
        add += 1  # one too many in the sum: never right, whatever the frame holds
    checksum: dict[str, Any] = {"offset": entry.offset, "ranges": ranges, "add": add}
    if less is not None:
        checksum["add_length_less"] = less
    return checksum | {"udp": content.zero_as_ones}


def _addresses(draft: _Draft, entry: _Sum) -> list[list[int | None]]:
    """Where the addresses of the pseudo-header stand: in the nearest IP header before."""
    final = None
    for index in range(entry.header - 1, -1, -1):
        header = draft.headers[index]
        if header.final_destination is not None:
            final = final or draft.offsets[index] + _offset_of(header, header.final_destination)
        if header.kind in _ADDRESSES:
            at, both, one = _ADDRESSES[header.kind]
            at += draft.offsets[index]
            return [[at, both]] if final is None else [[at, one], [final, one]]
    raise PlanError(
        f"{entry.path}: the checksum covers addresses of an IP header, but none stands before; "
        "add ipv4 or ipv6, or set the checksum to a custom value"
    )


def _offset_of(header: Header, name: str) -> int:
    """Octets of a header before the field called name."""
    bits = 0
    for part in header.fields:
        if part.name == name:
            break
        bits += part.bits
    return bits // 8


def _store(frame: bytearray, checksum: dict[str, Any]) -> None:
    """Compute a checksum over the template, as the engine does over every frame."""
    add = checksum["add"]
    if "add_length_less" in checksum:
        add += len(frame) - checksum["add_length_less"]
    data = b"".join(
        frame[at:] if octets is None else frame[at : at + octets]
        for at, octets in checksum["ranges"]
    )
    value = internet_checksum(data, add)
    if checksum["udp"] and value == 0:
        value = 0xFFFF
    frame[checksum["offset"] : checksum["offset"] + 2] = value.to_bytes(2, "big")


def _varies(draft: _Draft, checksum: dict[str, Any]) -> bool:
    """Tell whether a checksum covers what is not the same in every frame."""
    for at, octets in checksum["ranges"]:
        if octets is None and len(draft.lengths) > 1:
            return True
        end = draft.greatest if octets is None else at + octets
        if any(start < end and at < stop for start, stop in draft.varying):
            return True
    return False
