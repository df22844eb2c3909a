# SPDX-License-Identifier: BSD-3-Clause
"""Frames that ask for a MAC address, and what is in the answers; octets without FCS.

ARP for IPv4 (RFC 826), neighbour discovery for IPv6 (RFC 4861 sections 4.3, 4.4, 4.6.1, 7.1.2).
Used by `wirerate.trial.neighbors`; pure.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.plan.layout import internet_checksum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirerate.plan.devices import Address, Interface, Tag, Version

_BROADCAST = 0xFFFFFFFFFFFF
_ARP, _IPV6 = 0x0806, 0x86DD
_ARP_HEAD = struct.pack("!HHBB", 1, 0x0800, 6, 4)
"""Ethernet addresses for IPv4 addresses."""
_ARP_REQUEST, _ARP_REPLY = 1, 2
_ICMPV6 = 58
_SOLICITATION, _ADVERTISEMENT = 135, 136
_SOURCE_OPTION, _TARGET_OPTION = 1, 2
_SOLICITED_NODE = 0xFF0200000000000000000001FF000000
"""ff02::1:ff00:0/104 (RFC 4291 section 2.7.1)."""
_HOP_LIMIT = 255
"""What has passed a router has less (RFC 4861 section 7.1.2)."""
_FRAME_OCTETS_MIN = 60
_TAG_OCTETS = 4


@dataclass(frozen=True)
class Answer:
    """``mac`` has ``address``; ``vlans`` are the identifiers in the frame's tags."""

    vlans: tuple[int, ...]
    version: Version
    address: int
    mac: int


def request_frame(interface: Interface, address: Address, target: int) -> bytes:
    """Ask for ``target``, as an interface with an address on its port; that tells who asks, too."""
    if address.version == 4:
        body = _ARP_HEAD + struct.pack("!H", _ARP_REQUEST)
        body += _mac(interface.mac) + address.value.to_bytes(4, "big")
        body += _mac(0) + target.to_bytes(4, "big")
        frame = _ethernet(_BROADCAST, interface.mac, interface.tags, _ARP) + body
    else:
        group = _SOLICITED_NODE | target & 0xFFFFFF
        destination = 0x333300000000 | group & 0xFFFFFFFF  # RFC 2464 section 7
        frame = _ethernet(destination, interface.mac, interface.tags, _IPV6)
        frame += _solicitation(interface.mac, address.value, target, group)
    return frame.ljust(_FRAME_OCTETS_MIN, b"\0")


def _mac(mac: int) -> bytes:
    return mac.to_bytes(6, "big")


def _ethernet(destination: int, source: int, tags: tuple[Tag, ...], ether_type: int) -> bytes:
    head = _mac(destination) + _mac(source)
    for tag in tags:
        head += struct.pack("!HH", tag.tpid, tag.priority << 13 | tag.id)
    return head + ether_type.to_bytes(2, "big")


def _solicitation(mac: int, source: int, target: int, group: int) -> bytes:
    """IPv6 and the message, with the option that holds the asker's MAC address."""
    option = bytes([_SOURCE_OPTION, 1]) + _mac(mac)
    message = bytes([_SOLICITATION]) + bytes(7) + target.to_bytes(16, "big") + option
    addresses = source.to_bytes(16, "big") + group.to_bytes(16, "big")
    checksum = _checksum(addresses, message).to_bytes(2, "big")
    head = struct.pack("!IHBB", 6 << 28, len(message), _ICMPV6, _HOP_LIMIT)
    return head + addresses + message[:2] + checksum + message[4:]


def _checksum(addresses: bytes, message: bytes) -> int:
    """RFC 4443 section 2.3; of a message whose checksum is right it comes to 0."""
    return internet_checksum(addresses + message, len(message) + _ICMPV6)


def answer_filter(depths: Iterable[int]) -> str:
    """Expression of libpcap for answers behind so many VLAN tags, of whatever type."""
    terms = []
    for depth in sorted(set(depths)):
        at = 12 + _TAG_OCTETS * depth
        terms.append(f"(ether[{at}:2] = {_ARP:#06x} and ether[{at + 8}:2] = {_ARP_REPLY})")
        terms.append(
            f"(ether[{at}:2] = {_IPV6:#06x} and ether[{at + 8}] = {_ICMPV6} "
            f"and ether[{at + 42}] = {_ADVERTISEMENT})"
        )
    return " or ".join(terms)


def parse_answer(frame: bytes, depth: int) -> Answer | None:
    """What an answer behind ``depth`` VLAN tags says; None where it is no answer, or not sound."""
    at = 14 + _TAG_OCTETS * depth
    head, body = frame[:at], frame[at:]
    if len(head) < at:
        return None
    vlans = tuple(
        int.from_bytes(head[14 + _TAG_OCTETS * level :][:2], "big") & 0xFFF
        for level in range(depth)
    )
    ether_type = int.from_bytes(head[-2:], "big")
    if ether_type == _ARP:
        return _parse_reply(vlans, body)
    return _parse_advertisement(vlans, head, body) if ether_type == _IPV6 else None


def _parse_reply(vlans: tuple[int, ...], body: bytes) -> Answer | None:
    if len(body) < 28 or body[:6] != _ARP_HEAD or body[6:8] != b"\0\2":
        return None
    mac, address = int.from_bytes(body[8:14], "big"), int.from_bytes(body[14:18], "big")
    return Answer(vlans, 4, address, mac)


def _parse_advertisement(vlans: tuple[int, ...], head: bytes, body: bytes) -> Answer | None:
    """Checked as RFC 4861 section 7.1.2 asks; without an option the frame's sender is meant."""
    octets = int.from_bytes(body[4:6], "big")
    message = body[40 : 40 + octets]
    if len(message) < max(octets, 24) or body[6] != _ICMPV6 or body[7] != _HOP_LIMIT:
        return None
    if message[:2] != bytes([_ADVERTISEMENT, 0]) or _checksum(body[8:40], message) != 0:
        return None
    mac = head[6:12]
    at = 24
    while at + 8 <= len(message) and message[at + 1]:
        if message[at] == _TARGET_OPTION:
            mac = message[at + 2 : at + 8]
        at += 8 * message[at + 1]
    target = int.from_bytes(message[8:24], "big")
    return Answer(vlans, 6, target, int.from_bytes(mac, "big"))
