# SPDX-License-Identifier: BSD-3-Clause
"""The options of an IPv4 header: RFC 791 section 3.1, RFC 2113 (router alert). Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wirerate.plan.fields import Field, Fixed, Octets
from wirerate.plan.headers.table import Layout, Row, child_or_empty, decode_rows, renamed
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from wirerate.plan.reader import Reader

_OPTIONS_OCTETS_MAX = 40
_ROUTER_ALERT = Octets(bytes.fromhex("94040000"))
_END_OF_OPTIONS = Octets(b"\0")
_TIMESTAMP_TYPE = 68
_TIMESTAMP_OCTETS = 4
_POINTER = 5
_ZERO = Fixed(0)
_HEX = re.compile("(?:[0-9A-Fa-f]{2})*")
_FORMATS = {
    "timestamps": 0,
    "address_and_timestamps": 1,
    "prespecified_address_and_timestamps": 3,
}

CUSTOM_TYPE = Layout(
    "ipv4.options.custom",
    "RFC 791 section 3.1",
    (
        Row("custom.type.copied_flag", 1, _ZERO),
        Row("custom.type.option_class", 2, _ZERO),
        Row("custom.type.option_number", 5, _ZERO),
    ),
)

TIMESTAMP_OVERFLOW = Row("timestamp.overflow", 4, _ZERO)
TIMESTAMP_ADDRESS = Row("address", 32, _ZERO, "ipv4")
TIMESTAMP_TIME = Row("timestamp", 32, _ZERO)


def decode_options(reader: Reader) -> list[Field]:
    """The options in order, filled up with zeros to whole 32-bit words."""
    fields: list[Field] = []
    for index, option in enumerate(reader.children("options")):
        fields += renamed(_decode_option(option), f"options[{index}].")
        option.done()
    octets = sum(field.bits for field in fields) // 8
    if octets > _OPTIONS_OCTETS_MAX:
        reader.fail("options", f"{octets} octets; {_OPTIONS_OCTETS_MAX} is the most IPv4 can have")
    if octets % 4:
        fields.append(_octets("options.padding", bytes(-octets % 4)))
    return fields


def _decode_option(option: Reader) -> list[Field]:
    branch = option.choice(
        ("router_alert", "custom", "timestamp", "end_of_options"), "router_alert"
    )
    if branch == "custom":
        return _decode_custom(child_or_empty(option, "custom"))
    if branch == "timestamp":
        return _decode_timestamp(child_or_empty(option, "timestamp"))
    content = _ROUTER_ALERT if branch == "router_alert" else _END_OF_OPTIONS
    return [_octets(branch, content.data)]


def _decode_custom(reader: Reader) -> list[Field]:
    """Type, length and value; the length counts all three where the plan does not set it."""
    kind = child_or_empty(reader, "type")
    fields = decode_rows(kind, CUSTOM_TYPE.rows)
    kind.done()
    text = reader.text("value", "0000")
    if not _HEX.fullmatch(text):
        reader.fail("value", f"{shown(text)} is not octets, two hexadecimal digits each")
    data = bytes.fromhex(text)
    length = _decode_auto(reader, "length", 2 + len(data), (0, 255))
    fields.append(Field("custom.length", 8, Fixed(length)))
    if data:
        fields.append(_octets("custom.value", data))
    reader.done()
    return fields


def _decode_timestamp(reader: Reader) -> list[Field]:
    """RFC 791's internet timestamp with the places that the plan lists."""
    entries, flag = _decode_entries(child_or_empty(reader, "format"))
    octets = _TIMESTAMP_OCTETS + sum(field.bits for field in entries) // 8
    pointer = _decode_auto(reader, "pointer", _POINTER, (_POINTER, _OPTIONS_OCTETS_MAX))
    fields = [
        Field("timestamp.type", 8, Fixed(_TIMESTAMP_TYPE)),
        Field("timestamp.length", 8, Fixed(octets & 0xFF)),
        Field("timestamp.pointer", 8, Fixed(pointer)),
        *decode_rows(reader, (TIMESTAMP_OVERFLOW,)),
        Field("timestamp.format", 4, Fixed(flag)),
        *entries,
    ]
    reader.done()
    return fields


def _decode_entries(reader: Reader) -> tuple[list[Field], int]:
    """The list of the format that is there, and the flag that stands for it."""
    branch = reader.choice(tuple(_FORMATS))
    rows = (TIMESTAMP_TIME,) if branch == "timestamps" else (TIMESTAMP_ADDRESS, TIMESTAMP_TIME)
    fields: list[Field] = []
    for index, child in enumerate(reader.children(branch)):
        fields += renamed(decode_rows(child, rows), f"timestamp.format.{branch}[{index}].")
        child.done()
    reader.done()
    return fields, _FORMATS[branch]


def _decode_auto(reader: Reader, key: str, automatic: int, limits: tuple[int, int]) -> int:
    """OTG's choice between ``auto`` and one ``value``."""
    child = child_or_empty(reader, key)
    branch = child.choice(("auto", "value"), "auto")
    number = child.integer("value", *limits, default=limits[0]) if branch == "value" else automatic
    child.done()
    return int(number)


def _octets(name: str, data: bytes) -> Field:
    return Field(name, 8 * len(data), Octets(data))
