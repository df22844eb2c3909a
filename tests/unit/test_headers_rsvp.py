# SPDX-License-Identifier: BSD-3-Clause
"""RSVP Path messages, against Scapy and octets worked out from the RFCs."""

import pytest
from scapy.contrib.rsvp import RSVP, RSVP_HOP, RSVP_SESSION, RSVP_LabelReq, RSVP_Object, RSVP_Time

from support.nested_headers import (
    EXPLICIT,
    HOP,
    NAMED,
    RECORD,
    SESSION,
    TSPEC,
    content,
    decode,
    octets,
    path,
    refused,
    value,
)
from wirerate.plan.fields import Checksum, Steps


def test_path_message_as_scapy_builds_it():
    ours = octets(
        "rsvp",
        path(SESSION, HOP, {"time_values": {}}, {"label_request": {}}, time_to_live=value(9)),
    )
    theirs = (
        RSVP(Version=1, Flags=0, Class=1, TTL=9)
        / RSVP_Object(Length=16)
        / RSVP_SESSION(dest_addr="192.0.2.9", tunnel_id=5, ext_tunnel_id="192.0.2.1")
        / RSVP_Object(Length=12)
        / RSVP_HOP(neighbor="192.0.2.1", inface=0)
        / RSVP_Object(Length=8)
        / RSVP_Time(refresh=30000)
        / RSVP_Object(Length=8)
        / RSVP_LabelReq(reserve=0, L3PID=0x0800)
    )
    assert ours == bytes(theirs)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # RFC 3209 section 4.7.1: 3, 7, local protection, 6 octets of name and two of padding.
        (NAMED, "0010 cf07 03070106 74756e6e656c 0000"),
        # RFC 3209 section 4.7.2: three filters before it; an empty name has no octets.
        (
            {
                "session_attribute": {
                    "c_type": {
                        "lsp_tunnel_ra": {
                            "exclude_any": "1",
                            "include_any": "abcd",
                            "include_all": "ffffffff",
                            "flags": {"choice": "se_style_desired"},
                        }
                    }
                }
            },
            "0014 cf01 00000001 0000abcd ffffffff 07070400",
        ),
        # RFC 3209 section 4.6.2.1.
        ({"sender_template": {}}, "000c 0b07 00000000 0000 0001"),
        # RFC 2210 section 3.1; 125,000,000 is 0x4cee6b28 and 1,500 is 0x44bb8000 as singles.
        (
            TSPEC,
            "0024 0c02 00000007 01000006 7f000005 4cee6b28 44bb8000 7f800000 00000040 000005dc",
        ),
        # RFC 3209 sections 4.3.3.2 and 4.3.3.4: AS 65001 is loose.
        (EXPLICIT, "0010 1401 0108c0000200 1800 a004fde9"),
        # RFC 3209 sections 4.4.1.1 and 4.4.1.3.
        (RECORD, "0014 1501 0108c0000201 2002 03080101 00012345"),
        # Length, class number; C-Type 9 and contents are the plan's octets.
        ({"custom": {"type": value(200), "bytes": "09:01 02:03:04"}}, "0008 c8 0901020304"),
        ({"custom": {"length": value(4), "bytes": "01"}}, "0004 00 01"),
        ({"time_values": {"length": value(4)}}, "0004 0501 00007530"),
    ],
)
def test_objects(given, expected):
    assert octets("rsvp", path(given))[8:] == bytes.fromhex(expected)


def test_common_header():
    data = octets("rsvp", {"version": 2, "flag": "refresh_reduction_capable"})
    assert data[:2] == b"\x21\x01"
    assert data[4:] == bytes([64, 0, 0, 8])
    assert octets("rsvp", {"rsvp_length": value(99)})[6:8] == b"\x00\x63"
    assert octets("rsvp", {"rsvp_checksum": {"custom": 0xABCD}})[2:4] == b"\xab\xcd"
    bad = decode("rsvp", {"rsvp_checksum": {"generated": "bad"}})
    assert content(bad, "rsvp_checksum") == Checksum("header", bad=True)


def test_patterns_of_rsvp():
    steps = {"increment": {"start": 1, "count": 100}}
    given = {"session": {"c_type": {"lsp_tunnel_ipv4": {"tunnel_id": steps}}}}
    header = decode("rsvp", path(given))
    name = "message_type.path.objects[0].class_num.session.c_type.lsp_tunnel_ipv4.tunnel_id"
    assert content(header, name) == Steps(1, 1, 100)


OBJECT = ".message_type.path.objects[0].class_num"


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        (path({}), OBJECT, "must be there"),
        (path({"custom": {}}), f"{OBJECT}.custom.bytes", "5 octets"),
        (path({"custom": {"bytes": ""}}), f"{OBJECT}.custom.bytes", "0 octets"),
        (path({"time_values": {"length": value(3)}}), f"{OBJECT}.time_values.length.value", "4"),
        (
            path({"sender_tspec": {"c_type": {"int_serv": {"token_bucket_rate": -1}}}}),
            f"{OBJECT}.sender_tspec.c_type.int_serv.token_bucket_rate",
            "not between",
        ),
        (
            path({"session_attribute": {"c_type": {"lsp_tunnel": {"session_name": "x" * 255}}}}),
            f"{OBJECT}.session_attribute.c_type.lsp_tunnel.session_name",
            "255 octets",
        ),
        (path(*[{"custom": {"bytes": "00" * 60001}}] * 2), "", ""),
        (path({"session": {"ctype": {}}}), f"{OBJECT}.session.ctype", "is it c_type?"),
    ],
)
def test_refused_rsvp(given, place, words):
    refused("rsvp", given, place or ".rsvp_length" * (words == ""), words)
