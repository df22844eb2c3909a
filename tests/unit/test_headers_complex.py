# SPDX-License-Identifier: BSD-3-Clause
"""LACP and MACsec; and all nested headers together: junk in plans, and tshark as judge."""

import math
import shutil
import subprocess

import pytest
from scapy.contrib.lacp import LACP, SlowProtocol
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from support.nested_headers import (
    NAMES,
    OID,
    TWO,
    WHOLE,
    ccm,
    decode,
    get,
    octets,
    path,
    refused,
    srh,
    usid,
    value,
)
from wirerate.errors import PlanError

# MACsec


def test_macsec_cannot_be_sent():
    refused("macsec", {}, "", "no MACsec devices")
    refused("macsec", {"choice": "auto"}, "", "custom header")
    refused("macsec", {"choice": "custom"}, ".choice", "not one of auto")
    refused("macsec", {"sci": 1}, ".sci", "no such key")


# LACP


def test_lacpdu_as_scapy_builds_it():
    actor_state = {name: value(1) for name in ("activity", "aggregation", "collecting")}
    ours = octets(
        "lacp",
        {
            "lacpdu": {
                "actor": {
                    "system_priority": value(0x8000),
                    "system_id": value("02:57:52:00:00:01"),
                    "key": value(13),
                    "port_priority": value(0xFF),
                    "port_number": value(22),
                    "actor_state": actor_state,
                },
                "partner": {
                    "system_id": value("02:57:52:00:00:02"),
                    "partner_state": {"expired": value(1), "timeout": value(1)},
                    "reserved": value(0x010203),
                },
                "collector": {"max_delay": value(0x5000)},
                "terminator": {},
            }
        },
    )
    theirs = SlowProtocol(subtype=1) / LACP(
        actor_system_priority=0x8000,
        actor_system="02:57:52:00:00:01",
        actor_key=13,
        actor_port_priority=0xFF,
        actor_port_number=22,
        actor_state=0b00010101,
        partner_system="02:57:52:00:00:02",
        partner_state=0b10000010,
        partner_reserved=b"\1\2\3",
        collector_max_delay=0x5000,
    )
    assert len(ours) == 110
    assert ours == bytes(theirs)


def test_lacpdu_of_itself():
    theirs = SlowProtocol(subtype=1) / LACP(
        actor_system="00:00:00:00:00:00", partner_system="00:00:00:00:00:00"
    )
    assert octets("lacp", {}) == bytes(theirs)


def test_refused_lacp():
    short = {"lacpdu": {"collector": {"reserved": "00" * 11}}}
    refused("lacp", short, ".lacpdu.collector.reserved", "11 octets; give 12")
    long = {"lacpdu": {"terminator": {"reserved": "00" * 51}}}
    refused("lacp", long, ".lacpdu.terminator.reserved", "51 octets; give 50")
    wide = {"lacpdu": {"actor": {"actor_state": {"expired": value(2)}}}}
    refused("lacp", wide, ".lacpdu.actor.actor_state.expired.value", "not between 0 and 1")
    wrong = {"lacpdu": {"actor": {"partner_state": value(1)}}}
    refused("lacp", wrong, ".lacpdu.actor.partner_state", "no such key")


# All of them: junk at every place, and dissected

EXAMPLES = [
    (
        "ipv6_extension_header",
        srh({"segment_list": TWO, "flags": {"oam": value(1)}, "pad_tlv": {}}),
    ),
    ("ipv6_extension_header", usid({"locator": value("fc00::"), "usids": ["0001", "0002"]})),
    ("snmpv2c", get({"object_identifier": OID, "value": {"string_value": {"raw": "00"}}})),
    ("snmpv2c", get({"value": {"ip_address_value": {"values": ["192.0.2.1", "192.0.2.9"]}}})),
    ("snmpv2c", get({"value": {"object_identifier_value": "1.3"}}, error_status="no_error")),
    ("rsvp", WHOLE),
    ("rsvp", path({"custom": {"length": value(8), "bytes": "00"}}, version=1)),
    ("lacp", {"lacpdu": {"actor": {"system_id": value("02:57:52:00:00:01")}}}),
    ("lacp", {"lacpdu": {"collector": {"reserved": "00" * 12}, "terminator": {}}}),
    ("cfm", ccm(NAMES, flags={"rdi": True}, tlvs=[{"port_status": {"status": "port_up"}}])),
    (
        "cfm",
        {
            "op_code": {
                "lbm": {
                    "tlvs": [
                        {"sender_id": {"chassis_id": {"network_address": {"ipv6": "::1"}}}},
                        {"data": {"data": "00"}, "length": value(3)},
                    ]
                }
            }
        },
    ),
]
# No field of these examples may be this.
JUNK = [-1 << 70, "\u0661 no", "9" * 140000, [[]], {"no such key": 1}, True, math.nan]


def spoiled(whole, junk):
    """The object with junk in the place of every value in turn, however deep."""
    if isinstance(whole, dict):
        for key, part in whole.items():
            yield from (whole | {key: other} for other in (junk, *spoiled(part, junk)))
    elif isinstance(whole, list):
        for index, part in enumerate(whole):
            for other in (junk, *spoiled(part, junk)):
                yield [*whole[:index], other, *whole[index + 1 :]]


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:12])
@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_junk_is_refused_wherever_it_stands(kind, example, junk):
    assert decode(kind, example).fields
    for whole in spoiled(example, junk):
        if whole != example:
            with pytest.raises(PlanError):
                decode(kind, whole)


SIX = {"src": "2001:db8::a", "dst": "2001:db8::2"}
STACKS = {
    "srv6": lambda: (
        IPv6(**SIX, nh=43)
        / octets("ipv6_extension_header", srh({"segment_list": TWO, "pad_tlv": {}}), None)
    ),
    "snmp": lambda: (
        IP(dst="192.0.2.1")
        / UDP(sport=40000, dport=161)
        / octets("snmpv2c", get({"object_identifier": OID}, request_id=value(-7)))
    ),
    "rsvp": lambda: IP(dst="192.0.2.1", proto=46) / octets("rsvp", WHOLE),
    "lacp": lambda: octets("lacp", {}),
    "cfm": lambda: octets(
        "cfm",
        ccm(
            NAMES,
            tlvs=[
                {"sender_id": {}},
                {"sender_id": {"chassis_id": {"mac_address": "02:57:52:00:00:01"}}},
                {"port_status": {}},
                {"data": {}},
            ],
        ),
    ),
}
ETHER_TYPES = {"srv6": 0x86DD, "snmp": 0x0800, "rsvp": 0x0800, "lacp": 0x8809, "cfm": 0x8902}
SAID = {
    "srv6": ("Segments Left: 2", "Address[1]: 2001:db8::2"),
    "snmp": ("request-id: -7", "1.3.6.1.2.1.1.1.0"),
    "rsvp": ("Message Checksum: 0x6e44 [correct]", "RECORD ROUTE: IPv4 192.0.2.1"),
    "lacp": ("Actor Port: 0",),
    "cfm": ("Short MA Name: ma1", "Chassis ID: 025752000001", "End TLV (0)"),
}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("name", STACKS)
def test_tshark_finds_nothing_wrong(name, tmp_path):
    file = tmp_path / "frame.pcap"
    frame = Ether(dst="01:80:c2:00:00:02", src="02:57:52:00:00:01", type=ETHER_TYPES[name])
    wrpcap(str(file), [frame / STACKS[name]()])
    arguments = ["tshark", "-r", str(file), "-V", "-o", "ip.check_checksum:TRUE"]
    run = subprocess.run(arguments, capture_output=True, text=True, check=True)
    for words in SAID[name]:
        assert words in run.stdout, run.stdout
    for word in ("Malformed", "Expert Info (Error", "Expert Info (Warn", "incorrect"):
        assert word not in run.stdout, run.stdout
