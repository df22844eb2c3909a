# SPDX-License-Identifier: BSD-3-Clause
"""Measured flows in tables, summaries and documents, from made-up counters."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from support.made_up import (
    FRAME,
    REPLIES,
    flow,
    flow_queue,
    port,
    ready,
    result,
    rx_queue,
    snapshot,
    tx_queue,
)
from wirerate.cli.main import parse
from wirerate.cli.perf_args import settings_from_args as perf_settings
from wirerate.cli.run_args import settings_from_args
from wirerate.report import perf_json, perf_text, run_json, run_text


def settings(**other):
    return replace(settings_from_args(parse(["run", "plan.yaml"]), 1, [1, 2]), **other)


def made(*latencies, flows=1, **queue):
    """A port that sends so many flows, and receives the same of each."""
    names = [f"s{number}" for number in range(flows)]
    back = tuple(flow_queue(*latencies, stream=name, **queue) for name in names)
    sent = tuple(tx_queue(frames=4, stream=name, done=False) for name in names)
    return port(sent, (rx_queue(frames=4 * flows),), flows=back)


def run_of(own, flows=1, asked=None, also=()):
    plans = [flow(number, measured=True, rx_ports=(0,), fps=4.0) for number in range(flows)]
    return ready([own], [*plans, *also], asked or settings())


def summary(own, flows=1, **asked):
    run = run_of(own, flows, settings(**asked))
    return run_text.summary(result(run, snapshot(own)))


def live(now, before=None, **run):
    text = run_text.table(run_of(now.ports[0], **run), now, before, None)
    head, *rows = [line for line in text.split("\n\n")[0].splitlines() if "flows;" not in line]
    return head, [row.split() for row in rows]


def test_live_rows_have_frames_received_and_their_latency():
    head, [row] = live(snapshot(made(1000, 3000, 5000, frames=4), seconds=2.0))
    assert head.split()[-4:] == ["Rx", "frames/s", "latency", "us"]
    assert row[-2:] == ["2", "3.000"]


def test_live_latency_is_of_the_time_since_the_look_before():
    before = snapshot(made(1000, 1000))
    now = snapshot(made(1000, 1000, 7000, frames=5), seconds=3.0)
    [row] = live(now, before)[1]
    assert row[-2:] == ["2", "7.000"]
    [row] = live(snapshot(before.ports[0], seconds=3.0), before)[1]
    assert row[-2:] == ["0", "-"]


def test_a_floor_is_taken_off_live_latencies():
    run = run_of(made(1000, 3000), asked=settings(floor_ns=500.0))
    text = run_text.table(run, snapshot(made(1000, 3000)), None, None)
    assert text.splitlines()[1].split()[-1] == "1.500"


def test_unmeasured_flows_have_dashes_and_alone_no_columns():
    own = made(1000)
    _, rows = live(snapshot(own), also=[flow(1)])
    assert rows[1][-2:] == ["-", "-"]
    alone = run_text.table(ready([own], [flow()], settings()), snapshot(own), None, None)
    assert "latency" not in alone


def test_the_summary_tells_loss_latency_and_jitter():
    text = summary(made(400, 1400, 900, frames=4, duplicates=1, reordered=2))
    assert "    received      3 frames, lost 1 (25 %), duplicated 1, reordered 2\n" in text
    assert "    latency       0.400 us min, 0.900 us mean, 1.400 us max\n" in text
    assert "                  p50 0.900 us, p90 1.400 us, p99 1.400 us, p99.9 1.400 us" in text
    assert "    jitter        0.750 us mean IPDV, 1.000 us p99.9 PDV\n" in text
    assert "Total" not in text
    assert "floor" not in text


def test_the_summary_names_the_floor():
    text = summary(made(400, 1400), floor_ns=350.0)
    assert "0.050 us min, 0.550 us mean, 1.050 us max (floor of 0.350 us taken off)" in text


def test_what_is_uncommon_is_told_when_it_happens():
    assert "too late" not in summary(made(400))
    assert "reordered 5 (2 too late to tell)" in summary(made(400, reordered=5, too_late=2))
    lost = summary(made())
    assert "received      0 frames, lost 4 (100 %)" in lost
    assert "latency" not in lost


def test_several_flows_have_a_total():
    text = summary(made(400, 600, flows=3), flows=3)
    total = text.split("  Total of 3 measured flows\n")[1]
    assert total.startswith(
        "    sent          12 frames\n    received      6 frames, lost 6 (50 %)"
    )


def test_perf_tells_it_with_the_port():
    own = made(400, 600)
    asked = perf_settings(parse(["perf", "ring:a"]), [1, 2])
    run = ready([own], [flow(measured=True, rx_ports=(0,), fps=4.0)], asked)
    whole = result(run, snapshot(own))
    text = perf_text.summary(whole, asked)
    assert "  came back       2 frames, lost 2 (50 %), duplicated 0, reordered 0\n" in text
    assert "  latency         0.400 us min, 0.500 us mean, 0.600 us max\n" in text
    document = json.loads(json.dumps(perf_json.document(whole, FRAME)))
    [figures] = document["ports"]
    assert (figures["received"]["lost"], figures["latency_ns"]["max"]) == (2, 600)
    assert document["total"]["jitter_ns"]["ipdv_mean"] == 200


def document(own, run):
    return json.loads(json.dumps(run_json.document(result(run, snapshot(own)))))


def test_the_document_has_what_came_back():
    own = made(400, 600, flows=2)
    own = replace(own, replies=REPLIES)
    own = replace(own, rx=(replace(own.rx[0], foreign_frames=3, damaged_frames=1),))
    whole = document(own, run_of(own, 2, also=[flow(2)]))
    first, _, unmeasured = whole["flows"]
    assert first["received"] == {
        "frames": 2,
        "lost": 2,
        "loss_ratio": 0.5,
        "duplicates": 0,
        "reordered": 0,
        "too_late": 0,
        "impossible": 0,
        "octets": 2 * FRAME,
        "misdirected": 0,
        "first_s": 0.0,
        "last_s": 1.0,
        "forwarding_fps": 1.0,
    }
    assert first["latency_ns"]["p50"] == 400
    assert (first["latency_ns"]["count"], first["latency_ns"]["floor_ns"]) == (2, 0)
    assert first["jitter_ns"] == {"ipdv_mean": 200, "pdv_p99_9": 200}
    assert [unmeasured[key] for key in ("received", "latency_ns", "jitter_ns")] == [None] * 3
    assert (whole["total"]["tx_frames"], whole["total"]["received"]["frames"]) == (8, 4)
    [figures] = whole["ports"]
    assert figures["replies"]["echoes"] == 1
    assert (figures["firmware"], figures["numa_node"], figures["rx_clock"]) == (None, -1, "tsc")
    [queue] = figures["rx_queues"]
    assert [queue[f"{kind}_frames"] for kind in ("foreign", "strange", "damaged")] == [3, 0, 1]
    assert whole["environment"]["command"] == ["wirerate", "run", "plan.yaml"]


def test_without_measured_flows_there_is_no_total():
    own = made(400)
    whole = document(own, ready([own], [flow()], settings()))
    assert (whole["total"], whole["flows"][0]["received"]) == (None, None)


@pytest.mark.parametrize(("lost", "shown"), [(0, False), (3, True)])
def test_of_many_flows_those_with_loss_are_shown(lost, shown):
    number = run_text.SUMMARY_FLOWS + 1
    own = made(5, 5, 5, 5, flows=number)
    *others, last = own.flows
    own = replace(own, flows=(*others, replace(last, frames=4 - lost)))
    plans = [
        flow(at, title=f"flow {at}", measured=True, rx_ports=(0,), fps=4.0) for at in range(number)
    ]
    text = run_text.summary(result(ready([own], plans, settings()), snapshot(own)))
    assert (f"  flow {number - 1}: " in text) == shown
