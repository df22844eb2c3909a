# SPDX-License-Identifier: BSD-3-Clause
"""LACPDUs: IEEE 802.1AX-2014 section 6.4.2, of 110 octets with the Slow Protocols subtype.

OTG has no subtype; its choice ``lacpdu`` means 1 (IEEE 802.3 annex 57A). Type and length of every
TLV may be given, for tests of receivers; the layout stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.headers.nested import (
    assemble,
    hex_octets,
    number,
    octets,
    pattern,
)
from wirerate.plan.headers.table import child_or_empty

if TYPE_CHECKING:
    from wirerate.plan.fields import Field, Header
    from wirerate.plan.reader import Reader

_SUBTYPE_LACP = 1
_COLLECTOR_RESERVED = 12
_TERMINATOR_RESERVED = 50
# From the most to the least significant bit of the state octet.
_STATE_BITS = (
    "expired",
    "defaulted",
    "distributing",
    "collecting",
    "synchronization",
    "aggregation",
    "timeout",
    "activity",
)


def decode(reader: Reader) -> Header:
    """The header of OTG's ``lacp``. Raises PlanError."""
    reader.choice(("lacpdu",), "lacpdu")
    subtype = number(reader, "subtype", 8, _SUBTYPE_LACP)
    version = pattern(reader, "version", 8, 1)
    unit = child_or_empty(reader, "lacpdu")
    fields = [
        subtype,
        version,
        *_system(unit, "actor", 1),
        *_system(unit, "partner", 2),
        *_collector(child_or_empty(unit, "collector")),
        *_terminator(child_or_empty(unit, "terminator")),
    ]
    unit.done()
    reader.done()
    return assemble("lacp", reader, fields)


def _system(unit: Reader, who: str, type_: int) -> list[Field]:
    """The TLV of the actor or the partner, 20 octets."""
    tlv = child_or_empty(unit, who)
    state = child_or_empty(tlv, f"{who}_state")
    fields = [
        pattern(tlv, "type", 8, type_),
        pattern(tlv, "length", 8, 20),
        pattern(tlv, "system_priority", 16, 0),
        pattern(tlv, "system_id", 48, 0, kind="mac"),
        pattern(tlv, "key", 16, 0),
        pattern(tlv, "port_priority", 16, 0),
        pattern(tlv, "port_number", 16, 0),
        *(pattern(state, bit, 1, 0) for bit in _STATE_BITS),
        pattern(tlv, "reserved", 24, 0),
    ]
    state.done()
    tlv.done()
    return fields


def _collector(tlv: Reader) -> list[Field]:
    """16 octets."""
    reserved = hex_octets(
        tlv,
        "reserved",
        "00" * _COLLECTOR_RESERVED,
        least=_COLLECTOR_RESERVED,
        most=_COLLECTOR_RESERVED,
    )
    fields = [
        pattern(tlv, "type", 8, 3),
        pattern(tlv, "length", 8, 16),
        pattern(tlv, "max_delay", 16, 0),
        octets(tlv, "reserved", reserved),
    ]
    tlv.done()
    return fields


def _terminator(tlv: Reader) -> list[Field]:
    """2 octets, and those that fill the LACPDU up."""
    reserved = hex_octets(
        tlv,
        "reserved",
        "00" * _TERMINATOR_RESERVED,
        least=_TERMINATOR_RESERVED,
        most=_TERMINATOR_RESERVED,
    )
    fields = [
        pattern(tlv, "type", 8, 0),
        pattern(tlv, "length", 8, 0),
        octets(tlv, "reserved", reserved),
    ]
    tlv.done()
    return fields
