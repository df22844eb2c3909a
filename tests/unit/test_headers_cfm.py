# SPDX-License-Identifier: BSD-3-Clause
"""CFM frames, against octets worked out from IEEE 802.1Q-2018."""

import pytest

from support.nested_headers import NAMES, ccm, octets, refused, value


def test_continuity_check():
    given = ccm(
        NAMES,
        flags={"rdi": True, "ccm_interval": 3},
        sequence_number=value(258),
        ma_endpoint_identifier=value(8191),
        tlvs=[{"port_status": {}}, {"interface_status": {"status": "lower_layer_down"}}],
    )
    # IEEE 802.1Q-2018 21.4 and 21.6: level 5, opcode 1, flags, first TLV 70 octets on.
    expected = bytes.fromhex("a0 01 83 46 00000102 1fff")
    # 21.6.5: character strings of 2 and 3 octets, filled up to 48; then 16 of Y.1731.
    expected += bytes.fromhex("0402 6d64 0203 6d6131").ljust(48, b"\0") + bytes(16)
    # 21.5.4, 21.5.5 and the End TLV.
    expected += bytes.fromhex("02000102 04000107 00")
    assert octets("cfm", {"md_level": 5} | given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    # IEEE 802.1Q-2018 tables 21-19 and 21-20; format 1 of the first has no length.
    [
        ({"short_ma_name": {"two_oct_int": 513}}, "01 03020201"),
        ({"short_ma_name": {"choice": "primary_vid"}}, "01 01020001"),
        ({"short_ma_name": {"rfc_2685_vpn_id": "01020304050607"}}, "01 040701020304050607"),
        (
            {
                "md_name": {"mac_addr": {"mac": "02:57:52:00:00:01", "id": 7}},
                "short_ma_name": {"two_oct_int": 1},
            },
            "0308 025752000001 0007 03020001",
        ),
        (
            {
                "md_name": {"domain_name_str": "a.b", "length": value(9)},
                "short_ma_name": {"two_oct_int": 1, "length": {"choice": "value"}},
            },
            "0209 612e62 03010001",
        ),
    ],
)
def test_association_identifiers(given, expected):
    maid = octets("cfm", ccm(given))[10:58]
    assert maid == bytes.fromhex(expected).ljust(48, b"\0")


@pytest.mark.parametrize(
    ("given", "expected"),
    # IEEE 802.1Q-2018 21.5.3; subtypes of IEEE 802.1AB-2016 table 8-2.
    [
        ({}, "010001 00"),
        ({"sender_id": {"chassis_id": {}}}, "010009 06 04 000000000000 00"),
        (
            {
                "sender_id": {
                    "chassis_id": {
                        "network_address": {"ipv4": "192.0.2.1"},
                        "management_address_domain": {
                            "domain": "060101",
                            "management_address": {"address": "c0000201"},
                        },
                    }
                }
            },
            "010010 05 05 01c0000201 03 060101 04 c0000201",
        ),
        (
            {
                "sender_id": {
                    "chassis_id": {
                        "interface_name": "p0",
                        "length": value(7),
                        "management_address_domain": {},
                    }
                }
            },
            "010007 07 06 7030 01 00 00",
        ),
        ({"data": {"data": "aabbcc"}}, "030003 aabbcc"),
        ({"data": {"data": "aabbcc"}, "length": value(9)}, "030009 aabbcc"),
    ],
)
def test_tlvs(given, expected):
    body = {"transaction_id": value(0x01020304), "tlvs": [given]}
    # 21.7.3: the first TLV is 4 octets behind its offset; opcodes 3 and 2.
    tail = bytes.fromhex(expected)
    assert octets("cfm", {"op_code": {"lbm": body}}) == b"\0\3\0\4\1\2\3\4" + tail + b"\0"
    endless = {**body, "append_end_tlv": False}
    assert octets("cfm", {"op_code": {"lbr": endless}}) == b"\0\2\0\4\1\2\3\4" + tail


ASSOCIATION = ".op_code.ccm.ethernet_oam_protocol.cfm"


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ({}, f"{ASSOCIATION}.short_ma_name.char_str", "the name is empty"),
        (ccm({"md_name": {}}), f"{ASSOCIATION}.md_name.char_str", "the name is empty"),
        (
            ccm({"md_name": {"char_str": "x" * 43}, "short_ma_name": {"char_str": "xxx"}}),
            ASSOCIATION,
            "50 octets",
        ),
        (
            ccm({"short_ma_name": {"primary_vid": 4095}}),
            f"{ASSOCIATION}.short_ma_name.primary_vid",
            "4094",
        ),
        (
            ccm({"short_ma_name": {"rfc_2685_vpn_id": "00"}}),
            f"{ASSOCIATION}.short_ma_name.rfc_2685_vpn_id",
            "1 octets; give 7",
        ),
        ({"md_level": 8}, ".md_level", "not between"),
        ({"op_code": {"lbm": {}, "ltm": {}}}, ".op_code.ltm", "no such key"),
        (
            {"op_code": {"lbm": {"tlvs": [{"data": {"data": ""}, "sender_id": {}}]}}},
            ".op_code.lbm.tlvs[0]",
            "both there",
        ),
        (
            {
                "op_code": {
                    "lbm": {
                        "tlvs": [
                            {"sender_id": {"chassis_id": {"network_address": {"ipv4": "::1"}}}}
                        ]
                    }
                }
            },
            ".op_code.lbm.tlvs[0].sender_id.chassis_id.network_address.ipv4",
            "not an IPv4 address",
        ),
    ],
)
def test_refused_cfm(given, place, words):
    refused("cfm", given, place, words)
