# SPDX-License-Identifier: BSD-3-Clause
"""What a bridge's counts come to: looks, steering that is not believed, verdicts, reports."""

import json
from typing import Any

import pytest

from support.bridges import (
    ADDRESSES,
    DATA,
    KERNEL,
    bridge_of,
    counters_of,
    end_of,
    program_of,
    settings_of,
)
from support.made_up import ENVIRONMENT, HZ
from wirerate.errors import EngineRefusedError
from wirerate.plan.bridge_program import Layout
from wirerate.plan.bridge_settings import BridgeSettings
from wirerate.report import bridge_json, bridge_text
from wirerate.trial.bridge_look import BridgeLook, Flow, count_program
from wirerate.trial.bridge_steering import Steering, SteeringWatch, first_steering

LOOK = BridgeLook(
    at_ns=0,
    wire_rx=Flow(300, 30_000),
    wire_tx=Flow(200, 20_000),
    to_kernel=Flow(100, 10_000),
    from_kernel=Flow(90, 9000),
    fast=Flow(110, 11_000),
    busy_ns={DATA: 250_000_000, KERNEL: 500_000_000},
)


def words(frames, name="rx", lost=0):
    return {f"{name}_frames": frames, f"{name}_octets": 100 * frames, f"{name}_lost": lost}


def look_at(program, counts):
    return count_program(program, counters_of(program, counts)).look(5, HZ, 7)


RING = ("ring kernel", 0)
FROM_WIRE = words(300) | words(100, "kernel", lost=4) | words(190, "fast", lost=6)
FROM_KERNEL = words(80) | words(78, "kernel", lost=2) | {"completed": 33}


def test_a_shared_bridge_is_counted():
    program = program_of(Layout.SHARED, *ADDRESSES)
    passed_on = words(100) | words(97, "kernel", lost=3) | {"busy_cycles": HZ}
    counts = {("p0", 0): FROM_WIRE, RING: passed_on, ("k0", 0): FROM_KERNEL}
    look = look_at(program, counts)
    assert (look.at_ns, look.cpu_ns) == (5, 7)
    assert look.wire_rx == Flow(300, 30_000)
    assert look.to_kernel == Flow(97, 9700)
    assert look.from_kernel == Flow(80, 8000)
    assert look.fast == Flow(190, 19_000)
    assert look.wire_tx == Flow(190 + 78, 26_800)
    assert (look.ring_lost, look.kernel_lost, look.wire_lost, look.fast_lost) == (4, 3, 2, 6)
    assert look.completed == 33
    assert look.busy_ns == {DATA: 0, KERNEL: 1_000_000_000}


def test_a_dropped_fast_path_is_not_sent():
    program = program_of(Layout.SHARED, *ADDRESSES, "--fast-path", "drop")
    look = look_at(program, {("p0", 0): FROM_WIRE})
    assert (look.fast.frames, look.wire_tx.frames) == (190, 0)


def test_in_software_the_ring_of_the_fast_path_loses_what_is_the_fast_paths():
    program = program_of(Layout.SOFTWARE, *ADDRESSES, queues=2)
    counts = {
        ("p0", 0): FROM_WIRE,
        ("p0", 1): words(10) | words(10, "kernel"),
        ("ring fast", 0): words(190) | words(180, "kernel", lost=10),
    }
    look = look_at(program, counts)
    assert look.wire_rx.frames == 310
    assert look.to_kernel.frames == 110
    assert look.fast == Flow(180, 18_000)
    assert (look.kernel_lost, look.fast_lost, look.ring_lost) == (4, 6 + 10, 0)


def test_by_the_device_both_queues_are_the_wire():
    program = program_of(Layout.DEVICE, *ADDRESSES)
    counts = {("p0", 0): FROM_WIRE, ("p0", 1): words(50) | words(49, "kernel", lost=1)}
    look = look_at(program, counts)
    assert (look.wire_rx.frames, look.to_kernel.frames) == (350, 49)
    assert (look.ring_lost, look.kernel_lost) == (4, 1)


def test_programs_add_up():
    program = program_of(Layout.SHARED)
    once = count_program(program, counters_of(program, {("k0", 0): FROM_KERNEL}))
    assert once.plus(once).look(0, HZ, 0).from_kernel == Flow(160, 16_000)
    assert once.look(0, HZ, 0).from_kernel == Flow(80, 8000)


class Rules:
    """An engine whose device takes rules, or not."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def call(self, method, params):
        assert method == "ports.steer"
        self.asked.append(len(params["rules"]))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"accepted": [not why for why in answer], "reasons": answer}


def steering(settings: BridgeSettings, engine: Any) -> Steering:
    return first_steering(settings, engine)


DEDICATED = settings_of(*ADDRESSES, "--mode", "dedicated")


def test_steering_is_the_devices_where_it_takes_all_rules():
    engine = Rules(["", ""])
    assert steering(DEDICATED, engine) == Steering("device")
    assert engine.asked == [2]


def test_a_refused_rule_takes_back_the_others():
    engine = Rules(["", "not supported"], [])
    said = steering(DEDICATED, engine)
    assert said == Steering("software", "the device refused the rule for fd00::1: not supported")
    assert engine.asked == [2, 0]


def test_an_engine_that_refuses_rules_leaves_software():
    said = steering(DEDICATED, Rules(EngineRefusedError("no rules here")))
    assert said == Steering("software", "no rules here")


@pytest.mark.parametrize("words", [ADDRESSES, ("--mode", "dedicated")])
def test_nothing_is_steered_without_need(words):
    assert steering(settings_of(*words), Rules()) == Steering("none")


def test_rules_that_are_ignored_are_noticed_and_early_frames_forgiven():
    program = program_of(Layout.DEVICE, *ADDRESSES)
    watch = SteeringWatch()

    def seen(frames):
        counts = {("p0", 0): {"addressed": frames}, ("p0", 1): {"addressed": 99}}
        return watch.ignored(counters_of(program, counts))

    assert seen(3) == ""
    assert seen(3) == ""
    assert "2 frames" in seen(5)


def test_a_bridge_that_lost_nothing_is_valid():
    end = end_of(LOOK)
    assert end.verdict.valid, end.verdict
    assert end.verdict.notes == ()


@pytest.mark.parametrize(
    ("lost", "part"),
    [
        ("ring_lost", "ring between the workers was full"),
        ("kernel_lost", "the kernel port took none"),
        ("wire_lost", "frames from the kernel were lost"),
        ("fast_lost", "frames of the fast path were lost"),
    ],
)
def test_what_was_lost_is_a_reason(lost, part):
    look = BridgeLook(**vars(LOOK) | {lost: 12})
    (reason,) = end_of(look).verdict.reasons
    assert part in reason
    assert reason.startswith("12 ")


def test_other_reasons():
    for reason, end in (
        ("was killed", end_of(LOOK, death="the engine was killed by SIGKILL (9)")),
        ("interface x is gone", end_of(LOOK, gone="port: interface x is gone")),
        ("port: receiver dropped 5", end_of(LOOK, device={"imissed": 5})),
        ("dropped 7 frames at its socket", end_of(LOOK, device={"socket_drops": 7})),
        ("lost its CPU", end_of(LOOK, cpu_lost_max_ns=HZ // 50)),
    ):
        assert any(reason in said for said in end.verdict.reasons), end.verdict


def test_notes():
    end = end_of(BridgeLook(at_ns=0, untouchable=3), notes=("said before",))
    assert end.verdict.valid
    assert end.verdict.notes[:3] == (
        "said before",
        "no frame came from the wire",
        "no frame came from the kernel",
    )


def test_the_table_has_rates_between_looks_and_losses_since_the_start():
    later = BridgeLook(
        **vars(LOOK)
        | {
            "at_ns": 2_000_000_000,
            "to_kernel": Flow(300, 30_000),
            "kernel_lost": 1,
            "ring_lost": 4,
            "busy_ns": {DATA: 1_250_000_000, KERNEL: 500_000_000},
        }
    )
    bridge = bridge_of(*ADDRESSES, by="software", reason="no rules")
    lines = bridge_text.table(bridge, later, LOOK).splitlines()
    assert lines[1].split() == ["wire", ">", "kernel", "100", "0.10", "300", "5"]
    assert lines[2].split()[:4] == ["kernel", ">", "wire", "0"]
    assert "lcore 2 (data path) 50.0 %, lcore 3 (kernel) 0.0 %" in lines[4]
    assert lines[5] == "Steering in software: no rules"


def test_the_summary_and_the_setup_say_who_computes_checksums():
    bridge = bridge_of(*ADDRESSES, "--work", "400", complete=True)
    assert "what the kernel sends: completed by the bridge" in bridge_text.setup_text(bridge)
    text = bridge_text.summary(bridge, end_of(LOOK))
    assert "wire            300 frames received, 200 sent" in text
    assert text.rstrip().endswith("Verdict: valid")


def test_the_document():
    bridge = bridge_of(*ADDRESSES, by="software", reason="no rules")
    document = bridge_json.document(bridge, end_of(LOOK), ENVIRONMENT)
    json.dumps(document)
    assert document["schema"] == "wirerate-bridge/1"
    assert document["steering"] == {"by": "software", "reason": "no rules"}
    assert document["counters"]["to_kernel"] == {"frames": 100, "octets": 10_000}
    assert document["lcores"] == [
        {"lcore": DATA, "role": "data path", "busy": 0.25, "cpu_lost": 0, "cpu_lost_max_ns": 0},
        {"lcore": KERNEL, "role": "kernel", "busy": 0.5, "cpu_lost": 0, "cpu_lost_max_ns": 0},
    ]
    assert [port["port"] for port in document["ports"]] == ["p0", "k0"]
