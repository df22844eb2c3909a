# SPDX-License-Identifier: BSD-3-Clause
"""What IP carries: udp, tcp, icmp, icmpv6, igmpv1.

Widths from the documents that each layout names, defaults from OTG 1.62; where its default would
make a wrong frame (UDP's length 0, TCP's data offset 0), the right number instead. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.fields import Checksum, Fixed, Header, Length
from wirerate.plan.headers.numbers import IP_PROTOCOLS
from wirerate.plan.headers.table import Layout, Row, decode_object

if TYPE_CHECKING:
    from wirerate.plan.reader import Reader

_ZERO = Fixed(0)

UDP = Layout(
    "udp",
    "RFC 768",
    (
        Row("src_port", 16, _ZERO),
        Row("dst_port", 16, _ZERO),
        Row("length", 16, Length()),
        Row("checksum", 16, Checksum("pseudo", IP_PROTOCOLS["udp"], zero_as_ones=True)),
    ),
)

TCP = Layout(
    "tcp",
    "RFC 9293 section 3.1, RFC 3540 (ecn_ns)",
    (
        Row("src_port", 16, _ZERO),
        Row("dst_port", 16, _ZERO),
        Row("seq_num", 32, _ZERO),
        Row("ack_num", 32, _ZERO),
        Row("data_offset", 4, Fixed(5)),
        Row("reserved", 3, _ZERO, in_plan=False),
        Row("ecn_ns", 1, _ZERO),
        Row("ecn_cwr", 1, _ZERO),
        Row("ecn_echo", 1, _ZERO),
        Row("ctl_urg", 1, _ZERO),
        Row("ctl_ack", 1, _ZERO),
        Row("ctl_psh", 1, _ZERO),
        Row("ctl_rst", 1, _ZERO),
        Row("ctl_syn", 1, _ZERO),
        Row("ctl_fin", 1, _ZERO),
        Row("window", 16, _ZERO),
        Row("checksum", 16, Checksum("pseudo", IP_PROTOCOLS["tcp"])),
        Row("urgent_pointer", 16, _ZERO, in_plan=False),
    ),
)

ICMP = Layout(
    "icmp",
    "RFC 792, echo message",
    (
        Row("echo.type", 8, Fixed(8)),
        Row("echo.code", 8, _ZERO),
        Row("echo.checksum", 16, Checksum("message")),
        Row("echo.identifier", 16, _ZERO),
        Row("echo.sequence_number", 16, _ZERO),
    ),
)

ICMPV6 = Layout(
    "icmpv6",
    "RFC 4443 section 4.1",
    (
        Row("echo.type", 8, Fixed(128)),
        Row("echo.code", 8, _ZERO),
        Row("echo.checksum", 16, Checksum("pseudo", IP_PROTOCOLS["icmpv6"])),
        Row("echo.identifier", 16, _ZERO),
        Row("echo.sequence_number", 16, _ZERO),
    ),
)

IGMPV1 = Layout(
    "igmpv1",
    "RFC 1112 appendix I",
    (
        Row("version", 4, Fixed(1)),
        Row("type", 4, Fixed(1)),
        Row("unused", 8, _ZERO),
        Row("checksum", 16, Checksum("message")),
        Row("group_address", 32, _ZERO, "ipv4"),
    ),
)


def decode_icmp(reader: Reader) -> Header:
    """An ICMP message; OTG has echo only."""
    return _decode_echo(reader, ICMP)


def decode_icmpv6(reader: Reader) -> Header:
    """An ICMPv6 message; OTG has echo only."""
    return _decode_echo(reader, ICMPV6)


def _decode_echo(reader: Reader, layout: Layout) -> Header:
    branch = reader.choice(("echo",), "echo")
    return Header(layout.kind, reader.path, tuple(decode_object(reader, branch, layout.rows)))
