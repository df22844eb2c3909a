# SPDX-License-Identifier: BSD-3-Clause
"""What a descriptor loop can send, and what the engine is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.flow import ETHERNET, compiled, fixed, headers, increment, ipv4, make_flow, settings
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.descriptor_loop import loop_frames, loop_notes, loop_port, loop_program
from wirerate.plan.lcore_map import parse_maps
from wirerate.plan.location import parse_location
from wirerate.plan.model import Burst, Duration, Plan, PlanPort, Trace
from wirerate.plan.run_settings import ENGINE_LOOP

LOOP = settings(engine=ENGINE_LOOP)
PORTS = (PlanPort("p0", parse_location("null:0"), "ports[0]"),)
PLAN = Plan(PORTS, ())
ONE = parse_maps([":1.0"], 1, range(8))


def sent(count, sizes=(64,)):
    """A flow whose frames repeat after ``count``."""
    source = increment("198.18.0.1", "0.0.0.1", count)
    return compiled(ETHERNET, ipv4(source), {"udp": {"dst_port": fixed(9)}}, sizes=sizes)


def lap(flow, lcore_map=ONE, asked=LOOP):
    return loop_frames(PLAN, asked, lcore_map, [flow])


@pytest.mark.parametrize(
    ("flow", "frames"),
    [(sent(200), {"p0": 200}), (sent(4, sizes=(64, 65, 66)), {"p0": 12}), (sent(1), {"p0": 1})],
)
def test_a_lap_is_the_period_of_the_frames(flow, frames):
    assert lap(flow) == frames


def traced(frames):
    """A flow of a capture file of so many frames."""
    scan = {"longest": 60, "shortest": 60, "octets": 60 * frames, "memory_octets": 99}
    scan |= {"truncated": 0, "short": 0, "backwards": 0, "first_ns": 0, "last_ns": 0}
    flow = make_flow(trace=Trace(Path("t.pcap")))
    return compile_flow(flow, "s0", PortFacts(0, None, None), scan | {"frames": frames})


@pytest.mark.parametrize("frames", [77, 65_536])
def test_a_lap_of_a_trace_is_its_frames(frames):
    assert lap(traced(frames)) == {"p0": frames}


def test_a_trace_that_no_ring_holds_is_refused_in_words():
    said = refusal(traced(65_537))
    assert "a trace of 65,537 frames" in said
    assert "leave --engine out" in said


def test_the_normal_engine_loops_nothing():
    assert lap(sent(100_000), asked=settings()) == {}


def refusal(flow, lcore_map=ONE, **asked):
    with pytest.raises(PlanError) as caught:
        lap(flow, lcore_map, settings(engine=ENGINE_LOOP, **asked))
    return str(caught.value)


def test_what_changes_is_refused():
    assert "repeat after 100,000" in refusal(sent(100_000))
    udp = headers(ETHERNET, ipv4(fixed("198.18.0.1")), {"udp": {"dst_port": fixed(9)}})
    measured = compile_flow(make_flow(udp, (128,), measured=True), "s0", PortFacts(0, None, None))
    assert "metrics" in refusal(measured)
    bursts = make_flow(udp, duration=Duration(burst=Burst(frames=10, gap_ns=1000.0)))
    assert "no bursts" in refusal(compile_flow(bursts, "s0", PortFacts(0, None, None)))


def test_what_a_ring_is_not_for_is_refused():
    assert "Tx lcores" in refusal(sent(1), parse_maps([":1-2.0"], 1, range(8)))
    assert "-d" in refusal(sent(1), tx_descriptors=512)
    assert "--warm-up" in refusal(sent(1), warm_up_ns=1)
    with pytest.raises(PlanError, match="sends 2 flows"):
        loop_frames(PLAN, LOOP, ONE, [sent(1), sent(1)])


def test_what_the_engine_is_told():
    laps = {"p0": 200}
    assert loop_port({"name": "p0", "mbufs": 1}, laps)["tx_loop_frames"] == 200
    assert "tx_loop_frames" not in loop_port({"name": "p1"}, laps)
    tasks = [
        {"kind": "rx", "port": "p0", "queue": 0, "burst": 64},
        {"kind": "tx", "port": "p0", "queue": 0, "burst": 32, "stream": "s0", "part": 0},
        {"kind": "tx", "port": "p1", "queue": 0, "burst": 32, "stream": "s1", "part": 0},
    ]
    told = loop_program({"workers": [{"lcore": 1, "tasks": tasks}], "streams": []}, laps)
    assert told["workers"][0]["tasks"] == [
        tasks[0],
        {"kind": "loop", "port": "p0", "queue": 0, "stream": "s0"},
        tasks[2],
    ]


def test_untried_drivers_are_named():
    ring = {"driver": "ixgbe", "proven": False, "descriptors": 4000, "laps": 20}
    notes = loop_notes({"p0": "port 0"}, {"p0": {"tx_loop": ring}}, {"p0": 200})
    assert notes[0] == (
        "port 0: descriptor loop (ixgbe), the Tx ring of 4,000 descriptors holds its 200 frames "
        "20 times"
    )
    assert "not yet been run on hardware" in notes[1]
    tried = loop_notes({"p0": "port 0"}, {"p0": {"tx_loop": ring | {"proven": True}}}, {"p0": 200})
    assert len(tried) == 1
