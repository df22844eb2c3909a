# SPDX-License-Identifier: BSD-3-Clause
"""Headers of tunnels: the fields that flags switch on, extension headers, lengths."""

import pytest

from support.headers import PLACE, content, decode, octets_of, refusal
from wirerate.plan.fields import Checksum, Length


class TestTunnel:
    def test_gre_checksum(self):
        header = decode({"gre": {"checksum_present": {"value": 1}, "reserved1": {"value": 3}}})
        assert octets_of(header) == "8000000000000003"
        assert header.fields[4].content == Checksum("message")
        assert content({"choice": "gre"}, "protocol").numbers["ethernet"] == 0x6558

    def test_gre_field_that_is_not_there(self):
        assert refusal({"gre": {"reserved1": {"value": 3}}}) == (
            f"{PLACE}.gre.reserved1: it is only there when checksum_present is 1; set that"
        )

    def test_flags_that_shape_a_header_do_not_vary(self):
        varied = {"gre": {"checksum_present": {"values": [0, 1]}}}
        assert refusal(varied).startswith(f"{PLACE}.gre.checksum_present: it must be one value")

    @pytest.mark.parametrize("flag", ["e_flag", "s_flag", "pn_flag"])
    def test_gtpv1_options_are_there_together(self, flag):
        header = decode({"gtpv1": {flag: {"value": 1}}})
        names = [field.name for field in header.fields[-3:]]
        assert names == ["squence_number", "n_pdu_number", "next_extension_header_type"]
        assert header.octets == 12

    def test_gtpv1_extension_headers(self):
        gtp = {
            "e_flag": {"value": 1},
            "message_type": {"value": 255},
            "next_extension_header_type": {"value": 0x85},
            "extension_headers": [
                {
                    "extension_length": {"value": 1},
                    "contents": {"value": 0x0109},
                    "next_extension_header": {"value": 0x40},
                },
                {"contents": {"value": "281474976710655"}},
            ],
        }
        assert octets_of(decode({"gtpv1": gtp})) == (
            "34ff000000000000" + "00000085" + "01010940" + "02ffffffffffff00"
        )
        assert decode({"gtpv1": gtp}).fields[-1].name == (
            "extension_headers[1].next_extension_header"
        )

    @pytest.mark.parametrize(
        ("gtp", "said"),
        [
            ({"squence_number": {"value": 1}}, "squence_number: it is only there when e_flag or"),
            ({"extension_headers": [{}]}, "extension_headers: they are only there when e_flag"),
            (
                {"e_flag": {"value": 1}, "extension_headers": [{"extension_length": {"value": 0}}]},
                "extension_headers[0].extension_length: 0 is not between 1 and 4",
            ),
            (
                {
                    "e_flag": {"value": 1},
                    "extension_headers": [
                        {"extension_length": {"value": 1}, "contents": {"value": 65536}}
                    ],
                },
                "extension_headers[0].contents.value: 65536 is not between 0 and 65535",
            ),
        ],
    )
    def test_gtpv1_errors(self, gtp, said):
        assert refusal({"gtpv1": gtp}).startswith(f"{PLACE}.gtpv1.{said}")

    def test_gtp_lengths(self):
        assert content({"choice": "gtpv1"}, "message_length") == Length(less=8)
        assert content({"choice": "gtpv2"}, "message_length") == Length(less=4)

    def test_gtpv2_teid(self):
        header = decode({"gtpv2": {"teid_flag": {"value": 1}, "teid": {"value": 7}}})
        assert octets_of(header) == "480000000000000700000000"
        assert "teid_flag is 1" in refusal({"gtpv2": {"teid": {"value": 7}}})
