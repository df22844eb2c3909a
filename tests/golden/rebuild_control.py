# SPDX-License-Identifier: BSD-3-Clause
"""The frames of the control protocols' plans: by Scapy, or octet by octet where it lacks them."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address

from scapy.asn1.asn1 import (
    ASN1_COUNTER32,
    ASN1_COUNTER64,
    ASN1_GAUGE32,
    ASN1_INTEGER,
    ASN1_IPADDRESS,
    ASN1_OID,
    ASN1_STRING,
    ASN1_TIME_TICKS,
)
from scapy.contrib.igmp import IGMP
from scapy.contrib.lacp import LACP, SlowProtocol
from scapy.contrib.rsvp import RSVP
from scapy.layers.inet import IPOption_Router_Alert
from scapy.layers.l2 import Dot1Q
from scapy.layers.snmp import SNMP, SNMPbulk, SNMPget, SNMPtrapv2, SNMPvarbind
from scapy.packet import Raw

from golden.words import SRC, ether, ip4, ipv4, ipv6, mac, sized, turn, udp, up
from support.golden import rebuilds


@rebuilds("igmpv1")
def igmpv1(i):
    # RFC 1112: version 1 and type in one octet. Scapy (IGMPv2) sees a type of 8 bits, and adds
    # to an IP header before it what later versions ask for: so it gets none to change.
    group = turn(["0.0.0.0", "239.1.2.3", "0.0.0.0", "239.1.2.4"], i)
    message = IGMP(type=turn([0x11, 0x12], i), mrcode=0, gaddr=group)
    return sized(
        ether("01:00:5e:00:00:01") / ipv4(dst="224.0.0.1", ttl=1, proto=2) / Raw(bytes(message))
    )


@rebuilds("lacp")
def lacp(i):
    # IEEE 802.1AX-2014 section 6.4.2.3: activity is bit 0, then timeout, aggregation,
    # synchronization, collecting, distributing, defaulted, expired.
    state = (
        1
        | turn([0, 1], i) << 1
        | 1 << 2
        | turn([0, 0, 1], i) << 3
        | turn([0, 0, 0, 1], i) << 4
        | turn([0, 0, 0, 0, 1], i) << 5
    )
    unit = LACP(
        actor_system_priority=32768,
        actor_system=mac(up(0x0200000000FE, 1, 4, i)),
        actor_key=17,
        actor_port_priority=255,
        actor_port_number=1 + i % 3,
        actor_state=state,
        actor_reserved=bytes(3),
        partner_system_priority=4096,
        partner_system="02:00:00:00:02:00",
        partner_key=5,
        partner_port_number=2,
        partner_state=1 | turn([1, 0], i) << 7,
        partner_reserved=bytes(3),
        collector_max_delay=50000,
        collector_reserved=bytes(12),
        reserved=bytes(50),
    )
    return sized(ether("01:80:c2:00:00:02", type=0x8809) / SlowProtocol(subtype=1) / unit, 128)


def cfm(level, code, flags, offset, rest):
    """A CFM PDU by hand, IEEE 802.1Q-2018 section 21.4; Scapy has none."""
    return Raw(bytes([level << 5, code, flags, offset]) + rest)


def tlv(kind, value):
    """Section 21.5.1."""
    return bytes([kind]) + len(value).to_bytes(2, "big") + value


@rebuilds("cfm_ccm")
def cfm_ccm(i):
    # Section 21.6.5: domain name (format 4, text), association name (format 2, text), zeros.
    name = b"\x04\x08operator" + b"\x02\x09east-west"
    chassis = bytes([6, 4]) + bytes.fromhex(SRC.replace(":", "")) + b"\0"  # 21.5.3, no domain
    rest = (
        struct.pack("!IH", up(100, 1, 8, i), turn([1, 2, 8191], i))
        + name.ljust(48, b"\0")
        + bytes(16)
        + tlv(2, b"\x01")  # port status: psBlocked
        + tlv(4, b"\x02")  # interface status: isDown
        + tlv(1, chassis)
        + b"\0"
    )
    # RDI, 5: a CCM per 10 s; the first TLV 70 octets behind.
    return sized(ether("01:80:c2:00:00:35", type=0x8902) / cfm(5, 1, 0x80 | 5, 70, rest), 113)


@rebuilds("cfm_loopback")
def cfm_loopback(i):
    data = bytes(17 * at for at in range(16)) * 2
    rest = struct.pack("!I", up(0xFFFFFFFE, 1, 4, i, 32)) + tlv(3, data[:31] + b"\xff") + b"\0"
    return sized(ether() / Dot1Q(vlan=77, prio=7, type=0x8902) / cfm(2, 3, 0, 4, rest), 66)


def rsvp_object(number, kind, form, *values):
    """RFC 2205 section 3.1.2; Scapy's objects lack the classes of RFC 3209."""
    body = struct.pack(form, *values)
    return struct.pack("!HBB", 4 + len(body), number, kind) + body


def address(text):
    """Four octets as number."""
    return int(IPv4Address(text))


@rebuilds("rsvp_path")
def rsvp_path(i):
    us, end = address("198.18.0.1"), address("203.0.113.9")
    objects = (
        rsvp_object(1, 7, "!IHHI", end, 0, up(65534, 1, 4, i, 16), us)  # RFC 3209 4.6.1.1
        + rsvp_object(3, 1, "!II", us, 7)  # RFC 2205 A.2
        + rsvp_object(5, 1, "!I", 30000)  # A.4
        # RFC 3209 4.3.3: a loose hop, an autonomous system
        + rsvp_object(20, 1, "!BBIBBBBH", 0x81, 8, us + 1, 32, 0, 32, 4, 64512)
        + rsvp_object(19, 1, "!HH", 0, 0x0800)  # 4.2.1
        + rsvp_object(207, 7, "!BBBB8s", 7, 0, 4, 6, b"tunnel")  # 4.7.1
        + rsvp_object(11, 7, "!IHH", us, 0, turn([1, 2, 3], i))  # 4.6.2.1
        # RFC 2210 3.1, lengths in 32-bit words
        + rsvp_object(
            12, 2, "!HHBBHBBHfffII", 0, 7, 1, 0, 6, 127, 0, 5, 125000, 1500, 250000.5, 64, 1500
        )
        + rsvp_object(21, 1, "!BBIBB", 1, 8, us, 32, 1)  # RFC 3209 4.4.1.1
    )
    message = RSVP(Flags=1, Class=1, TTL=255) / Raw(objects)
    header = ipv4(dst="203.0.113.9", ttl=255, proto=46, options=[IPOption_Router_Alert()])
    return sized(ether() / header / message, 186)


def binding(oid, value=None):
    """A name and its value; NULL without one."""
    return SNMPvarbind(oid=ASN1_OID(oid), **({} if value is None else {"value": value}))


@rebuilds("snmp_get")
def snmp_get(i):
    request = SNMPget(
        id=ASN1_INTEGER(up(2147483000, 50, 8, i)),
        varbindlist=[binding("1.3.6.1.2.1.1.3.0"), binding("1.3.6.1.4.1.311.1")],
    )
    message = SNMP(version=1, community="public", PDU=request)
    return sized(ether() / ipv4() / udp(dport=161) / message, 103)


@rebuilds("snmp_bulk")
def snmp_bulk(i):
    request = SNMPbulk(
        id=ASN1_INTEGER(-2_000_000_000 - 1000 * (i % 4)),
        non_repeaters=0,
        max_repetitions=10,
        varbindlist=[binding("1.3.6.1.2.1.2.2")],
    )
    message = SNMP(version=1, community="community", PDU=request)
    return sized(ether() / ipv4() / udp(49152 + i % 5, 161) / message, 91)


@rebuilds("snmp_trap")
def snmp_trap(i):
    # What varies has as many octets in every frame as its greatest value needs, as BER has it.
    interface = "1.3.6.1.2.1.2.2.1"
    values = [
        binding("1.3.6.1.2.1.1.3.0", ASN1_TIME_TICKS(up(100_000_000, 100, 8, i))),
        binding("1.3.6.1.6.3.1.1.4.1.0", ASN1_OID("1.3.6.1.6.3.1.1.5.3")),
        binding(f"{interface}.1.3", ASN1_INTEGER(-129)),
        binding(f"{interface}.2.3", ASN1_STRING(b"eth 3")),
        binding("1.3.6.1.2.1.4.20.1.1", ASN1_IPADDRESS(ip4("198.18.0.254", i % 3))),
        binding(f"{interface}.10.3", ASN1_COUNTER32(4294967290 + i % 5)),
        binding("1.3.6.1.2.1.31.1.1.1.6.3", ASN1_COUNTER64(2**64 - 1 - 2 * (i % 5))),
        binding(f"{interface}.5.3", ASN1_GAUGE32(1_000_000_000)),
    ]
    trap = SNMPtrapv2(id=ASN1_INTEGER(1234567), varbindlist=values)
    message = SNMP(version=1, community="private", PDU=trap)
    return sized(ether() / ipv6() / udp(dport=162) / message, 266)
