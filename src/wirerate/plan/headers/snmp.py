# SPDX-License-Identifier: BSD-3-Clause
"""SNMPv2c messages (RFC 1901, RFC 3416) in BER (ITU-T X.690, RFC 3417 section 8).

BER has no fields of fixed places: every length around a value depends on it. So that a pattern can
vary a value all the same, its integer has as many content octets in every frame as the field is
wide, and a zero octet before them where an unsigned value would otherwise look negative. Values
that do not vary have as few octets as possible.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wirerate.plan.fields import Field, Fixed
from wirerate.plan.headers.nested import (
    assemble,
    bounds,
    hex_octets,
    octets,
    octets_of,
    pattern,
    text_octets,
)
from wirerate.plan.headers.table import child_or_empty
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirerate.plan.fields import Header
    from wirerate.plan.reader import Reader

_INTEGER, _OCTET_STRING, _NULL, _OBJECT_IDENTIFIER, _SEQUENCE = 0x02, 0x04, 0x05, 0x06, 0x30
# RFC 2578 section 7.1: application types.
_IP_ADDRESS, _COUNTER32, _UNSIGNED32, _TIMETICKS, _OPAQUE, _COUNTER64 = (
    0x40, 0x41, 0x42, 0x43, 0x44, 0x46,
)  # fmt: skip
_PDU_TAGS = {
    "get_request": 0xA0,
    "get_next_request": 0xA1,
    "response": 0xA2,
    "set_request": 0xA3,
    "get_bulk_request": 0xA5,
    "inform_request": 0xA6,
    "snmpv2_trap": 0xA7,
    "report": 0xA8,
}
_ERROR_STATUS = {
    "no_error": 0,
    "too_big": 1,
    "no_such_name": 2,
    "bad_value": 3,
    "read_only": 4,
    "gen_err": 5,
    "no_access": 6,
    "wrong_type": 7,
    "wrong_length": 8,
    "wrong_encoding": 9,
    "wrong_value": 10,
    "no_creation": 11,
    "inconsistent_value": 12,
    "resource_unavailable": 13,
    "commit_failed": 14,
    "undo_failed": 15,
    "authorization_error": 16,
    "not_writable": 17,
    "inconsistent_name": 18,
}
_TEXT_OCTETS_MAX = 10000  # of OTG's model
# RFC 2578 section 3.5: at most 128 parts, each below 2^32.
_OID_PARTS_MAX = 128
_OID_PART_MAX = (1 << 32) - 1
_OID = re.compile(r"\.?[0-9]{1,10}(?:\.[0-9]{1,10})+")
# RFC 3416 section 3: max-bindings; error index, non-repeaters and max-repetitions are 0 to it.
_COUNT_BITS = 31


def decode(reader: Reader) -> Header:
    """The header of OTG's ``snmpv2c``. Raises PlanError."""
    version = _unsigned(reader, "version", _INTEGER, 8, 1)
    community = text_octets(reader, "community", "community", most=_TEXT_OCTETS_MAX)
    data = child_or_empty(reader, "data")
    chosen = data.choice(tuple(_PDU_TAGS))
    pdu = _pdu(child_or_empty(data, chosen), chosen)
    data.done()
    message = [*version, _string(reader, "community", _OCTET_STRING, community), *pdu]
    fields = _within(reader, _SEQUENCE, message)
    reader.done()
    return assemble("snmpv2c", reader, fields)


def _pdu(pdu: Reader, chosen: str) -> list[Field]:
    """A PDU, or a BulkPDU (RFC 3416 section 3)."""
    fields = _signed(pdu, "request_id")
    if chosen == "get_bulk_request":
        fields += _count(pdu, "non_repeaters") + _count(pdu, "max_repetitions")
    else:
        status = _ERROR_STATUS[pdu.one_of("error_status", tuple(_ERROR_STATUS), "no_error")]
        fields.append(_string(pdu, "error_status", _INTEGER, bytes([status])))
        fields += _count(pdu, "error_index")
    bindings = [field for entry in pdu.children("variable_bindings") for field in _binding(entry)]
    fields.append(_head(pdu, "variable_bindings", _SEQUENCE, octets_of(bindings)))
    fields += bindings
    pdu.done()
    return _within(pdu, _PDU_TAGS[chosen], fields)


def _binding(entry: Reader) -> list[Field]:
    """A name and its value."""
    name = _string(
        entry, "object_identifier", _OBJECT_IDENTIFIER, _identifier(entry, "object_identifier")
    )
    value = child_or_empty(entry, "value")
    chosen = value.choice(tuple(_VALUES), "no_value")
    if "no_value" in value:
        value.fail("no_value", "it has no content; write choice: no_value")
    fields = [name, *_VALUES[chosen](value, chosen)]
    value.done()
    entry.done()
    return _within(entry, _SEQUENCE, fields)


def _string_value(value: Reader, key: str) -> list[Field]:
    text = child_or_empty(value, key)
    if text.choice(("ascii", "raw"), "ascii") == "ascii":
        data = text_octets(text, "ascii", "ascii", most=_TEXT_OCTETS_MAX)
    else:
        data = hex_octets(text, "raw", "00", most=_TEXT_OCTETS_MAX)
    text.done()
    return [_string(value, key, _OCTET_STRING, data)]


def _address_value(value: Reader, key: str) -> list[Field]:
    address = pattern(value, key, 32, 0, kind="ipv4")
    return [_head(value, key, _IP_ADDRESS, 4), address]


def _opaque_value(value: Reader, key: str) -> list[Field]:
    """Opaque: RFC 2578 section 7.1.9."""
    return [_string(value, key, _OPAQUE, hex_octets(value, key, "00", most=_TEXT_OCTETS_MAX))]


def _signed(reader: Reader, key: str) -> list[Field]:
    """An INTEGER of 32 bits in two's complement."""
    field = pattern(reader, key, 32, 0, kind="signed")
    if isinstance(field.content, Fixed):
        value = field.content.value
        return [_integer(reader, key, _INTEGER, value - (value >> 31 << 32))]
    return [_head(reader, key, _INTEGER, 4), field]


def _unsigned(reader: Reader, key: str, tag: int, bits: int, default: int) -> list[Field]:
    """An integer that is not negative, ``bits`` (whole octets) wide where it varies."""
    field = pattern(reader, key, bits, default)
    if isinstance(field.content, Fixed):
        return [_integer(reader, key, tag, field.content.value)]
    if bounds(field.content, bits)[1] >> (bits - 1):
        sign = Field(f"{field.name}.sign", 8, Fixed(0))
        return [_head(reader, key, tag, bits // 8 + 1), sign, field]
    return [_head(reader, key, tag, bits // 8), field]


def _count(reader: Reader, key: str) -> list[Field]:
    """An INTEGER of 0…max-bindings; where it varies, a sign bit of zero and 31 bits."""
    field = pattern(reader, key, _COUNT_BITS, 0)
    if isinstance(field.content, Fixed):
        return [_integer(reader, key, _INTEGER, field.content.value)]
    return [_head(reader, key, _INTEGER, 4), Field(f"{field.name}.sign", 1, Fixed(0)), field]


def _integer(reader: Reader, key: str, tag: int, value: int) -> Field:
    """A constant integer in as few octets as its two's complement has (X.690 section 8.3)."""
    magnitude = value if value >= 0 else ~value
    size = magnitude.bit_length() // 8 + 1
    return _string(reader, key, tag, value.to_bytes(size, "big", signed=True))


def _string(reader: Reader, key: str, tag: int, content: bytes) -> Field:
    """A constant of any type: tag, length, content."""
    return octets(reader, key, bytes([tag]) + _length(len(content)) + content)


def _head(reader: Reader, key: str, tag: int, length: int) -> Field:
    """Tag and length of what follows."""
    return octets(reader, f"{key}.tag", bytes([tag]) + _length(length))


def _within(reader: Reader, tag: int, fields: list[Field]) -> list[Field]:
    """The fields in an envelope of their own."""
    return [_head(reader, "envelope", tag, octets_of(fields)), *fields]


def _length(length: int) -> bytes:
    """A length in the definite form (X.690 section 8.1.3)."""
    if length < 0x80:
        return bytes([length])
    data = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(data)]) + data


def _identifier(reader: Reader, key: str) -> bytes:
    """An object identifier such as 1.3.6.1.2.1 (X.690 section 8.19)."""
    text = reader.text(key, "0.1")
    if not _OID.fullmatch(text):
        reader.fail(key, f"{shown(text)} is not an object identifier such as 1.3.6.1.2.1")
    parts = [int(part) for part in text.lstrip(".").split(".")]
    if len(parts) > _OID_PARTS_MAX or max(parts) > _OID_PART_MAX:
        reader.fail(key, f"it may have {_OID_PARTS_MAX} parts, each at most {_OID_PART_MAX}")
    if parts[0] > 2 or (parts[0] < 2 and parts[1] > 39):
        reader.fail(key, f"{shown(text)} must start with 0, 1 or 2; behind 0 and 1 come 0 to 39")
    return b"".join(map(_base128, [40 * parts[0] + parts[1], *parts[2:]]))


def _base128(part: int) -> bytes:
    digits = [part & 0x7F]
    while part := part >> 7:
        digits.append(part & 0x7F | 0x80)
    return bytes(reversed(digits))


# The branches of a variable binding's value.
_VALUES: dict[str, Callable[[Reader, str], list[Field]]] = {
    "no_value": lambda value, key: [_string(value, key, _NULL, b"")],
    "integer_value": _signed,
    "string_value": _string_value,
    "object_identifier_value": lambda value, key: [
        _string(value, key, _OBJECT_IDENTIFIER, _identifier(value, key))
    ],
    "ip_address_value": _address_value,
    "counter_value": lambda value, key: _unsigned(value, key, _COUNTER32, 32, 0),
    "timeticks_value": lambda value, key: _unsigned(value, key, _TIMETICKS, 32, 0),
    "arbitrary_value": _opaque_value,
    "big_counter_value": lambda value, key: _unsigned(value, key, _COUNTER64, 64, 0),
    "unsigned_integer_value": lambda value, key: _unsigned(value, key, _UNSIGNED32, 32, 0),
}
