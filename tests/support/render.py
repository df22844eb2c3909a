# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a STREAM, by docs/design/0002-engine-interface.md alone; slow, plain, and shared.

Neither the engine nor the code that makes streams has a part in it: what the two must agree on is
read from the contract once more. Numbers may be negative 64-bit ones there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD = 2**64
_STAMP_OCTETS = 16


def render(stream: Mapping[str, Any], i: int) -> bytes:
    """Frame ``i`` of a stream that is made of a template, without FCS; its stamp all zeros."""
    template = bytes.fromhex(stream["template"])
    lengths = stream.get("lengths") or [len(template)]
    frame = bytearray(template[: lengths[i % len(lengths)]])
    if stream.get("stamp") is not None:
        frame[-_STAMP_OCTETS:] = bytes(_STAMP_OCTETS)
    for part in stream.get("length_fields", ()):
        value = len(frame) - part["less"]
        assert 0 <= value < 256 ** part["octets"], part
        frame[part["offset"] : part["offset"] + part["octets"]] = value.to_bytes(
            part["octets"], "big"
        )
    for part in stream.get("fields", ()):
        _write(frame, part, field_value(part, i))
    for part in stream.get("checksums", ()):
        at = part["offset"]
        frame[at : at + 2] = _checksum(frame, part).to_bytes(2, "big")
    return bytes(frame)


def field_value(field: Mapping[str, Any], i: int) -> int:
    """What frame ``i`` carries in a FIELD, modulo 2^64."""
    if "values" in field:
        value = field["values"][i % len(field["values"])]
    elif "random" in field:
        random = field["random"]
        least, most = random["min"] % _WORD, random["max"] % _WORD
        assert least <= most, field
        hashed = splitmix64(random["seed"], i % random["count"])
        value = least + (hashed * (most - least + 1) >> 64)
    else:
        value = field["first"] + field["step"] * (i % field["count"])
    return int(value % _WORD)


def splitmix64(seed: int, k: int) -> int:
    """Output number ``k`` of the generator started at ``seed``."""
    z = (seed + (k + 1) * 0x9E3779B97F4A7C15) % _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % _WORD
    return z ^ (z >> 31)


def ones_complement_sum(data: bytes | bytearray) -> int:
    """Add 16-bit words one by one, as RFC 1071 describes it."""
    total = 0
    for at in range(0, len(data), 2):
        total += data[at] << 8 | (data[at + 1] if at + 1 < len(data) else 0)
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _write(frame: bytearray, field: Mapping[str, Any], value: int) -> None:
    octets = field["octets"]
    bits, shift = field.get("bits", 8 * octets), field.get("shift", 0)
    assert 1 <= octets <= 8, field
    assert 1 <= bits <= 8 * octets - shift, field
    mask = (2**bits - 1) << shift
    at = field["offset"]
    assert at + octets <= len(frame), field
    window = int.from_bytes(frame[at : at + octets], "big")
    window = window & ~mask | value << shift & mask
    frame[at : at + octets] = window.to_bytes(octets, "big")


def _checksum(frame: bytearray, checksum: Mapping[str, Any]) -> int:
    at = checksum["offset"]
    zeroed = bytearray(frame)
    zeroed[at : at + 2] = bytes(2)
    total = checksum["add"]
    assert 0 <= total <= 0xFFFF, checksum
    less = checksum.get("add_length_less")
    if less is not None:
        total += len(frame) - less
    for number, (offset, octets) in enumerate(checksum["ranges"], 1):
        last = number == len(checksum["ranges"])
        assert last or (octets is not None and octets % 2 == 0), checksum
        end = len(frame) if octets is None else offset + octets
        assert end <= len(frame), checksum
        total += ones_complement_sum(zeroed[offset:end])
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    value = ~total & 0xFFFF
    return 0xFFFF if checksum["udp"] and value == 0 else value
