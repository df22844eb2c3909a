# SPDX-License-Identifier: BSD-3-Clause
"""Ports with devices and captures: what the engine is told of them, and what maps they need."""

from __future__ import annotations

import pytest

from support.devices import EAST_MAC, WEST_MAC, routed_plan, two_hosts
from support.flow import settings
from wirerate.cli.preview import _in_place, _notes
from wirerate.errors import PlanError
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.lcore_map import parse_maps
from wirerate.plan.port_params import port_params
from wirerate.plan.program import fit_map, make_program, uses_of

SETTINGS = settings()


def plan_of(**more):
    return decode_plan(routed_plan(two_hosts()) | more)


def lcores(plan, text):
    return fit_map(plan, parse_maps([text], len(plan.ports), range(8)))


def program_of(plan, text):
    flows = [compile_flow(flow, "s0", PortFacts(0, None, 10**9)) for flow in plan.flows]
    return make_program(plan, SETTINGS, lcores(plan, text), flows)


def tasks_of(program):
    """The kinds of tasks, with port and queue, by lcore."""
    return {
        worker["lcore"]: [(task["kind"], task["port"], task["queue"]) for task in worker["tasks"]]
        for worker in program["workers"]
    }


def test_ports_with_devices_receive_and_answer():
    plan = plan_of()
    assert list(map(sorted, uses_of(plan))) == [["rx", "tx"], ["rx"]]
    program = program_of(plan, "1:2.0/3.1")
    # Who sends on queue 0 answers on it; where nobody sends, who receives on queue 0.
    assert tasks_of(program) == {
        1: [("rx", "p0", 0)],
        2: [("tx", "p0", 0), ("reply", "p0", 0)],
        3: [("rx", "p1", 0), ("reply", "p1", 0)],
    }
    tasks = [task for worker in program["workers"] for task in worker["tasks"]]
    assert [task["answer"] for task in tasks if task["kind"] == "rx"] == [True, True]
    east, west = (task for task in tasks if task["kind"] == "reply")
    assert east["addresses"] == [
        {"mac": EAST_MAC, "ipv4": "10.0.0.2"},
        {"mac": EAST_MAC, "ipv6": "fd00::2"},
    ]
    assert west["addresses"][0] == {"mac": WEST_MAC, "ipv4": "10.0.1.2"}
    assert east["burst"] >= 1


def test_a_port_that_only_answers_has_a_tx_queue():
    plan = plan_of()
    params = port_params(plan, SETTINGS, lcores(plan, "1:2.0/3-4:5.1"), [128])
    assert [(port["rx_queues"], port["tx_queues"]) for port in params] == [(1, 1), (2, 1)]


def test_without_devices_nothing_is_answered():
    plan = decode_plan(
        {
            "ports": [{"name": "a", "location": "null:a"}],
            "flows": [{"name": "f", "tx_rx": {"port": {"tx_name": "a", "rx_names": ["a"]}}}],
        }
    )
    program = program_of(plan, "1:2.0")
    assert tasks_of(program) == {1: [("rx", "p0", 0)], 2: [("tx", "p0", 0)]}
    assert "captures" not in program
    assert "answer" not in program["workers"][0]["tasks"][0]


@pytest.mark.parametrize("text", [":2.0/3.1", "1:2.0"])
def test_a_map_must_let_devices_hear(text):
    with pytest.raises(PlanError, match=r"ports\[\d\]: port \w+ has devices .* LCORE:\.\d"):
        lcores(plan_of(), text)


def test_captures_are_told_by_the_engines_names():
    capture = {"name": "c", "port_names": ["west"], "filters": [{"ipv4": {}}]}
    program = program_of(plan_of(captures=[capture]), "1:2.0/3.1")
    (told,) = program["captures"]
    assert (told["port"], told["path"]) == ("p1", "c-west.pcap")
    assert told["filter"] == "ether[12:2] = 0x0800"


def test_a_captured_port_receives():
    plan = decode_plan(
        {
            "ports": [{"name": "a", "location": "null:a"}],
            "flows": [{"name": "f", "tx_rx": {"port": {"tx_name": "a"}}}],
            "captures": [{"name": "c", "port_names": ["a"]}],
        }
    )
    assert list(map(sorted, uses_of(plan))) == [["rx", "tx"]]
    with pytest.raises(PlanError, match=r"port a has devices or is captured"):
        lcores(plan, ":1.0")


def test_a_preview_asks_nobody_and_says_so():
    plan = plan_of()
    assert _in_place(plan).devices == ()
    flows = [compile_flow(flow, "s0", PortFacts(0, None, None)) for flow in plan.flows]
    (note,) = _notes(flows)
    assert note.startswith("flow f: gateways are asked for their MAC addresses when it is run")
    assert flows[0].stream["template"].startswith("025752ff0000")
