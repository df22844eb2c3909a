# SPDX-License-Identifier: BSD-3-Clause
"""Layouts: lengths, checksums, next headers, addresses and payload, and what does not fit."""

from typing import Any

import pytest

from support.flow import (
    COUNTING,
    ETHERNET,
    PORT,
    compiled,
    fixed,
    headers,
    increment,
    ipv4,
    make_flow,
    one_field,
)
from support.render import ones_complement_sum, render
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, check_flow, compile_flow
from wirerate.plan.fields import Checksum, Field, Fixed, Header, Length, NextHeader, Octets, Steps
from wirerate.plan.layout import internet_checksum, payload_octets
from wirerate.plan.model import Payload


def read(frame, bits, before=112):
    whole = int.from_bytes(frame, "big")
    return whole >> (8 * len(frame) - before - bits) & (2**bits - 1)


@pytest.mark.parametrize("bits", [8, 12, 13, 16, 32])
def test_lengths_of_any_width_follow_the_size(bits):
    header = one_field(bits, Length(less=20))
    stream = compile_flow(make_flow(header, (70, 64, 64, 80)), "s0", PORT).stream
    for i in range(8):
        assert read(render(stream, i), bits) == (70, 64, 64, 80)[i % 4] - 4 - 20


def test_a_length_that_does_not_fit():
    with pytest.raises(PlanError, match=r"custom\.value: the length comes to 296, which 8 bits"):
        check_flow(make_flow(one_field(8, Length()), (64, 300)))
    with pytest.raises(PlanError, match=r"comes to -40"):
        check_flow(make_flow(one_field(16, Length(less=100)), (64, 300)))


# --- checksums ---


@pytest.mark.parametrize("sizes", [(80,), (80, 81, 200)])
@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("kind", ["udp", "tcp", "icmp"])
def test_a_bad_checksum_is_bad_in_every_frame(kind, count, sizes):
    bad = {"generated": "bad"}
    field: dict[str, Any] = {"echo": {"checksum": bad}} if kind == "icmp" else {"checksum": bad}
    source = ipv4(increment("198.18.0.1", "0.0.7.1", count))
    source["ipv4"]["header_checksum"] = bad
    stream = compiled(ETHERNET, source, {kind: field}, sizes=sizes).stream
    protocol = {"udp": 17, "tcp": 6, "icmp": None}[kind]
    for i in range(count):
        frame = render(stream, i)
        assert ones_complement_sum(frame[14:34]) != 0xFFFF
        pseudo = b""
        if protocol is not None:
            pseudo = frame[26:34] + bytes([0, protocol]) + (len(frame) - 34).to_bytes(2, "big")
        assert ones_complement_sum(pseudo + frame[34:]) != 0xFFFF


def test_a_udp_checksum_of_zero_is_sent_as_all_ones():
    stream = compiled(
        ETHERNET, ipv4(fixed("0.0.0.0"), "0.0.0.0"), {"udp": {"src_port": increment(0, 1, 65536)}}
    ).stream
    sums = [render(stream, i)[40:42] for i in range(65536)]
    assert b"\xff\xff" in sums
    assert b"\0\0" not in sums


def test_a_udp_checksum_of_zero_in_every_frame_too():
    def udp(port):
        return [ETHERNET, ipv4(fixed("0.0.0.0"), "0.0.0.0"), {"udp": {"src_port": port}}]

    walk = compiled(*udp(increment(0, 1, 65536))).stream
    zero = next(
        i for i in range(1, 65536) if ones_complement_sum(zeroed(render(walk, i))) == 0xFFFF
    )
    stream = compiled(*udp(fixed(zero))).stream
    assert stream["checksums"] == []
    assert render(stream, 0)[40:42] == b"\xff\xff"


def zeroed(frame):
    """What the UDP checksum of a frame without addresses covers."""
    pseudo = bytes([0, 17]) + (len(frame) - 34).to_bytes(2, "big")
    return pseudo + frame[34:40] + bytes(2) + frame[42:]


def test_a_checksum_over_another_follows_it():
    """The inner one varies by addresses that the outer one does not cover itself."""
    stream = compiled(
        ETHERNET,
        ipv4(increment("198.18.0.1", "0.0.0.1", 3)),
        {"gre": {"checksum_present": fixed(1)}},
        {"udp": {}},
    ).stream
    assert [entry["offset"] for entry in stream["checksums"]] == [48, 38, 24]
    for i in range(3):
        assert ones_complement_sum(render(stream, i)[34:]) == 0xFFFF


def test_the_last_segment_is_the_destination_of_the_pseudo_header():
    segments = [{"segment": fixed("2001:db8::99")}, {"segment": fixed("2001:db8::2")}]
    stream = compiled(
        ETHERNET,
        {"ipv6": {"src": fixed("2001:db8::1"), "dst": fixed("2001:db8::2")}},
        {
            "ipv6_extension_header": {
                "routing": {
                    "choice": "segment_routing",
                    "segment_routing": {"segment_list": segments},
                }
            }
        },
        {"udp": {"src_port": increment(1, 1, 3)}},
        sizes=(128,),
    ).stream
    frame = render(stream, 1)
    udp = frame[54 + 40 :]
    last = bytes.fromhex("20010db8000000000000000000000099")
    pseudo = frame[22:38] + last + len(udp).to_bytes(4, "big") + bytes([0, 0, 0, 17])
    assert frame[20] == 43
    assert frame[54] == 17
    assert ones_complement_sum(pseudo + udp) == 0xFFFF


def test_a_checksum_over_addresses_needs_an_ip_header():
    with pytest.raises(PlanError, match=r"flows\[0\]\.packet\[1\]\.udp\.checksum: .* custom value"):
        compiled(ETHERNET, {"udp": {}})
    custom = compiled(ETHERNET, {"udp": {"checksum": {"custom": 0xABCD}}})
    assert render(custom.stream, 0)[20:22] == b"\xab\xcd"


def test_checksum_of_rfc_1071():
    # The example of RFC 1071 section 3: the sum of these octets is ddf2.
    assert internet_checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2
    assert internet_checksum(b"\x01") == internet_checksum(b"\x01\x00")
    assert internet_checksum(b"") == 0xFFFF
    assert internet_checksum(b"\xff\xff") == 0
    assert internet_checksum(b"\xff\xfe", 1) == 0


# --- what follows, addresses, payload ---


def test_the_kind_that_follows_is_looked_up_whole_then_without_its_suffix():
    numbers = {"ipv6_extension_header": 43, "ipv6_extension_header.hop_by_hop": 0, "udp": 17}
    first = Header("a", "p", (Field("next", 8, NextHeader(numbers, 59)),))

    def number(kind):
        rest = () if kind is None else (Header(kind, "p", (Field("x", 8, Fixed(1)),)),)
        return render(compile_flow(make_flow((first, *rest)), "s0", PORT).stream, 0)[0]

    assert number("udp") == 17
    assert number("ipv6_extension_header.hop_by_hop") == 0
    assert number("ipv6_extension_header.routing") == 43
    assert number("tcp") == 59
    assert number(None) == 59


def test_the_ports_own_address():
    packet = headers(ETHERNET)
    own = compile_flow(make_flow(packet), "s0", PortFacts(3, "0A:bb:cc:dd:ee:0f", None))
    assert render(own.stream, 0)[6:12].hex(":") == "0a:bb:cc:dd:ee:0f"
    made_up = compile_flow(make_flow(packet), "s0", PortFacts(258, None, None))
    assert render(made_up.stream, 0)[6:12].hex(":") == "02:57:52:00:01:02"


@pytest.mark.parametrize(
    ("payload", "begins"),
    [
        (Payload("increment_byte"), "000102030405"),
        (Payload("decrement_byte"), "fffefdfcfbfa"),
        (Payload("increment_word"), "000000010002"),
        (Payload("decrement_word"), "fffffffefffd"),
        (Payload("fixed", b"\xab\xcd\xef"), "abcdefabcdef"),
        (Payload("fixed", b"\xab\xcd", repeat=False), "abcd00000000"),
        (Payload(), "000000000000"),
    ],
)
def test_payloads(payload, begins):
    whole = payload_octets(payload, 16380)
    assert whole[:6].hex() == begins
    assert len(whole) == 16380
    for octets in (0, 1, 2, 5, 255, 257, 16379):
        assert payload_octets(payload, octets) == whole[:octets]
    stream = compiled(ETHERNET, sizes=(64, 999), payload=payload).stream
    assert render(stream, 0)[14:] == whole[: 60 - 14]
    assert render(stream, 1)[14:] == whole[: 995 - 14]


def test_counting_payloads_wrap():
    assert payload_octets(COUNTING, 600)[254:259].hex() == "feff000102"
    assert payload_octets(Payload("decrement_byte"), 600)[254:259].hex() == "0100fffefd"


def test_octets_stand_as_they_are():
    packet = (Header("custom", "p", (Field("bytes", 24, Octets(b"\0\x01\x02")),)),)
    assert render(compile_flow(make_flow(packet), "s0", PORT).stream, 0)[:4] == b"\0\x01\x02\0"


# --- what is refused before anything is opened ---


def test_frames_must_hold_the_headers():
    packet = headers(ETHERNET, {"vlan": {}}, {"ipv6": {}}, {"tcp": {"checksum": {"custom": 0}}})
    assert check_flow(make_flow(packet, (82, 1518))) == 1518
    with pytest.raises(PlanError) as caught:
        check_flow(make_flow(packet, (1518, 81)))
    assert str(caught.value) == (
        "flows[0].size: 81 octets are too few for these headers, which need 82 with FCS"
    )


def test_a_flow_needs_headers():
    with pytest.raises(PlanError, match=r"flows\[0\]\.packet: "):
        check_flow(make_flow(()))


def test_limits_of_the_engine():
    varied = tuple(Field(f"f{n}", 8, Steps(n, 1, 2)) for n in range(129))
    with pytest.raises(PlanError, match=r"flows\[0\]\.packet: 129 varying fields .* at most 128"):
        check_flow(make_flow((Header("custom", "flows[0].packet[0].custom", varied),), (200,)))
    sums = tuple(
        Header(
            "x",
            f"flows[0].packet[{n}].x",
            (Field("sum", 16, Checksum("message")), Field("v", 8, Steps(0, 1, 2))),
        )
        for n in range(17)
    )
    with pytest.raises(PlanError, match="17 checksums"):
        check_flow(make_flow(sums, (200,)))
