# SPDX-License-Identifier: BSD-3-Clause
"""The plan that a replay stands for: ports, flows, rates, ends, addresses."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirerate.errors import PlanError
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import dump_document, parse_document
from wirerate.plan.location import parse_location
from wirerate.plan.model import Trace
from wirerate.plan.rate_document import plan_rate
from wirerate.plan.replay_document import (
    FRAMES_MAX,
    ReplayRequest,
    RewriteMac,
    TraceFacts,
    made_up_mac,
    replay_document,
)
from wirerate.units import Rate, RateKind, parse_rate

FACTS = TraceFacts(
    format="pcap",
    frames=1000,
    octets=590_000,
    shortest=60,
    longest=1514,
    truncated=0,
    short=0,
    backwards=0,
    first_ns=5,
    last_ns=10_000_005,
    memory_octets=2_000_000,
)
FILE = Path("/captures/a.pcap")
FULL = parse_rate("100%")
REQUEST = ReplayRequest(FILE, FULL)
DST, SRC = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


def made(request=REQUEST, locations=("null:x",), macs=None):
    ports = [parse_location(text) for text in locations]
    return replay_document(request, FACTS, ports, macs or {})


def test_a_port_and_a_flow_for_each_location():
    plan = made(locations=["null:x", "0000:01:00.1,foo=1", "pcap:,out.pcap"])
    assert plan["ports"] == [
        {"name": "p0", "location": "null:x"},
        {"name": "p1", "location": "0000:01:00.1,foo=1"},
        {"name": "p2", "location": "pcap:,out.pcap"},
    ]
    assert [flow["name"] for flow in plan["flows"]] == ["f0", "f1", "f2"]
    assert [flow["tx_rx"]["port"] for flow in plan["flows"]] == [
        {"tx_name": "p0"},
        {"tx_name": "p1"},
        {"tx_name": "p2"},
    ]


def test_the_least_is_as_fast_as_the_device_takes_until_interrupted():
    (flow,) = made()["flows"]
    assert flow["x-wirerate"] == {"trace": {"file": str(FILE)}}
    assert flow["rate"] == {"choice": "percentage", "percentage": 100}
    assert flow["duration"] == {"choice": "continuous", "continuous": {}}


def test_what_comes_back_from_a_ring_is_received():
    (flow,) = made(locations=["ring:x"])["flows"]
    assert flow["tx_rx"]["port"] == {"tx_name": "p0", "rx_names": ["p0"]}


def test_loops_are_frames():
    (flow,) = made(replace(REQUEST, loops=3))["flows"]
    assert flow["duration"] == {"choice": "fixed_packets", "fixed_packets": {"packets": 3000}}
    most = FRAMES_MAX // FACTS.frames
    (flow,) = made(replace(REQUEST, loops=most))["flows"]
    assert flow["duration"]["fixed_packets"]["packets"] == most * FACTS.frames
    with pytest.raises(PlanError, match=r"loops .*--duration"):
        made(replace(REQUEST, loops=most + 1))


def test_duration():
    (flow,) = made(replace(REQUEST, duration_ns=500_000_000))["flows"]
    assert flow["duration"] == {"choice": "fixed_seconds", "fixed_seconds": {"seconds": 0.5}}


def test_timing_takes_the_place_of_a_rate():
    (flow,) = made(replace(REQUEST, speed=2.5))["flows"]
    assert flow["x-wirerate"]["trace"]["speed"] == 2.5
    assert "rate" not in flow


def test_strict():
    (flow,) = made(replace(REQUEST, strict=True))["flows"]
    assert flow["x-wirerate"]["trace"]["strict"] is True


def overwrite(rewrite, locations=("null:x",), macs=None):
    plan = made(replace(REQUEST, rewrite=rewrite), locations, macs)
    return [flow["x-wirerate"]["trace"]["overwrite"] for flow in plan["flows"]]


def test_rewritten_addresses_are_the_first_twelve_octets():
    assert overwrite(RewriteMac(DST)) == [[{"offset": 0, "octets": "02:00:00:00:00:01"}]]
    assert overwrite(RewriteMac(DST, SRC)) == [
        [
            {"offset": 0, "octets": "02:00:00:00:00:01"},
            {"offset": 6, "octets": "02:00:00:00:00:02"},
        ]
    ]


def test_own_is_the_address_of_each_port():
    first, second = overwrite(RewriteMac(DST, own=True), ["null:x", "01:00.0"], {1: SRC})
    assert first[1] == {"offset": 6, "octets": "02:57:52:00:00:00"}
    assert second[1] == {"offset": 6, "octets": "02:00:00:00:00:02"}
    assert made_up_mac(258).hex() == "025752000102"


def test_flows_do_not_share_what_a_reader_might_change():
    plan = made(replace(REQUEST, loops=1), ["null:x", "null:y"])
    plan["flows"][0]["rate"]["percentage"] = 1
    plan["flows"][0]["duration"]["choice"] = "continuous"
    assert plan["flows"][1]["rate"]["percentage"] == 100
    assert plan["flows"][1]["duration"]["choice"] == "fixed_packets"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("50%", {"choice": "percentage", "percentage": 50}),
        ("1Mpps", {"choice": "pps", "pps": 1_000_000}),
        ("5Gbps:L2", {"choice": "bps", "bps": 5_000_000_000}),
        # 594 octets with FCS of 614 on the line.
        ("6.14Gbps:L1", {"choice": "bps", "bps": 5_940_000_000}),
        ("1000.5pps", {"choice": "bps", "bps": 4_754_376}),
        ("0.5pps", {"choice": "bps", "bps": 2376}),
    ],
)
def test_rates(text, said):
    assert plan_rate(parse_rate(text), FACTS.mean_size) == said


def test_a_rate_below_what_a_plan_can_say():
    with pytest.raises(PlanError, match="672"):
        plan_rate(parse_rate("0.1pps"), FACTS.mean_size)


@given(
    kind=st.sampled_from([RateKind.FPS, RateKind.L1_BPS, RateKind.L2_BPS]),
    value=st.floats(min_value=2000, max_value=1e12),
)
def test_the_plans_rate_is_the_asked_one(kind, value):
    rate = Rate(kind, value)
    size = FACTS.mean_size
    said = plan_rate(rate, size)
    fps = Fraction(said["pps"]) if "pps" in said else Fraction(said["bps"]) / (size * 8)
    asked = rate.to_fps(float(size), None)
    assert asked is not None
    assert abs(float(fps) - asked) <= 0.5 / float(size * 8) + asked * 1e-12


def test_facts_of_a_scan():
    scan = {name: getattr(FACTS, name) for name in TraceFacts.__dataclass_fields__}
    found = TraceFacts.from_scan({**scan, "more": 1})
    assert found == FACTS
    assert found.mean_size == Fraction(594)
    assert found.span_ns == 10_000_000


def test_the_plan_is_one_that_is_read_back():
    request = replace(REQUEST, loops=2, speed=0.5, strict=True, rewrite=RewriteMac(DST, SRC))
    plan = decode_plan(parse_document(dump_document(made(request, ["null:x", "ring:y"])).encode()))
    assert [port.location.text for port in plan.ports] == ["null:x", "ring:y"]
    flow = plan.flows[1]
    assert flow.trace == Trace(FILE, 0.5, ((0, DST), (6, SRC)), strict=True)
    assert (flow.tx_port, flow.rx_ports, flow.duration.frames) == ("p1", ("p1",), 2000)
    for text in ("50%", "1Mpps", "5Gbps:L2"):
        plan = decode_plan(made(replace(REQUEST, rate=parse_rate(text), duration_ns=1_500_000)))
        assert plan.flows[0].rate == parse_rate(text)
        assert plan.flows[0].duration.duration_ns == 1_500_000
