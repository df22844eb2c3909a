# SPDX-License-Identifier: BSD-3-Clause
"""A frame of a flow, and the flow of a frame; octets without FCS.

Built as those of a plan are (`wirerate.plan.headers`, `wirerate.plan.layout`). Pure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wirerate.plan.headers import decode_header
from wirerate.plan.layout import internet_checksum, lay_out
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
_ETHER_TYPES = {4: 0x0800, 6: 0x86DD}
_PORTS_OCTETS = 4
_IPV4_CHECKSUM = 24
_CHECKSUMS = {Layer4.UDP: 6, Layer4.TCP: 16}
"""Where checksums stand: in the frame, and behind the addresses."""
_AUTO = {"choice": "auto"}


def flow_frame(flow: RssFlow, source_mac: bytes, destination_mac: str) -> bytes:
    """A frame of a flow, with valid checksums."""
    version, ports = flow.source.version, flow.ports
    blank = _blank_frame(version, flow.layer4, source_mac, destination_mac)
    frame = bytearray(blank)
    start, end = _ADDRESSES[_ETHER_TYPES[version]]
    frame[start : end + len(ports)] = flow.addresses + ports
    if version == 4:
        _add_up(frame, _IPV4_CHECKSUM, flow.addresses)
    if ports:
        _add_up(frame, end + _CHECKSUMS[flow.layer4], flow.addresses + ports)
    return bytes(frame)


def _add_up(frame: bytearray, offset: int, octets: bytes) -> None:
    """Bring a checksum up to date, of what had zeros where these octets are now (RFC 1624)."""
    before = int.from_bytes(frame[offset : offset + 2], "big")
    value = internet_checksum(octets, 0xFFFF - before) or 0xFFFF
    frame[offset : offset + 2] = value.to_bytes(2, "big")


@lru_cache(maxsize=8)
def _blank_frame(version: int, layer4: Layer4, source_mac: bytes, destination_mac: str) -> bytes:
    """What all frames of a kind have in common: zeros stand for addresses of IP and ports."""
    name = "protocol" if version == 4 else "next_header"
    none = "0.0.0.0" if version == 4 else "::"  # noqa: S104 -- nobody listens there
    ip = {"src": _value(none), "dst": _value(none)}
    if layer4 is Layer4.NONE:
        ip[name] = _value(_EXPERIMENTAL)
    headers = [
        {"choice": "ethernet", "ethernet": {"dst": _value(destination_mac), "src": _AUTO}},
        {"choice": f"ipv{version}", f"ipv{version}": ip},
    ]
    if layer4 is not Layer4.NONE:
        ports = {"src_port": _value(0), "dst_port": _value(0)}
        headers.append({"choice": layer4.value, layer4.value: ports})
    packet = [decode_header(Reader(header, "packet")) for header in headers]
    layout = lay_out(packet, Payload("increment_byte"), [_FRAME_OCTETS[version]], source_mac)
    return layout.template


def _value(value: int | str) -> dict[str, Any]:
    return {"choice": "value", "value": value}


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
