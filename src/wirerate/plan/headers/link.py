# SPDX-License-Identifier: BSD-3-Clause
"""Layer 2 and what is beside it: ethernet, vlan, mpls, ppp, arp, the pause frames, custom octets.

Widths from the documents that each layout names, defaults from OTG 1.62. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wirerate.plan.fields import Field, Fixed, Header, NextHeader, Octets, PortMac
from wirerate.plan.headers.numbers import ETHER_TYPES, PPP_PROTOCOLS
from wirerate.plan.headers.table import Layout, Row, decode_layout
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from wirerate.plan.reader import Reader

_BY_NEXT = NextHeader(ETHER_TYPES, 0xFFFF)
_NO_TYPE = 0xFFFF
_ZERO = Fixed(0)
_PAUSE_GROUP = Fixed(0x0180C2000001)
_MAC_CONTROL = Fixed(0x8808)
_SEPARATORS = re.compile("[: ]")
_OCTETS = re.compile("(?:[0-9A-Fa-f]{2})+")

ETHERNET = Layout(
    "ethernet",
    "IEEE 802.3 clause 3",
    (
        Row("dst", 48, _ZERO, "mac", automatic=_ZERO),
        Row("src", 48, _ZERO, "mac", automatic=PortMac()),
        Row("ether_type", 16, _BY_NEXT, plain=_NO_TYPE),
    ),
)

VLAN = Layout(
    "vlan",
    "IEEE 802.1Q clause 9",
    (
        Row("priority", 3, _ZERO),
        Row("cfi", 1, _ZERO),
        Row("id", 12, _ZERO),
        Row("tpid", 16, _BY_NEXT, plain=_NO_TYPE, note="type of what follows the tag"),
    ),
)

MPLS = Layout(
    "mpls",
    "RFC 3032 section 2.1, RFC 5462",
    (
        Row("label", 20, Fixed(16), automatic=Fixed(16)),
        Row("traffic_class", 3, _ZERO),
        Row("bottom_of_stack", 1, NextHeader({"mpls": 0}, 1), plain=1),
        Row("time_to_live", 8, Fixed(64)),
    ),
)

PPP = Layout(
    "ppp",
    "RFC 1662 section 3.1",
    (
        Row("address", 8, Fixed(0xFF)),
        Row("control", 8, Fixed(0x03)),
        Row("protocol_type", 16, NextHeader(PPP_PROTOCOLS, 0x0021), plain=0x0021),
    ),
)

ARP = Layout(
    "arp",
    "RFC 826",
    (
        Row("hardware_type", 16, Fixed(1)),
        Row("protocol_type", 16, Fixed(0x0800)),
        Row("hardware_length", 8, Fixed(6)),
        Row("protocol_length", 8, Fixed(4)),
        Row("operation", 16, Fixed(1)),
        Row("sender_hardware_addr", 48, _ZERO, "mac"),
        Row("sender_protocol_addr", 32, _ZERO, "ipv4"),
        Row("target_hardware_addr", 48, _ZERO, "mac"),
        Row("target_protocol_addr", 32, _ZERO, "ipv4"),
    ),
)

PFC_PAUSE = Layout(
    "pfcpause",
    "IEEE 802.3 annex 31D; a whole frame",
    (
        Row("dst", 48, _PAUSE_GROUP, "mac"),
        Row("src", 48, _ZERO, "mac", automatic=PortMac()),
        Row("ether_type", 16, _MAC_CONTROL),
        Row("control_op_code", 16, Fixed(0x0101)),
        Row("class_enable_vector", 16, _ZERO),
        *(Row(f"pause_class_{number}", 16, _ZERO) for number in range(8)),
    ),
)

ETHERNET_PAUSE = Layout(
    "ethernetpause",
    "IEEE 802.3 annex 31B; a whole frame",
    (
        Row("dst", 48, _PAUSE_GROUP, "mac"),
        Row("src", 48, _ZERO, "mac", automatic=PortMac()),
        Row("ether_type", 16, _MAC_CONTROL),
        Row("control_op_code", 16, Fixed(0x0001)),
        Row("time", 16, _ZERO),
    ),
)

CUSTOM = Layout(
    "custom",
    "none: octets as they stand",
    (Row("bytes", 0, Octets(b""), "hex", note="required; spaces and colons are left out"),),
)


def decode_ethernet(reader: Reader) -> Header:
    """An Ethernet header; OTG's queue of priority flow control is not on the wire."""
    reader.unsupported("pfc_queue", "queues of priority flow control")
    return decode_layout(reader, ETHERNET)


def decode_custom(reader: Reader) -> Header:
    """Octets written in hexadecimal, one at least."""
    text = reader.text("bytes")
    reader.unsupported("metric_tags", "metric tags")
    digits = _SEPARATORS.sub("", text.removeprefix("0x").removeprefix("0X"))
    if not _OCTETS.fullmatch(digits):
        reader.fail("bytes", f"{shown(text)} is not octets, two hexadecimal digits each")
    data = bytes.fromhex(digits)
    return Header("custom", reader.path, (Field("bytes", 8 * len(data), Octets(data)),))
