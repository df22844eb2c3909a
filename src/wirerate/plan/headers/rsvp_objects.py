# SPDX-License-Identifier: BSD-3-Clause
"""The objects of an RSVP Path message: RFC 2205 appendix A, RFC 3209 section 4, RFC 2210.

An object is its length, class number and C-Type, and contents of whole 32-bit words. Called by
`wirerate.plan.headers.rsvp`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.plan.headers.nested import (
    hex_octets,
    length_field,
    number,
    octets,
    octets_of,
    pattern,
    text_octets,
)
from wirerate.plan.headers.table import child_or_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wirerate.plan.fields import Field
    from wirerate.plan.reader import Reader

_HEAD_OCTETS = 4
_NAME_OCTETS_MAX = 254  # of OTG's model
_CUSTOM_OCTETS_MAX = 65525  # likewise
_FLOAT_MAX = 3.4028234663852886e38  # greatest finite single of IEEE 754
_SESSION_FLAGS = {
    "local_protection_desired": 0x01,
    "label_recording_desired": 0x02,
    "se_style_desired": 0x04,
}
_ROUTE_FLAGS = {"local_protection_available": 0x01, "local_protection_in_use": 0x02}


@dataclass(frozen=True)
class _Class:
    """A class of objects: its number, and its C-Types with what decodes their contents."""

    number: int
    types: Mapping[str, tuple[int, Callable[[Reader], list[Field]]]]


def decode_object(entry: Reader) -> list[Field]:
    """The fields of one of OTG's ``objects``. Raises PlanError."""
    class_num = child_or_empty(entry, "class_num")
    chosen = class_num.choice((*_CLASSES, "custom"))
    body = child_or_empty(class_num, chosen)
    fields = _custom(body) if chosen == "custom" else _of_class(body, _CLASSES[chosen])
    body.done()
    class_num.done()
    entry.done()
    return fields


def _of_class(body: Reader, class_: _Class) -> list[Field]:
    c_type = child_or_empty(body, "c_type")
    chosen = c_type.choice(tuple(class_.types), next(iter(class_.types)))
    type_, decode = class_.types[chosen]
    part = child_or_empty(c_type, chosen)
    contents = decode(part)
    part.done()
    c_type.done()
    return [
        _length(body, _HEAD_OCTETS + octets_of(contents)),
        number(body, "class_num", 8, class_.number),
        number(c_type, "c_type", 8, type_),
        *contents,
    ]


def _length(body: Reader, octets_: int) -> Field:
    return length_field(body, "length", 16, octets_, minimum=_HEAD_OCTETS, plain=_HEAD_OCTETS)


def _custom(body: Reader) -> list[Field]:
    """Any object: ``type`` is the class number, ``bytes`` the C-Type and the contents."""
    data = hex_octets(body, "bytes", "0000", least=1, most=_CUSTOM_OCTETS_MAX)
    size = _HEAD_OCTETS - 1 + len(data)
    length = _length(body, size)
    if size % 4 and child_or_empty(body, "length").choice(("auto", "value"), "auto") == "auto":
        body.fail(
            "bytes",
            f"with length and class the object has {size} octets, and objects are multiples of 4; "
            "give a C-Type and contents of 1, 5, 9 or so on octets, or a length",
        )
    return [length, pattern(body, "type", 8, 0), octets(body, "bytes", data)]


def _session(part: Reader) -> list[Field]:
    """RFC 3209 section 4.6.1.1."""
    extended = child_or_empty(part, "extended_tunnel_id")
    if extended.choice(("as_integer", "as_ipv4"), "as_integer") == "as_ipv4":
        identifier = pattern(extended, "as_ipv4", 32, 0, kind="ipv4")
    else:
        identifier = pattern(extended, "as_integer", 32, 0)
    extended.done()
    return [
        pattern(part, "ipv4_tunnel_end_point_address", 32, 0, kind="ipv4"),
        pattern(part, "reserved", 16, 0),
        pattern(part, "tunnel_id", 16, 1),
        identifier,
    ]


def _hop(part: Reader) -> list[Field]:
    """RFC 2205 section A.2."""
    return [
        pattern(part, "ipv4_address", 32, 0, kind="ipv4"),
        pattern(part, "logical_interface_handle", 32, 0),
    ]


def _time_values(part: Reader) -> list[Field]:
    """RFC 2205 section A.4; milliseconds."""
    return [pattern(part, "refresh_period_r", 32, 30000)]


def _label_request(part: Reader) -> list[Field]:
    """RFC 3209 section 4.2.1."""
    return [pattern(part, "reserved", 16, 0), pattern(part, "l3pid", 16, 0x0800)]


def _sender_template(part: Reader) -> list[Field]:
    """RFC 3209 section 4.6.2.1."""
    return [
        pattern(part, "ipv4_tunnel_sender_address", 32, 0, kind="ipv4"),
        pattern(part, "reserved", 16, 0),
        pattern(part, "lsp_id", 16, 1),
    ]


def _subobjects(part: Reader, makers: Mapping[str, Callable[[Reader], list[Field]]]) -> list[Field]:
    """The hops of a route, each as the maker of its type makes it; the first one is the default."""
    fields = []
    for entry in part.children("subobjects"):
        type_ = child_or_empty(entry, "type")
        chosen = type_.choice(tuple(makers), next(iter(makers)))
        hop = child_or_empty(type_, chosen)
        fields += makers[chosen](hop)
        hop.done()
        type_.done()
        entry.done()
    return fields


def _explicit_route(part: Reader) -> list[Field]:
    """RFC 3209 section 4.3."""
    return _subobjects(part, {"ipv4_prefix": _prefix_hop, "as_number": _as_hop})


def _prefix_hop(hop: Reader) -> list[Field]:
    """RFC 3209 section 4.3.3.2."""
    return [
        pattern(hop, "l_bit", 1, 0),
        number(hop, "type", 7, 1),
        length_field(hop, "length", 8, 8, plain=8),
        pattern(hop, "ipv4_address", 32, 0, kind="ipv4"),
        number(hop, "prefix", 8, hop.integer("prefix", 1, 32, 32)),
        number(hop, "reserved", 8, 0),
    ]


def _as_hop(hop: Reader) -> list[Field]:
    """RFC 3209 section 4.3.3.4."""
    return [
        pattern(hop, "l_bit", 1, 0),
        number(hop, "type", 7, 32),
        length_field(hop, "length", 8, 4, plain=4),
        number(hop, "as_number", 16, hop.integer("as_number", 0, 0xFFFF, 0)),
    ]


def _record_route(part: Reader) -> list[Field]:
    """RFC 3209 section 4.4."""
    return _subobjects(part, {"ipv4_address": _recorded_address, "label": _recorded_label})


def _recorded_address(hop: Reader) -> list[Field]:
    """RFC 3209 section 4.4.1.1."""
    return [
        number(hop, "type", 8, 1),
        length_field(hop, "length", 8, 8, plain=8),
        pattern(hop, "ipv4_address", 32, 0, kind="ipv4"),
        pattern(hop, "prefix_length", 8, 32),
        _flag(hop, _ROUTE_FLAGS),
    ]


def _recorded_label(hop: Reader) -> list[Field]:
    """RFC 3209 section 4.4.1.3."""
    label = child_or_empty(hop, "label")
    if label.choice(("as_integer", "as_hex"), "as_integer") == "as_integer":
        value = label.integer("as_integer", 0, (1 << 20) - 1, 16)
    else:
        value = int.from_bytes(hex_octets(label, "as_hex", "10", most=4), "big")
    label.done()
    return [
        number(hop, "type", 8, 3),
        length_field(hop, "length", 8, 8, plain=8),
        pattern(hop, "flags", 8, 1),
        pattern(hop, "c_type", 8, 1),
        number(hop, "label", 32, value),
    ]


def _session_attribute(part: Reader) -> list[Field]:
    """RFC 3209 section 4.7.1; the name is filled up with zeros to whole words."""
    name = text_octets(part, "session_name", most=_NAME_OCTETS_MAX)
    return [
        number(part, "setup_priority", 8, part.integer("setup_priority", 0, 7, 7)),
        number(part, "holding_priority", 8, part.integer("holding_priority", 0, 7, 7)),
        _flag(part, _SESSION_FLAGS),
        length_field(part, "name_length", 8, len(name)),
        octets(part, "session_name", name + bytes(-len(name) % 4)),
    ]


def _session_attribute_affinities(part: Reader) -> list[Field]:
    """RFC 3209 section 4.7.2."""
    filters = [
        octets(part, key, hex_octets(part, key, "00", most=4).rjust(4, b"\0"))
        for key in ("exclude_any", "include_any", "include_all")
    ]
    return [*filters, *_session_attribute(part)]


def _sender_tspec(part: Reader) -> list[Field]:
    """RFC 2210 section 3.1; lengths in 32-bit words."""
    return [
        pattern(part, "version", 4, 0),
        pattern(part, "reserved1", 12, 0),
        pattern(part, "overall_length", 16, 7),
        pattern(part, "service_header", 8, 1),
        pattern(part, "zero_bit", 1, 0),
        pattern(part, "reserved2", 7, 0),
        pattern(part, "length_of_service_data", 16, 6),
        pattern(part, "parameter_id_token_bucket_tspec", 8, 127),
        pattern(part, "parameter_127_flag", 8, 0),
        pattern(part, "parameter_127_length", 16, 5),
        _float(part, "token_bucket_rate"),
        _float(part, "token_bucket_size"),
        _float(part, "peak_data_rate"),
        pattern(part, "minimum_policed_unit", 32, 0),
        pattern(part, "maximum_packet_size", 32, 0),
    ]


def _float(part: Reader, key: str) -> Field:
    """A number of octets (per second), at least 0, as single of IEEE 754; may be infinite."""
    value = part.raw(key, 0.0)
    if value != math.inf:
        value = part.number(key, 0, _FLOAT_MAX, 0.0)
    return octets(part, key, struct.pack(">f", value))


def _flag(part: Reader, flags: Mapping[str, int]) -> Field:
    """OTG has one flag at a time, and the first where none is said."""
    object_ = child_or_empty(part, "flags")
    flag = object_.one_of("choice", tuple(flags), next(iter(flags)))
    object_.done()
    return number(part, "flags", 8, flags[flag])


_CLASSES = {
    "session": _Class(1, {"lsp_tunnel_ipv4": (7, _session)}),
    "rsvp_hop": _Class(3, {"ipv4": (1, _hop)}),
    "time_values": _Class(5, {"type_1": (1, _time_values)}),
    "explicit_route": _Class(20, {"type_1": (1, _explicit_route)}),
    "label_request": _Class(19, {"without_label_range": (1, _label_request)}),
    "session_attribute": _Class(
        207,
        {
            "lsp_tunnel": (7, _session_attribute),
            "lsp_tunnel_ra": (1, _session_attribute_affinities),
        },
    ),
    "sender_template": _Class(11, {"lsp_tunnel_ipv4": (7, _sender_template)}),
    "sender_tspec": _Class(12, {"int_serv": (2, _sender_tspec)}),
    "record_route": _Class(21, {"type_1": (1, _record_route)}),
}
