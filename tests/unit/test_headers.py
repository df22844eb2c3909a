# SPDX-License-Identifier: BSD-3-Clause
"""Headers of a plan: octets, defaults and automatic values of each, errors with their place."""

import time
from pathlib import Path
from typing import Any

import pytest

from support.headers import PLACE, content, decode, octets_of, refusal
from wirerate.errors import PlanError
from wirerate.plan.fields import (
    Checksum,
    Field,
    Fixed,
    Length,
    NextHeader,
    Octets,
    PortMac,
)
from wirerate.plan.headers import KINDS, LAYOUTS, MODULES, decode_header, describe, transport
from wirerate.plan.headers.patterns import parse_number
from wirerate.plan.reader import Reader

ROOT = Path(__file__).resolve().parents[2]

TABLES = [
    layout for layout in LAYOUTS if layout.kind not in {"ipv6.dst_usids", "gtpv1.extension_headers"}
]
"""Whose fields are read one by one, of any value."""

DEFAULTS = {
    "ethernet": "0000000000000000000000000000",
    "vlan": "00000000",
    "vxlan": "0800000000000000",
    "ipv4": "4500000000000000400000000000000000000000",
    "ipv6": "6000000000000040" + "00" * 32,
    "pfcpause": "0180c20000010000000000008808010100000000000000000000000000000000" + "0000",
    "ethernetpause": "0180c200000100000000000088080001" + "0000",
    "tcp": "0000000000000000000000005000000000000000",
    "udp": "0000000000000000",
    "gre": "00000000",
    "gtpv1": "3000000000000000",
    "gtpv2": "4000000000000000",
    "arp": "0001080006040001" + "00" * 20,
    "icmp": "0800000000000000",
    "icmpv6": "8000000000000000",
    "ppp": "ff030000",
    "igmpv1": "1100000000000000",
    "mpls": "00010040",
}
"""Headers as the protocols' documents have them, whatever depends on the frame as zeros."""

OTG_KINDS = {*DEFAULTS, "custom", "snmpv2c", "rsvp", "macsec", "lacp", "cfm"}
OTG_KINDS |= {"ipv6_extension_header"}
"""FlowHeader.choice of OTG 1.62."""


class TestKinds:
    def test_all_of_otg_s_headers_are_known(self):
        assert sorted(KINDS) == sorted(OTG_KINDS)

    @pytest.mark.parametrize("kind", MODULES)
    def test_a_header_with_its_own_module_is_decoded_or_refused_in_words(self, kind):
        try:
            header = decode({"choice": kind, kind: {}})
        except PlanError as refused:
            said = str(refused)
        else:
            said = f"{PLACE}.{header.kind}: {header.octets} octets"
            assert sum(field.bits for field in header.fields) == 8 * header.octets
        assert said.startswith(f"{PLACE}.{kind}")
        assert len(said.split()) >= 3

    @pytest.mark.parametrize("kind", DEFAULTS)
    def test_whole_octets_of_defaults(self, kind):
        header = decode({"choice": kind, kind: {}})
        assert (header.kind, header.path) == (kind, f"{PLACE}.{kind}")
        assert all(1 <= field.bits <= 128 for field in header.fields)
        assert sum(field.bits for field in header.fields) == 4 * len(DEFAULTS[kind])
        assert octets_of(header) == DEFAULTS[kind]

    def test_a_header_may_be_named_by_its_branch_alone(self):
        assert decode({"udp": {}}) == decode({"choice": "udp", "udp": {}})

    def test_nothing_said_is_ethernet_as_otg_s_model_has_it(self):
        assert decode({}).kind == "ethernet"

    def test_names_in_a_header_are_its_own(self):
        for kind in DEFAULTS:
            names = [field.name for field in decode({"choice": kind}).fields]
            assert len(set(names)) == len(names)

    def test_two_headers_in_one_element(self):
        assert refusal({"udp": {}, "tcp": {}}).startswith(f"{PLACE}: udp and tcp are both there")

    def test_unknown_header(self):
        assert refusal({"choice": "geneve"}).startswith(f"{PLACE}.choice: 'geneve' is not one of")
        assert refusal({"geneve": {}}).startswith(f"{PLACE}.geneve: there is no such key")

    def test_unknown_field(self):
        assert refusal({"udp": {"source_port": {"value": 1}}}) == (
            f"{PLACE}.udp.source_port: there is no such key; is it src_port?"
        )

    @pytest.mark.parametrize("layout", TABLES, ids=lambda layout: layout.kind)
    def test_every_field_of_a_table_takes_its_greatest_value(self, layout):
        kind = layout.kind.partition(".")[0]
        for row in layout.rows:
            if row.parts or not row.bits or not row.in_plan:
                continue
            ones = (1 << row.bits) - 1
            branch = "custom" if isinstance(row.default, Checksum) else "value"
            element = {flag: {"value": 1} for flag in row.when}
            nest(element, row.name.split("."), {branch: as_written(ones, row)})
            whole = {"options": [element]} if layout.kind == "ipv4.options.custom" else element
            fields = {field.name: field for field in decode({kind: whole}).fields}
            field = fields.get(row.name) or fields[f"options[0].{row.name}"]
            assert (field.bits, field.content) == (row.bits, Fixed(ones))


def nest(target, keys, value):
    for key in keys[:-1]:
        target = target.setdefault(key, {})
    target[keys[-1]] = value


def as_written(number, row):
    if row.kind == "mac":
        return number.to_bytes(6, "big").hex(":")
    if row.kind == "ipv4":
        return ".".join(map(str, number.to_bytes(4, "big")))
    if row.kind == "ipv6":
        return number.to_bytes(16, "big").hex(":", 2)
    return number


class TestLink:
    def test_ether_type_is_of_what_follows(self):
        automatic = content({"choice": "ethernet"}, "ether_type")
        assert automatic.otherwise == 0xFFFF
        assert automatic.numbers["ipv6"] == 0x86DD
        assert content({"choice": "vlan"}, "tpid") == automatic
        assert content({"ethernet": {"ether_type": {"choice": "auto"}}}, "ether_type") == automatic
        qinq = {"ethernet": {"ether_type": {"value": 0x88A8}}}
        assert content(qinq, "ether_type") == Fixed(0x88A8)

    def test_auto_addresses(self):
        assert content({"ethernet": {"src": {"choice": "auto"}}}, "src") == PortMac()
        assert content({"ethernet": {"dst": {"choice": "auto"}}}, "dst") == Fixed(0)

    def test_pfc_queue(self):
        assert refusal({"ethernet": {"pfc_queue": {"value": 3}}}).startswith(
            f"{PLACE}.ethernet.pfc_queue: wirerate does not do"
        )

    def test_bottom_of_stack(self):
        assert content({"choice": "mpls"}, "bottom_of_stack") == NextHeader({"mpls": 0}, 1)

    @pytest.mark.parametrize("text", ["0x00 01:fF", "0001ff", "00:01:FF"])
    def test_custom(self, text):
        header = decode({"custom": {"bytes": text}})
        assert header.fields == (Field("bytes", 24, Octets(b"\0\x01\xff")),)

    @pytest.mark.parametrize("text", ["", "0x", "000", "0g"])
    def test_custom_that_is_no_octets(self, text):
        assert refusal({"custom": {"bytes": text}}).startswith(f"{PLACE}.custom.bytes: ")

    def test_custom_needs_its_octets(self):
        assert refusal({"custom": {}}) == f"{PLACE}.custom.bytes: it is missing"
        assert "metric tags" in refusal({"custom": {"bytes": "00", "metric_tags": [{"name": "a"}]}})


class TestIp:
    def test_automatic_values(self):
        assert content({"choice": "ipv4"}, "total_length") == Length()
        assert content({"choice": "ipv4"}, "header_checksum") == Checksum("header")
        assert content({"choice": "ipv4"}, "protocol").otherwise == 61
        assert content({"choice": "ipv6"}, "payload_length") == Length(less=40)
        assert content({"choice": "ipv6"}, "next_header").otherwise == 59
        assert content({"choice": "ipv6"}, "next_header").numbers["udp"] == 17

    def test_priority(self):
        assert octets_of(decode({"ipv4": {"priority": {"raw": {"value": 0xA5}}}}))[2:4] == "a5"
        dscp = {"dscp": {"phb": {"value": 46}, "ecn": {"value": 1}}}
        assert octets_of(decode({"ipv4": {"priority": dscp}}))[2:4] == "b9"
        tos = {"tos": {"precedence": {"value": 5}, "reliability": {"value": 1}}}
        assert octets_of(decode({"ipv4": {"priority": tos}}))[2:4] == "a4"
        assert octets_of(decode({"ipv4": {"priority": {"choice": "raw"}}})) == DEFAULTS["ipv4"]

    def test_priority_errors(self):
        both: Any = {"ipv4": {"priority": {"raw": {}, "dscp": {}}}}
        assert refusal(both).startswith(f"{PLACE}.ipv4.priority: raw and dscp are both there")
        wide = {"ipv4": {"priority": {"dscp": {"phb": {"value": 64}}}}}
        assert refusal(wide).startswith(f"{PLACE}.ipv4.priority.dscp.phb.value: 64 is not between")

    def test_no_automatic_addresses(self):
        dhcp = {"ipv4": {"src": {"choice": "auto", "auto": {"choice": "dhcp"}}}}
        assert refusal(dhcp).startswith(f"{PLACE}.ipv4.src: wirerate knows no automatic value")

    def test_options(self):
        custom = {
            "type": {"copied_flag": {"value": 1}, "option_number": {"value": 5}},
            "value": "aabb01",
        }
        stamp = {
            "overflow": {"value": 2},
            "format": {
                "address_and_timestamps": [
                    {"address": {"value": "10.0.0.1"}, "timestamp": {"value": 9}}
                ]
            },
        }
        header = decode(
            {"ipv4": {"options": [{}, {"custom": custom}, {"timestamp": stamp}]}},
        )
        options = "94040000" + "8505aabb01" + "440c0521" + "0a00000100000009" + "000000"
        assert octets_of(header) == "4b" + DEFAULTS["ipv4"][2:] + options

    def test_options_of_given_length(self):
        custom = {"length": {"value": 9}, "value": ""}
        assert octets_of(decode({"ipv4": {"options": [{"custom": custom}]}}))[40:] == "00090000"
        stamp = {"pointer": {"value": 9}, "format": {"timestamps": [{}]}}
        assert octets_of(decode({"ipv4": {"options": [{"timestamp": stamp}]}}))[40:] == (
            "4408090000000000"
        )

    def test_header_length_that_is_given_stays(self):
        options = [{"choice": "end_of_options"}]
        given = {"ipv4": {"options": options, "header_length": {"value": 5}}}
        assert content(given, "header_length") == Fixed(5)
        auto = {"ipv4": {"options": options, "header_length": {"choice": "auto"}}}
        assert content(auto, "header_length") == Fixed(6)

    def test_options_errors(self):
        many: Any = {"ipv4": {"options": [{}] * 11}}
        assert refusal(many).startswith(f"{PLACE}.ipv4.options: 44 octets")
        digits = {"ipv4": {"options": [{}, {"custom": {"value": "0"}}]}}
        assert refusal(digits).startswith(f"{PLACE}.ipv4.options[1].custom.value: '0' is not")
        none: Any = {"ipv4": {"options": [{"timestamp": {}}]}}
        assert refusal(none).startswith(f"{PLACE}.ipv4.options[0].timestamp.format: one of")

    def test_usids(self):
        usids = {"locator": {"value": "fc00::ffff"}, "usids": ["0001", "0x0002", "0003"]}
        address = content({"ipv6": {"dst_usids": usids}}, "dst")
        assert address == Fixed(parse_number("fc00:0:1:2:3::", "p", 128, "ipv6"))

    @pytest.mark.parametrize(
        ("usids", "place"),
        [
            ({"usids": ["1"]}, "locator: it is missing"),
            ({"locator": {}, "locator_length": {"value": 113}}, "locator_length: 113 is not"),
            ({"locator": {"increment": {"count": 2}}}, "locator: it must be one value"),
            ({"locator": {}, "usids": ["0000"]}, "usids[0]: '0000' is not"),
            ({"locator": {}, "usids": ["0001"] * 7}, "usids[6]: it does not fit"),
            ({"locator": {}, "segments": []}, "segments: there is no such key"),
        ],
    )
    def test_usids_errors(self, usids, place):
        assert refusal({"ipv6": {"dst_usids": usids}}).startswith(f"{PLACE}.ipv6.dst_usids.{place}")

    def test_two_destinations(self):
        both: Any = {"ipv6": {"dst": {}, "dst_usids": {"locator": {}}}}
        assert refusal(both).startswith(f"{PLACE}.ipv6: dst and dst_usids are both there")


class TestTransport:
    def test_udp_and_tcp(self):
        assert content({"choice": "udp"}, "length") == Length()
        assert content({"choice": "udp"}, "checksum") == Checksum("pseudo", 17, zero_as_ones=True)
        assert content({"choice": "tcp"}, "checksum") == Checksum("pseudo", 6)

    def test_control_bits(self):
        flags = [row.name for row in transport.TCP.rows if row.name[:4] in {"ecn_", "ctl_"}]
        assert flags == [f"ecn_{bit}" for bit in ("ns", "cwr", "echo")] + [
            f"ctl_{bit}" for bit in ("urg", "ack", "psh", "rst", "syn", "fin")
        ]
        for place, flag in enumerate(flags):
            octets = octets_of(decode({"tcp": {flag: {"value": 1}}}))
            assert octets[24:28] == f"{0x5000 | 0x100 >> place:04x}"

    def test_echo(self):
        echo = {"identifier": {"value": 1}, "sequence_number": {"value": 2}}
        assert octets_of(decode({"icmp": {"echo": echo}})) == "0800000000010002"
        assert octets_of(decode({"icmpv6": {"echo": echo}})) == "8000000000010002"
        assert content({"choice": "icmp"}, "echo.checksum") == Checksum("message")
        assert content({"choice": "icmpv6"}, "echo.checksum") == Checksum("pseudo", 58)
        wrong = {"icmp": {"echo": {"type": {"value": 256}}}}
        assert refusal(wrong).startswith(f"{PLACE}.icmp.echo.type.value: 256 is not between")
        assert refusal({"icmp": {"echo": {"kind": {}}}}).startswith(f"{PLACE}.icmp.echo.kind: ")
        assert refusal({"icmp": {"raw": {}}}).startswith(f"{PLACE}.icmp.raw: there is no such key")


def test_the_page_shows_the_tables():
    """Written anew by: python -m wirerate.plan.headers.describe docs/headers.md."""
    page = (ROOT / "docs/headers.md").read_text(encoding="utf-8")
    assert page.partition(describe.MARK)[2] == f"\n{describe.tables()}"


def test_a_thousand_flows_decode_in_well_under_a_second():
    stack = [
        {"choice": "ethernet", "ethernet": {"src": {"value": "02:57:52:00:00:00"}}},
        {"choice": "vlan", "vlan": {"id": {"value": 5}}},
        {"choice": "ipv4", "ipv4": {"src": {"increment": {"start": "10.0.0.1", "count": 9}}}},
        {"choice": "tcp", "tcp": {"src_port": {"random": {"min": 1024, "count": 9}}}},
    ]
    start = time.process_time()
    for flow in range(1000):
        for index, element in enumerate(stack):
            decode_header(Reader(element, f"flows[{flow}].packet[{index}]"))
    assert time.process_time() - start < 1.0
