# SPDX-License-Identifier: BSD-3-Clause
"""A frame of a flow, and the flow of a frame; octets without FCS.

Built as those of a plan are (`wirerate.plan.headers`, `wirerate.plan.layout`). Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.plan.headers import decode_header
from wirerate.plan.layout import lay_out
from wirerate.plan.model import Payload
from wirerate.plan.reader import Reader
from wirerate.plan.rss_hash import Layer4

if TYPE_CHECKING:
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
    headers = [
        {"choice": "ethernet", "ethernet": {"dst": _value(destination_mac)}},
        {"choice": f"ipv{version}", f"ipv{version}": _ip(flow)},
    ]
    if flow.layer4 is not Layer4.NONE:
        kind = flow.layer4.value
        ports = {"src_port": _value(flow.source_port), "dst_port": _value(flow.destination_port)}
        headers.append({"choice": kind, kind: ports})
    packet = [decode_header(Reader(header, "packet")) for header in headers]
    layout = lay_out(packet, Payload("increment_byte"), [_FRAME_OCTETS[version]], source_mac)
    return layout.template


def _value(value: int | str) -> dict[str, Any]:
    return {"choice": "value", "value": value}


def _ip(flow: RssFlow) -> dict[str, Any]:
    fields = {"src": _value(str(flow.source)), "dst": _value(str(flow.destination))}
    if flow.layer4 is Layer4.NONE:
        name = "protocol" if flow.source.version == 4 else "next_header"
        fields[name] = _value(_EXPERIMENTAL)
    return fields


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
