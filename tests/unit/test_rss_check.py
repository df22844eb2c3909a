# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate rss --check` on made-up devices: those that keep their word, and those that do not."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from support.rss_device import SENDER, RssDevice, flow_of
from wirerate.cli.main import parse
from wirerate.cli.rss_args import settings_of
from wirerate.errors import PlanError
from wirerate.plan.rss_flows import FlowKind, Spread, SpreadKind, flow_set, parse_spread
from wirerate.plan.rss_frames import flow_frame, flow_key, frame_key
from wirerate.plan.rss_hash import DEFAULT_KEY, SYMMETRIC_KEY, Layer4
from wirerate.plan.rss_settings import rss_ports
from wirerate.report.rss_json import document
from wirerate.report.rss_text import rss_text
from wirerate.trial.probes import BATCH
from wirerate.trial.rss_check import check_rss
from wirerate.trial.steering import Outcome

ABOUT = {"version": "0", "dpdk": "DPDK"}
PORTS = ("--check", "ring:a", "ring:b")


def settings(*words):
    return settings_of(parse(["rss", *PORTS, "-q", "4", *words]))


def checked(device, *words):
    return check_rss(device, settings(*words), ABOUT, [SENDER, device.info])


@pytest.mark.parametrize("kind", [(), ("--tcp",), ("--l3",), ("--ipv6",), ("--ipv6", "--l3")])
def test_all_as_predicted(kind):
    device = RssDevice()
    result = checked(device, "--spread", "even", *kind)
    assert result.passed
    assert result.observed == result.predicted == [128] * 4
    assert result.hashes == (512, 0)
    assert device.largest_batch == BATCH
    assert "Verdict: all 512 flows as predicted" in rss_text(result)


def test_another_table_than_the_device_says():
    result = checked(RssDevice((1, 0, 2, 3), said_reta=(0, 1, 2, 3)), "--spread", "even")
    text, found = rss_text(result), document(result, {})
    assert not result.passed
    assert len(result.misplaced) == 256
    assert "Verdict: 256 of 512 flows not as predicted" in text
    assert text.count("instead of") == 5
    assert found["misplaced"] == len(found["misplaced_flows"]) == 256
    assert json.loads(json.dumps(found)) == found


def test_frames_that_are_lost_are_sent_again():
    assert checked(RssDevice(lose=100)).passed
    result = checked(RssDevice(lose=10_000), "--flows", "200")
    assert result.lost == 200
    assert "200 of 200 frames did not arrive" in rss_text(result)


def test_hashes_that_differ():
    device = RssDevice()
    device.info["rss"]["key"] = SYMMETRIC_KEY.hex()
    result = checked(device)
    assert result.hashes[1] > 500
    assert "hashes differ" in rss_text(result)


def test_a_device_that_gives_no_hash():
    result = checked(RssDevice(hashes=False))
    assert result.passed
    assert "gives none" in rss_text(result)


def test_a_device_without_rss():
    result = checked(RssDevice(said=False))
    assert result.predicted is None
    assert not result.passed
    assert sum(result.observed) == 512
    assert "no prediction" in rss_text(result)
    assert document(result, {})["misplaced"] is None
    with pytest.raises(PlanError, match="use --spread random"):
        checked(RssDevice(said=False), "--spread", "even")


@pytest.mark.parametrize("version", [(), ("--ipv6",)])
@pytest.mark.parametrize(
    ("device", "outcome", "words"),
    [
        (RssDevice(), Outcome.STEERS, "queue 3: steers"),
        (RssDevice(steers=False), Outcome.IGNORED, "accepted but IGNORED: frames land on queue 0"),
        (RssDevice(refuses="no such rule"), Outcome.REFUSED, "refused: no such rule"),
    ],
)
def test_rules_are_tried(device, outcome, words, version):
    result = checked(device, "--steer", "--flows", "8", *version)
    assert [one.outcome for one in result.steering] == [outcome] * 4
    assert words in rss_text(result)
    assert device.given[-1] == []  # taken back
    assert [one["outcome"] for one in document(result, {})["steering"]] == [outcome.value] * 4


def test_a_rule_that_changes_nothing_tells_nothing():
    result = checked(RssDevice((0,), steers=False), "--steer", "--flows", "8")
    outcomes = [one.outcome for one in result.steering]
    assert outcomes == [Outcome.UNDECIDED, *[Outcome.IGNORED] * 3]


def built_anew(frame):
    """The same frame with Scapy's lengths and checksums."""
    packet = Ether(frame)
    for layer, names in ((IP, ("chksum", "len")), (IPv6, ("plen",)), (UDP, ("chksum", "len"))):
        for name in names if layer in packet else ():
            delattr(packet[layer], name)
    if TCP in packet:
        del packet[TCP].chksum
    return bytes(packet)


def test_frames_are_of_their_flows():
    for version in (4, 6):
        for layer4 in Layer4:
            kind = FlowKind(version, layer4)
            for flow in flow_set(200, None, kind, Spread(SpreadKind.RANDOM), 3):
                frame = flow_frame(flow, bytes(6), "02:00:00:00:00:02")
                assert flow_of(frame) == flow
                assert frame_key(frame, ports=layer4 is not Layer4.NONE) == flow_key(flow)
                assert len(frame) >= 60
                assert frame == built_anew(frame)
    assert frame_key(b"\xff" * 12 + b"\x08\x06" + bytes(46), ports=True) == b""


def test_a_seed_makes_the_same_flows():
    words = (None, FlowKind(), Spread(SpreadKind.RANDOM))
    assert flow_set(50, *words, 7) == flow_set(50, *words, 7) != flow_set(50, *words, 8)


def test_a_key_that_reaches_one_queue_only_is_refused():
    device = RssDevice()
    device.info["rss"]["key"] = bytes(40).hex()
    with pytest.raises(PlanError, match="no flow of IPv4 UDP goes to queue 1, 2, 3"):
        checked(device, "--spread", "even")


def test_skewed():
    result = checked(RssDevice(), "--spread", "skewed:0.4", "--flows", "100")
    assert Counter(result.observed) == Counter([40, 20, 20, 20])
    assert str(parse_spread("skewed:40%")) == "skewed:0.4"


def test_what_the_engine_is_asked():
    words = ("--key", "symmetric", "--fields", "ipv4,ipv4-udp", "--reta", "0,3", "-q", "4")
    sender, receiver = rss_ports(settings(*words))
    assert "rss" not in sender
    assert (receiver["rx_queues"], receiver["tx_queues"]) == (4, 1)
    assert receiver["rss"] == {
        "key": "6d5a" * 20,
        "fields": ["ipv4", "ipv4-udp"],
        "reta": [0, 3],
    }
    assert rss_ports(settings())[1]["rss"] == {"key": None, "fields": None, "reta": None}
    assert settings("--key", "default").key == DEFAULT_KEY


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--key", "6d5"), "give hex digits"),
        (("--key", "6d5a"), "2 octets; a key has 40 to 255"),
        (("--fields", "ipv4,sctp"), "there is no 'sctp'"),
        (("--reta", "0,4"), "there is no queue 4; with -q 4 queues are 0-3"),
        (("--reta", "0,x"), "whole number"),
        (("--spread", "evenly"), "write even, random, or skewed:0.5"),
        (("--spread", "skewed:2"), "not between 0 and 1"),
        (("--spread", "skewed"), "write even"),
        (("--flows", "0"), "1 to 1,000,000"),
        (("ring:c",), "3 locations: rss needs two"),
        (("--tcp", "--udp"), "not allowed with"),
    ],
)
def test_bad_words(words, why):
    with pytest.raises(PlanError, match=why):
        settings(*words)


def test_a_check_needs_one_number_of_queues():
    for words in ([], ["-q", "1,2"]):
        args = parse(["rss", "--check", "ring:a", "ring:b", *words])
        with pytest.raises(PlanError, match="one number of queues"):
            settings_of(args)
