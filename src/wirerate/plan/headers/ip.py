# SPDX-License-Identifier: BSD-3-Clause
"""ipv4 and ipv6.

Widths from the documents that each layout names, defaults from OTG 1.62. Pure.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from wirerate.plan.fields import Checksum, Content, Field, Fixed, Header, Length, NextHeader
from wirerate.plan.headers.ip_options import decode_options
from wirerate.plan.headers.numbers import IP_PROTOCOLS
from wirerate.plan.headers.patterns import decode_pattern
from wirerate.plan.headers.table import (
    Layout,
    Row,
    child_or_empty,
    constant,
    decode_layout,
    decode_object,
    decode_rows,
)
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from wirerate.plan.reader import Reader

_ZERO = Fixed(0)
_NO_OPTIONS = Fixed(5)
_HEX = re.compile("(?:0[xX])?([0-9A-Fa-f]{1,32})")
_LOCATOR_BITS_MAX = 112
_IPV6_OCTETS = 40

DSCP = Layout(
    "ipv4.priority.dscp",
    "RFC 2474 section 3, RFC 3168 section 5",
    (Row("priority.dscp.phb", 6, _ZERO), Row("priority.dscp.ecn", 2, _ZERO)),
)

TOS = Layout(
    "ipv4.priority.tos",
    "RFC 1349 section 3",
    (
        Row("priority.tos.precedence", 3, _ZERO),
        Row("priority.tos.delay", 1, _ZERO),
        Row("priority.tos.throughput", 1, _ZERO),
        Row("priority.tos.reliability", 1, _ZERO),
        Row("priority.tos.monetary", 1, _ZERO),
        Row("priority.tos.unused", 1, _ZERO),
    ),
)

RAW = Layout("ipv4.priority", "RFC 791 section 3.1", (Row("priority.raw", 8, _ZERO),))


def _decode_priority(reader: Reader) -> list[Field]:
    """The octet that was TOS and is DSCP and ECN, as whichever of them the plan has."""
    if "priority" not in reader:
        reader.raw("priority", None)
        return [row.usual for row in DSCP.rows]
    priority = child_or_empty(reader, "priority")
    branch = priority.choice(("raw", "tos", "dscp"), "dscp")
    if branch == "raw":
        fields = decode_rows(priority, RAW.rows)
    else:
        fields = decode_object(priority, branch, (TOS if branch == "tos" else DSCP).rows)
    priority.done()
    return fields


IPV4 = Layout(
    "ipv4",
    "RFC 791 section 3.1",
    (
        Row("version", 4, Fixed(4)),
        Row("header_length", 4, _NO_OPTIONS, automatic=_NO_OPTIONS, note="counts the options"),
        Row("priority", 8, _ZERO, parts=_decode_priority, note="choice of raw, tos, dscp"),
        Row("total_length", 16, Length(), plain=46),
        Row("identification", 16, _ZERO),
        Row("reserved", 1, _ZERO),
        Row("dont_fragment", 1, _ZERO),
        Row("more_fragments", 1, _ZERO),
        Row("fragment_offset", 13, _ZERO, note="OTG stops at 31"),
        Row("time_to_live", 8, Fixed(64)),
        Row("protocol", 8, NextHeader(IP_PROTOCOLS, 61), plain=61),
        Row("header_checksum", 16, Checksum("header")),
        Row("src", 32, _ZERO, "ipv4"),
        Row("dst", 32, _ZERO, "ipv4"),
        Row("options", 0, _ZERO, parts=decode_options, note="list, padded to 4 octets"),
    ),
)

IPV6 = Layout(
    "ipv6",
    "RFC 8200 section 3",
    (
        Row("version", 4, Fixed(6)),
        Row("traffic_class", 8, _ZERO),
        Row("flow_label", 20, _ZERO),
        Row("payload_length", 16, Length(less=_IPV6_OCTETS)),
        Row("next_header", 8, NextHeader(IP_PROTOCOLS, 59), plain=59),
        Row("hop_limit", 8, Fixed(64)),
        Row("src", 128, _ZERO, "ipv6"),
        Row("dst", 128, _ZERO, "ipv6", note="or dst_usids"),
    ),
)

USIDS = Layout(
    "ipv6.dst_usids",
    "RFC 9800 section 3; they stand in dst, zeros behind them",
    (
        Row("locator", 128, _ZERO, "ipv6"),
        Row("locator_length", 8, Fixed(32), note="bits of the locator that count, 1 to 112"),
        Row("usids", 0, _ZERO, "hex", note="list; 4 bits for each digit, not all zero"),
    ),
)


def decode_ipv4(reader: Reader) -> Header:
    """An IPv4 header; an automatic header_length counts the options."""
    header = decode_layout(reader, IPV4)
    if "options" not in reader:
        return header
    words = Fixed(header.octets // 4)
    # The very object stands for automatic: a 5 that the plan gives is another one and stays.
    fields = (
        replace(field, content=words) if field.content is _NO_OPTIONS else field
        for field in header.fields
    )
    return replace(header, fields=tuple(fields))


def decode_ipv6(reader: Reader) -> Header:
    """An IPv6 header; compressed segments replace the destination."""
    usids = reader.child("dst_usids")
    if usids is None:
        return decode_layout(reader, IPV6)
    if "dst" in reader:
        reader.fail(None, "dst and dst_usids are both there; only one of them can be meant")
    return decode_layout(reader, IPV6, {"dst": _decode_usids(usids)})


def _decode_usids(reader: Reader) -> Content:
    """The address: bits of the locator, the segments in order, zeros."""
    why = "wirerate puts the segments together once for all frames"
    locator_row, length_row, _ = USIDS.rows
    if locator_row.key not in reader:
        reader.fail(locator_row.key, "it is missing")
    locator = constant(
        reader,
        locator_row.key,
        decode_pattern(reader, locator_row.key, 128, _ZERO, kind=locator_row.kind),
        why,
    )
    used = constant(
        reader,
        length_row.key,
        decode_pattern(reader, length_row.key, length_row.bits, length_row.default),
        why,
    )
    if not 1 <= used <= _LOCATOR_BITS_MAX:
        reader.fail(length_row.key, f"{used} is not between 1 and {_LOCATOR_BITS_MAX}")
    address = locator >> (128 - used)
    for index, text in enumerate(reader.sequence("usids")):
        match = _HEX.fullmatch(text) if isinstance(text, str) else None
        if match is None or int(match[1], 16) == 0:
            reader.fail(f"usids[{index}]", f"{shown(text)} is not hexadecimal digits, one not 0")
        used += 4 * len(match[1])
        if used > 128:
            reader.fail(f"usids[{index}]", "it does not fit 128 bits; take one out")
        address = address << 4 * len(match[1]) | int(match[1], 16)
    reader.done()
    return Fixed(address << (128 - used))
