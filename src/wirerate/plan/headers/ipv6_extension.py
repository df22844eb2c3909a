# SPDX-License-Identifier: BSD-3-Clause
"""IPv6 extension headers: the segment routing header, RFC 8754 section 2, with uSIDs (RFC 9800).

OTG has no other one (``routing`` with ``segment_routing`` or ``segment_routing_usid``), so that the
kind of all of them is ``ipv6_extension_header`` and the number before it 43. Of itself,
``segments_left`` is as the model says: with ``segment_routing`` the number of segments (the first
one to visit is the IPv6 destination and not in the list: RFC 8754 section 4.1.1), with
``segment_routing_usid`` the index of the first container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.fields import Field, Fixed, NextHeader, Steps, Values
from wirerate.plan.headers.nested import (
    assemble,
    auto_pattern,
    bounds,
    number,
    octets,
    octets_of,
    pattern,
)
from wirerate.plan.headers.numbers import IP_PROTOCOLS
from wirerate.plan.headers.patterns import decode_pattern, parse_number
from wirerate.plan.headers.table import child_or_empty

if TYPE_CHECKING:
    from wirerate.plan.fields import Content, Header
    from wirerate.plan.reader import Reader

_NO_NEXT_HEADER = 59  # RFC 8200 section 4.7
_ROUTING_TYPE = 4
_PAD_TLV = 4
_PAD_OCTETS = 6  # with type and length, 8: the list of segments is a multiple of 8 already
_SEGMENTS_MAX = 127  # header extension length is 2 per segment, at most 255
_LOCATOR_BITS_MAX = 112


def decode(reader: Reader) -> Header:
    """The header of OTG's ``ipv6_extension_header``. Raises PlanError."""
    reader.choice(("routing",), "routing")
    routing = child_or_empty(reader, "routing")
    chosen = routing.choice(("segment_routing", "segment_routing_usid"), "segment_routing")
    table = child_or_empty(routing, chosen)
    segments = _segments(table, with_usids=chosen == "segment_routing_usid")
    left = _segments_left(table, len(segments), reduced=chosen == "segment_routing")
    specific = [
        number(table, "routing_type", 8, _ROUTING_TYPE),
        left,
        auto_pattern(table, "last_entry", 8, len(segments) - 1),
        *_flags(child_or_empty(table, "flags"), with_usids=chosen == "segment_routing_usid"),
        pattern(table, "tag", 16, 0),
        *segments,
        *_padding(table),
    ]
    table.done()
    routing.done()
    units = (octets_of(specific) + 2) // 8 - 1
    if units > 0xFF:
        table.fail("segment_list", "the header has more than 2048 octets; use fewer segments")
    next_header = NextHeader(IP_PROTOCOLS, _NO_NEXT_HEADER)
    fields = [
        Field(
            reader.place("next_header"),
            8,
            decode_pattern(reader, "next_header", 8, next_header, plain=_NO_NEXT_HEADER),
        ),
        auto_pattern(reader, "hdr_ext_len", 8, units),
        *specific,
    ]
    reader.done()
    final = segments[0].name if _is_positive(table, left.content) else None
    return assemble("ipv6_extension_header", reader, fields, final)


def _segments_left(table: Reader, segments: int, *, reduced: bool) -> Field:
    return auto_pattern(table, "segments_left", 8, segments if reduced else segments - 1)


def _is_positive(table: Reader, left: Content) -> bool:
    """True where segments are left in every frame, False where in none. Raises PlanError."""
    least, greatest = bounds(left, 8)
    if least == 0 < greatest:
        table.fail(
            "segments_left",
            "it is 0 in some frames only, so that the address in a transport checksum would "
            "change; make two flows of it",
        )
    return greatest > 0


def _flags(flags: Reader, *, with_usids: bool) -> list[Field]:
    """The octet of flags: U P O A and 4 unused bits; O is bit 2 (RFC 9259 section 2)."""
    if with_usids:
        fields = [
            number(flags, "unused", 2, 0),
            pattern(flags, "oam", 1, 0),
            number(flags, "unused_low", 5, 0),
        ]
    else:
        fields = [
            number(flags, "unused", 1, 0),
            pattern(flags, "protected", 1, 0),
            pattern(flags, "oam", 1, 0),
            pattern(flags, "alert", 1, 0),
            number(flags, "unused_low", 4, 0),
        ]
    flags.done()
    return fields


def _padding(table: Reader) -> list[Field]:
    """The padding TLV (RFC 8754 section 2.1.1.2), where it is asked for."""
    tlv = table.child("pad_tlv")
    if tlv is None:
        return []
    type_ = auto_pattern(tlv, "type", 8, _PAD_TLV, plain=_PAD_TLV)
    length = auto_pattern(tlv, "length", 8, _PAD_OCTETS)
    if not isinstance(length.content, Fixed):
        tlv.fail("length", "the octets of padding cannot change from frame to frame; give a value")
    padding = length.content.value
    if padding % 8 != _PAD_OCTETS:
        tlv.fail(
            "length", f"{padding} octets do not fill the header up to 8; give 6, 14, 22 or so on"
        )
    tlv.done()
    return [type_, length, octets(tlv, "padding", bytes(padding))]


def _segments(table: Reader, *, with_usids: bool) -> list[Field]:
    """The list of segments, the last one to visit first."""
    entries = table.children("segment_list")
    if not 1 <= len(entries) <= _SEGMENTS_MAX:
        table.fail("segment_list", f"{len(entries)} segments; give 1 to {_SEGMENTS_MAX}")
    if with_usids:
        return [_container(entry) for entry in entries]
    segments = []
    for entry in entries:
        segments.append(pattern(entry, "segment", 128, 0, kind="ipv6"))
        entry.done()
    return segments


def _container(entry: Reader) -> Field:
    """A segment that is a container of uSIDs (RFC 9800 sections 4.1 and 4.2)."""
    locator = pattern(entry, "locator", 128, 0, kind="ipv6").content
    length = pattern(entry, "locator_length", 8, 32).content
    if not isinstance(length, Fixed) or length.value > _LOCATOR_BITS_MAX:
        entry.fail("locator_length", f"it must be one value, of 0 to {_LOCATOR_BITS_MAX} bits")
    usids = _usids(entry)
    entry.done()
    if length.value == 0:
        content: Content = Fixed(_packed(entry, usids))
    else:
        content = _behind_locator(entry, locator, length.value, usids)
    return Field(entry.path, 128, content)


def _usids(entry: Reader) -> list[tuple[int, int]]:
    """Value and bits of every uSID; the digits say how wide it is."""
    usids = []
    for index, text in enumerate(entry.sequence("usids")):
        place = f"{entry.place('usids')}[{index}]"
        value = parse_number(text, place, 128, "hex")
        usids.append((value, 4 * len(text.lower().removeprefix("0x"))))
    if not usids:
        entry.fail("usids", "it is missing or empty; give one uSID at least")
    return usids


def _packed(entry: Reader, usids: list[tuple[int, int]]) -> int:
    """Without a locator: as many uSIDs of one width as fit, the last in the lowest bits."""
    bits = usids[0][1]
    slots = 128 // bits
    if len(usids) != slots or any(width != bits for _, width in usids):
        entry.fail(
            "usids",
            f"without a locator there must be {slots} uSIDs of {bits} bits, and there are "
            f"{len(usids)}; fill up with zeros, and write all of them with {bits // 4} digits",
        )
    return _joined(usids)


def _behind_locator(
    entry: Reader, locator: Content, locator_bits: int, usids: list[tuple[int, int]]
) -> Content:
    """Locator, uSIDs and zeros: the pattern of the locator with the uSIDs in its low bits."""
    low = 128 - locator_bits
    room = low - sum(width for _, width in usids)
    if room < 0:
        entry.fail("usids", f"with the locator they have {128 - room} bits; a segment has 128")
    if any(value == 0 for value, _ in usids):
        entry.fail("usids", "a uSID of zero ends the container; leave it out")
    tail = _joined(usids) << room

    def whole(value: int) -> int:
        return (value >> low << low) | tail

    if isinstance(locator, Fixed):
        return Fixed(whole(locator.value))
    if isinstance(locator, Values):
        return Values(tuple(map(whole, locator.values)))
    if not isinstance(locator, Steps) or locator.step % (1 << low):
        entry.fail("locator", f"its step changes bits behind the first {locator_bits}; use another")
    return Steps(whole(locator.first), locator.step, locator.count)


def _joined(usids: list[tuple[int, int]]) -> int:
    joined = 0
    for value, width in usids:
        joined = joined << width | value
    return joined
