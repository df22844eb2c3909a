# SPDX-License-Identifier: BSD-3-Clause
"""Flow control that stays on, and PAUSE frames that arrive, hide loss: notes and a line."""

import pytest

from support.made_up import flow, info, plan, port, ready, rx_queue, snapshot, tx_queue
from wirerate.cli.main import parse
from wirerate.cli.perf_args import settings_from_args
from wirerate.report import perf_text
from wirerate.trial.flow_control import flow_control_notes
from wirerate.trial.result import flow_results, port_results
from wirerate.trial.verdict import Ending, judge


def notes_of(*ports):
    look, flows = snapshot(*ports), [flow()]
    plans = [plan(made) for made in ports]
    found = judge(look, flow_results(look, flows), port_results(look, plans, flows), Ending())
    return [note for note in found.notes if "PAUSE" in note]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        (
            "rx",
            "flow control (rx) could not be switched off (net_x): PAUSE frames that arrive slow",
        ),
        ("tx", "flow control (tx) could not be switched off (net_x): it sends PAUSE frames"),
        ("full", "flow control (full) could not be switched off (net_x): PAUSE frames slow"),
    ],
)
def test_what_stays_on_is_noted(mode, says):
    infos = {"p0": info(flow_control="none"), "p1": info(flow_control=mode, driver="net_x")}
    (note,) = flow_control_notes({"p0": "port 0", "p1": "port 1"}, infos)
    assert note.startswith(f"port 1: {says}")
    assert "hide" in note
    assert note.endswith("switch it off at the link partner")


@pytest.mark.parametrize("mode", ["none", None])
def test_what_is_off_or_not_there_is_not_noted(mode):
    assert flow_control_notes({"p0": "port 0"}, {"p0": info(flow_control=mode)}) == ()


@pytest.mark.parametrize(
    ("count", "says"), [(1, "1 PAUSE frame arrived"), (12_000, "12,000 PAUSE frames arrived")]
)
def test_pause_frames_are_noted(count, says):
    receiver = port(rx=(rx_queue(),), name="p1", pause_frames=count)
    (note,) = notes_of(port((tx_queue(),)), receiver)
    assert note.startswith(f"port 1: {says}: the link partner asked this port to slow down")
    assert notes_of(port((tx_queue(),)), port(name="p1")) == []


def test_the_line_of_a_port_shows_it():
    asked = settings_from_args(parse(["perf", "ring:made-up"]), usable_lcores=[1, 2])
    made = port((tx_queue(),))

    def table(mode):
        run = ready([made], [flow()], asked, None, flow_control=mode)
        return perf_text.table(run, asked, snapshot(made), None, 0)

    assert "Link up, no line rate, Flow Control full, WireSize" in table("full")
    assert "Flow Control" not in table(None)
