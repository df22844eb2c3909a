# SPDX-License-Identifier: BSD-3-Clause
"""IPv6 segment routing headers, against Scapy and the examples of the OTG model."""

import pytest
from scapy.layers.inet6 import IPv6ExtHdrSegmentRouting, IPv6ExtHdrSegmentRoutingTLVPadN

from support.nested_headers import TWO, content, decode, laid_out, octets, refused, srh, usid, value
from wirerate.plan.fields import Fixed, Steps, Values


def test_segment_routing_as_scapy_builds_it():
    ours = octets(
        "ipv6_extension_header",
        srh(
            {
                "segment_list": TWO,
                "segments_left": value(1),
                "flags": {"oam": value(1), "alert": value(1)},
                "tag": value(0x1234),
                "pad_tlv": {},
            }
        ),
    )
    theirs = IPv6ExtHdrSegmentRouting(
        nh=17,
        addresses=["2001:db8::1", "2001:db8::2"],
        segleft=1,
        lastentry=1,
        oam=1,
        alert=1,
        tag=0x1234,
        tlv_objects=[IPv6ExtHdrSegmentRoutingTLVPadN(padding=bytes(6))],
    )
    assert ours == bytes(theirs)


def test_segment_routing_of_itself():
    header = decode("ipv6_extension_header", srh({"segment_list": TWO}))
    # OTG: segments_left is the number of segments, last_entry one less.
    assert laid_out(header, "tcp")[:8] == bytes([6, 4, 4, 2, 1, 0, 0, 0])
    assert laid_out(header, None)[0] == 59
    assert laid_out(header, "ipv6_extension_header")[0] == 43
    assert header.kind == "ipv6_extension_header"


def test_automatic_fields_may_be_given():
    automatic = {"choice": "auto", "auto": 0}
    given = srh(
        {"segment_list": TWO, "segments_left": automatic, "last_entry": value(7)},
        next_header=value(99),
        hdr_ext_len=automatic,
    )
    assert octets("ipv6_extension_header", given)[:5] == bytes([99, 4, 4, 2, 7])


@pytest.mark.parametrize(
    ("left", "final"),
    [
        (None, True),
        (value(1), True),
        (value(0), False),
        ({"values": [1, 2]}, True),
        ({"values": [0, 0]}, False),
    ],
)
def test_final_destination_while_segments_are_left(left, final):
    routing = {"segment_list": TWO} | ({} if left is None else {"segments_left": left})
    header = decode("ipv6_extension_header", srh(routing))
    name = "routing.segment_routing.segment_list[0].segment"
    assert header.final_destination == (name if final else None)
    assert content(header, name) == Fixed(0x20010DB8 << 96 | 1)


def test_containers_of_usids():
    # The model's own examples: NEXT-CSID F3216, and REPLACE-CSID with 32 bits.
    header = decode(
        "ipv6_extension_header",
        usid(
            {"locator": value("fc00::"), "usids": ["0001", "0002", "0003"]},
            {
                "locator_length": value(0),
                "usids": ["00050005", "00040004", "00030003", "00020002"],
            },
            flags={"oam": value(1)},
        ),
    )
    theirs = IPv6ExtHdrSegmentRouting(
        nh=17,
        addresses=["fc00:0:1:2:3::", "5:5:4:4:3:3:2:2"],
        segleft=1,
        lastentry=1,
        oam=1,
    )
    assert laid_out(header) == bytes(theirs)
    assert header.final_destination == "routing.segment_routing_usid.segment_list[0]"


def test_one_container_leaves_no_segment():
    header = decode("ipv6_extension_header", usid({"locator": value("fc00::"), "usids": ["0001"]}))
    assert header.final_destination is None
    assert laid_out(header)[3] == 0


def test_patterned_locator():
    steps = {"increment": {"start": "fc00::", "step": "0:1::", "count": 4}}
    header = decode("ipv6_extension_header", usid({"locator": steps, "usids": ["0007"]}))
    segment = content(header, "routing.segment_routing_usid.segment_list[0]")
    assert segment == Steps(0xFC000000_0007 << 80, 1 << 96, 4)
    values = {"values": ["fc00::", "fd00:1::ffff"]}
    header = decode("ipv6_extension_header", usid({"locator": values, "usids": ["0007"]}))
    segment = content(header, "routing.segment_routing_usid.segment_list[0]")
    assert segment == Values((0xFC000000_0007 << 80, 0xFD000001_0007 << 80))


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ({}, ".routing.segment_routing.segment_list", "0 segments"),
        (srh({"segment_list": TWO * 64}), ".routing.segment_routing.segment_list", "128 segments"),
        (
            srh({"segment_list": TWO, "segments_left": {"values": [0, 1]}}),
            ".routing.segment_routing.segments_left",
            "make two flows",
        ),
        (
            srh({"segment_list": TWO, "pad_tlv": {"length": value(3)}}),
            ".routing.segment_routing.pad_tlv.length",
            "3 octets do not fill",
        ),
        (
            srh({"segment_list": TWO, "pad_tlv": {"length": {"values": [6, 14]}}}),
            ".routing.segment_routing.pad_tlv.length",
            "cannot change",
        ),
        (
            srh({"segment_list": [{"segment": value("::1"), "weight": 1}]}),
            ".routing.segment_routing.segment_list[0].weight",
            "no such key",
        ),
        (
            usid({"locator_length": value(113), "usids": ["1"]}),
            ".routing.segment_routing_usid.segment_list[0].locator_length",
            "0 to 112",
        ),
        (
            usid({"locator_length": value(112), "usids": ["0001", "0002"]}),
            ".routing.segment_routing_usid.segment_list[0].usids",
            "144 bits",
        ),
        (
            usid({"usids": ["0001", "0000"]}),
            ".routing.segment_routing_usid.segment_list[0].usids",
            "ends the container",
        ),
        (usid({}), ".routing.segment_routing_usid.segment_list[0].usids", "missing"),
        (
            usid({"locator_length": value(0), "usids": ["00010001"]}),
            ".routing.segment_routing_usid.segment_list[0].usids",
            "4 uSIDs of 32 bits",
        ),
        (
            usid({"locator": {"increment": {"step": "::1", "count": 2}}, "usids": ["1"]}),
            ".routing.segment_routing_usid.segment_list[0].locator",
            "behind the first 32",
        ),
    ],
)
def test_refused_extension_headers(given, place, words):
    refused("ipv6_extension_header", given, place, words)
