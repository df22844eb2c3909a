# SPDX-License-Identifier: BSD-3-Clause
"""The golden files: `wirerate preview` still makes them, tshark likes them, Scapy builds the same.

How to make them again: README.md in this folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from golden.plans import REBUILT
from support.golden import PCAPS, PLANS, differences, preview, read
from support.tshark import dissect, dissect_frames, rsvp_checksums
from wirerate.plan.document import load_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.golden import Golden

BAD = {
    "checksum_custom": ("ip", "tcp"),
    "ipv4_checksum_bad": ("ip",),
    "udp_checksum_bad": ("udp",),
    "walk_checksum_bad": ("tcp",),
}
"""Plans that ask for wrong checksums, and whose."""

LINKTYPE_PPP = 9  # of libpcap: RFC 1662 without flags
PPP_AT = 14

ALL = sorted(REBUILT.values(), key=lambda golden: golden.name)
each = pytest.mark.parametrize("golden", ALL, ids=lambda golden: golden.name)


@pytest.fixture(scope="module")
def dissected():
    """Every stored file, by path, as tshark sees it."""
    return dissect(sorted(PCAPS.glob("*.pcapng")))


@each
def test_the_preview_is_the_stored_file(golden: Golden, tmp_path):
    made = tmp_path / golden.stored.name
    frames = preview(golden.plan, made, golden.asked)
    assert list(differences(frames, read(golden.stored))) == []
    assert made.read_bytes() == golden.stored.read_bytes()


@each
def test_scapy_builds_the_same_frames(golden: Golden):
    assert list(differences(read(golden.stored), golden.sent())) == []


@each
def test_tshark_finds_nothing_wrong(golden: Golden, dissected):
    bad = BAD.get(golden.name, ())
    for number, frame in enumerate(dissected[golden.stored]):
        place = f"frame {number} ({':'.join(frame.protocols)})"
        assert frame.bad == bad, place
        assert all("Bad checksum" in text for text in frame.wrong), f"{place}: {frame.wrong}"
        assert len(frame.wrong) == len(bad), f"{place}: {frame.wrong}"


def test_tshark_checks_every_checksum(dissected):
    # What is not there: a UDP checksum of 0, and inner headers that tshark does not get to.
    for path, frames in dissected.items():
        for frame in frames:
            there = [
                name for name in frame.protocols if name in {"ip", "udp", "tcp", "icmp", "icmpv6"}
            ]
            seen = [name for name, _ in frame.checksums if name in there]
            if path.stem != "udp_without_checksum":
                assert sorted(there) == sorted(seen), path.stem
    by_name = {path.stem: frames for path, frames in dissected.items()}
    assert all(("gre", True) in frame.checksums for frame in by_name["gre_checksum"])
    assert all(("igmp", True) in frame.checksums for frame in by_name["igmpv1"])


def test_tshark_checks_rsvp_too():
    stored = REBUILT["rsvp_path"].stored
    assert rsvp_checksums(stored) == ["correct"] * len(read(stored))


def test_ppp_by_itself():
    # tshark has no dissector at PPP's EtherType, but one for a link of that kind.
    frames = [frame.octets[PPP_AT:] for frame in read(REBUILT["ppp"].stored)]
    for frame in dissect_frames(frames, LINKTYPE_PPP):
        assert frame.protocols == ("ppp", "ip", "udp", "data")
        assert frame.wrong == ()
        assert frame.bad == ()


def test_tshark_would_notice():
    good = read(REBUILT["udp_ports"].stored)[0].octets
    spoilt = bytearray(good)
    spoilt[-1] ^= 1
    echo = read(REBUILT["gtpv2"].stored)[0].octets
    # A Recovery element that claims 255 octets.
    beyond = echo.replace(bytes([3, 0, 1, 0, 5]), bytes([3, 0, 255, 0, 5]))
    assert beyond != echo
    frames = dissect_frames([good, bytes(spoilt), beyond])
    assert [frame.bad for frame in frames] == [(), ("udp",), ("udp",)]
    assert frames[0].wrong == ()
    assert "Bad checksum" in frames[1].wrong[0]
    assert not all("Bad checksum" in text for text in frames[2].wrong), frames[2]


def test_no_file_is_left_out():
    plans = {path.stem for path in PLANS.iterdir()}
    assert plans == {path.stem for path in PCAPS.iterdir()} == set(REBUILT)
    assert len(plans) >= 45


def keys(value: object) -> Iterator[str]:
    """All keys of a document, however deep, and the words of its choices."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            if key == "choice":
                yield part
            yield from keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys(part)


HEADERS = (
    "ethernet vlan ipv4 ipv6 udp tcp icmp icmpv6 arp vxlan mpls gre custom gtpv1 gtpv2 pfcpause "
    "ethernetpause ppp igmpv1 snmpv2c rsvp lacp ipv6_extension_header cfm"
)
PATTERNS = "value values increment decrement random auto generated custom"
REST = (
    "fixed weight_pairs predefined fixed_packets fixed_seconds burst delay inter_burst_gap bytes "
    "nanoseconds microseconds pps bps mbps percentage increment_byte decrement_byte "
    "increment_word decrement_word"
)


@pytest.mark.parametrize("words", [HEADERS, PATTERNS, REST], ids=["headers", "patterns", "rest"])
def test_every_word_of_the_language_is_in_a_plan(words):
    used = {word for golden in ALL for word in keys(load_document(golden.plan))}
    assert set(words.split()) - used == set()
