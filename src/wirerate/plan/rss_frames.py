# SPDX-License-Identifier: BSD-3-Clause
"""A frame of a flow, and the flow of a frame; octets without FCS.

Built as those of a plan are (`wirerate.plan.headers`, `wirerate.plan.layout`). Pure.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wirerate.plan.fields import Fixed
from wirerate.plan.headers import decode_header
from wirerate.plan.layout import lay_out
from wirerate.plan.model import Payload
from wirerate.plan.reader import Reader
from wirerate.plan.rss_hash import Layer4

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.fields import Header
    from wirerate.plan.rss_hash import RssFlow

_FRAME_OCTETS = {4: 60, 6: 74}
"""The least that holds every header: 64 octets with FCS, or Ethernet, IPv6 and TCP."""
_EXPERIMENTAL = 253
"""A protocol without ports (RFC 3692 section 2.1)."""
_ADDRESSES = {0x0800: (26, 34), 0x86DD: (22, 54)}
"""Where an IP header without options has its addresses, behind Ethernet, by EtherType."""
_PORTS_OCTETS = 4


def flow_frame(flow: RssFlow, source_mac: bytes, destination_mac: str) -> bytes:
    """A frame of a flow, with valid checksums."""
    version = flow.source.version
    ethernet, *others = _headers(version, flow.layer4, destination_mac)
    values = {"src": int(flow.source), "dst": int(flow.destination)}
    values |= {"src_port": flow.source_port, "dst_port": flow.destination_port}
    packet = [ethernet, *(_with_values(header, values) for header in others)]
    layout = lay_out(packet, Payload("increment_byte"), [_FRAME_OCTETS[version]], source_mac)
    return layout.template


@lru_cache(maxsize=8)
def _headers(version: int, layer4: Layer4, destination_mac: str) -> tuple[Header, ...]:
    """The headers of all frames of a kind; addresses of IP and ports are still to be filled in."""
    name = "protocol" if version == 4 else "next_header"
    ip = {} if layer4 is not Layer4.NONE else {name: _value(_EXPERIMENTAL)}
    ethernet = {"dst": _value(destination_mac), "src": {"choice": "auto"}}
    headers = [
        {"choice": "ethernet", "ethernet": ethernet},
        {"choice": f"ipv{version}", f"ipv{version}": ip},
    ]
    if layer4 is not Layer4.NONE:
        headers.append({"choice": layer4.value, layer4.value: {}})
    return tuple(decode_header(Reader(header, "packet")) for header in headers)


def _value(value: int | str) -> dict[str, Any]:
    return {"choice": "value", "value": value}


def _with_values(header: Header, values: Mapping[str, int]) -> Header:
    """The header with these values in the fields of these names, where it has them."""
    fields = (
        replace(part, content=Fixed(values[part.name])) if part.name in values else part
        for part in header.fields
    )
    return replace(header, fields=tuple(fields))


def flow_key(flow: RssFlow) -> bytes:
    """What `frame_key` finds in a frame of the flow, whether or not it has ports."""
    return flow.addresses + flow.ports


def frame_key(frame: bytes, *, ports: bool) -> bytes:
    """Addresses, and ports if asked for, of a frame without VLAN tags; empty for other than IP."""
    place = _ADDRESSES.get(int.from_bytes(frame[12:14], "big"))
    if place is None:
        return b""
    start, end = place
    return frame[start : end + (_PORTS_OCTETS if ports else 0)]
