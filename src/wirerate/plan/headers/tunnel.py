# SPDX-License-Identifier: BSD-3-Clause
"""Headers that carry other frames or packets: vxlan, gre, gtpv1, gtpv2.

Widths from the documents that each layout names, defaults from OTG 1.62; the lengths of GTP are
automatic where OTG's default is 0. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wirerate.plan.fields import Checksum, Field, Fixed, Header, Length, NextHeader
from wirerate.plan.headers.numbers import ETHER_TYPES
from wirerate.plan.headers.table import (
    Layout,
    Row,
    constant,
    decode_layout,
    decode_rows,
    renamed,
)

if TYPE_CHECKING:
    from wirerate.plan.reader import Reader

_ZERO = Fixed(0)
_GTP_FLAGS = ("e_flag", "s_flag", "pn_flag")
_EXTENSION_UNITS = 2
_EXTENSION_UNITS_MAX = 4
"""Contents of 14 octets: what fits a field of 128 bits."""

VXLAN = Layout(
    "vxlan",
    "RFC 7348 section 5",
    (
        Row("flags", 8, Fixed(0x08)),
        Row("reserved0", 24, _ZERO),
        Row("vni", 24, _ZERO, automatic=_ZERO),
        Row("reserved1", 8, _ZERO),
    ),
)

GRE = Layout(
    "gre",
    "RFC 2784 section 2",
    (
        Row("checksum_present", 1, _ZERO),
        Row("reserved0", 12, _ZERO),
        Row("version", 3, _ZERO),
        Row("protocol", 16, NextHeader(ETHER_TYPES, 0x0800), plain=0x0800),
        Row("checksum", 16, Checksum("message"), when=("checksum_present",)),
        Row("reserved1", 16, _ZERO, when=("checksum_present",)),
    ),
)

GTPV1_EXTENSION = Layout(
    "gtpv1.extension_headers",
    "3GPP TS 29.281 section 5.2.1",
    (
        Row("extension_length", 8, Fixed(_EXTENSION_UNITS), note="in 4 octets, 1 to 4"),
        Row("contents", 48, _ZERO, note="32 bits for each of extension_length, less 16"),
        Row("next_extension_header", 8, _ZERO),
    ),
)


def _decode_extensions(reader: Reader) -> list[Field]:
    """The extension headers of GTPv1; the length of each decides how wide its contents are."""
    fields: list[Field] = []
    length, contents, following = GTPV1_EXTENSION.rows
    for index, child in enumerate(reader.children("extension_headers")):
        octets = decode_rows(child, (length,))
        units = constant(
            child, length.name, octets[0].content, "it decides how wide the contents are"
        )
        if not 1 <= units <= _EXTENSION_UNITS_MAX:
            child.fail(length.name, f"{units} is not between 1 and {_EXTENSION_UNITS_MAX}")
        octets += decode_rows(child, (replace(contents, bits=32 * units - 16), following))
        child.done()
        fields += renamed(octets, f"extension_headers[{index}].")
    return fields


GTPV1 = Layout(
    "gtpv1",
    "3GPP TS 29.060 section 6, TS 29.281 section 5.1",
    (
        Row("version", 3, Fixed(1)),
        Row("protocol_type", 1, Fixed(1)),
        Row("reserved", 1, _ZERO),
        Row("e_flag", 1, _ZERO),
        Row("s_flag", 1, _ZERO),
        Row("pn_flag", 1, _ZERO),
        Row("message_type", 8, _ZERO),
        Row("message_length", 16, Length(less=8)),
        Row("teid", 32, _ZERO),
        Row("squence_number", 16, _ZERO, when=_GTP_FLAGS, note="OTG spells it so"),
        Row("n_pdu_number", 8, _ZERO, when=_GTP_FLAGS),
        Row("next_extension_header_type", 8, _ZERO, when=_GTP_FLAGS),
        Row("extension_headers", 0, _ZERO, parts=_decode_extensions, note="list; needs e_flag"),
    ),
)

GTPV2 = Layout(
    "gtpv2",
    "3GPP TS 29.274 section 5.1",
    (
        Row("version", 3, Fixed(2)),
        Row("piggybacking_flag", 1, _ZERO),
        Row("teid_flag", 1, _ZERO),
        Row("spare1", 3, _ZERO),
        Row("message_type", 8, _ZERO),
        Row("message_length", 16, Length(less=4)),
        Row("teid", 32, _ZERO, when=("teid_flag",)),
        Row("sequence_number", 24, _ZERO),
        Row("spare2", 8, _ZERO),
    ),
)


def decode_gtpv1(reader: Reader) -> Header:
    """A GTPv1 header; extension headers need the flag that announces them."""
    header = decode_layout(reader, GTPV1)
    flag = next(field for field in header.fields if field.name == "e_flag")
    if reader.sequence("extension_headers") and flag.content != Fixed(1):
        reader.fail("extension_headers", "they are only there when e_flag is 1; set that")
    return header
