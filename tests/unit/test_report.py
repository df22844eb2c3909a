# SPDX-License-Identifier: BSD-3-Clause
"""Reports from made-up counters: pktperf's rows, the summary, the JSON document."""

from __future__ import annotations

import json

import pytest

from support.made_up import (
    FRAME,
    HZ,
    START,
    histogram,
    info,
    plan,
    port,
    rx_queue,
    snapshot,
    tx_queue,
)
from wirerate.cli.main import parse
from wirerate.cli.perf_args import settings_from_args
from wirerate.report import perf_json, perf_text
from wirerate.trial.result import port_results
from wirerate.trial.verdict import Verdict, judge

ENGINE = {"version": "0.1.0", "dpdk": "DPDK 22.11", "transmit": "static", "hugepages": False}


def settings(*words):
    return settings_from_args(parse(["perf", "ring:made-up", *words]), usable_lcores=[1, 2])


def two_queues(scale=1):
    tx = (
        tx_queue(0, frames=1000 * scale, done=False),
        tx_queue(1, frames=500 * scale, frames_unsent=scale, done=False),
    )
    rx = (rx_queue(0, frames=700 * scale), rx_queue(1, frames=800 * scale))
    return port(tx, rx, imissed=4)


def table(now, before=None, *, tick=0, fps=None, line_rate_bps=None, words=(), **about):
    plans = [plan(now.ports[0], fps, line_rate_bps)]
    return perf_text.table(
        now, before, plans, infos={"p0": info(**about)}, settings=settings(*words), tick=tick
    )


def row(text, name):
    [line] = [line for line in text.splitlines() if line.strip().startswith(name)]
    return line.split(":", 1)[1].split()


def test_rows_are_frames_per_second_per_queue():
    text = table(snapshot(two_queues(2), seconds=2.0))
    assert row(text, "RxQs") == ["700", "800", "Total:", "1,500"]
    assert row(text, "TxQs") == ["1,000", "500", "Total:", "1,500"]
    assert row(text, "Unsent") == ["0", "1", "Total:", "1"]
    assert row(text, "NoMBUF") == ["0", "Total:", "0"]
    assert row(text, "RxMissed")[0] == "4,"


def test_rows_are_of_the_time_since_the_look_before():
    before = snapshot(two_queues(), seconds=1.0)
    text = table(snapshot(two_queues(3), seconds=3.0), before)
    assert row(text, "TxQs") == ["1,000", "500", "Total:", "1,500"]


def test_two_looks_at_one_time_divide_by_nothing():
    now = snapshot(two_queues())
    assert row(table(now, now), "TxQs") == ["0", "0", "Total:", "0"]


def test_cycles_are_of_the_time_since_the_look_before():
    queue = tx_queue(burst_cycles=histogram(20, 20, 60))
    now = snapshot(port((queue,)), seconds=2.0)
    assert row(table(now), "TxCycle")[0] == "20/60"
    quiet = port((tx_queue(burst_cycles=histogram(20, 20, 60)),))
    assert row(table(now, snapshot(quiet)), "TxCycle")[0] == "-"


def test_the_header_is_pktperfs_and_turns():
    now = snapshot(two_queues())
    heads = [table(now, tick=tick).splitlines()[0] for tick in range(5)]
    assert heads[0] == heads[4] == "Port    : Rate Statistics per queue (-)"
    assert len(set(heads)) == 4


def test_a_line_is_described():
    text = table(
        snapshot(two_queues()),
        fps=1e6,
        line_rate_bps=10**10,
        words=["-b", "64"],
        link_speed_bps=10**10,
    )
    assert "Link up at 10 Gbps FDX Fixed" in text
    assert "WireSize 672 Bits, PPS 14,880,952" in text
    assert f"Cycles/Burst {int(HZ / 1e6 * 64 * 2):,}" in text
    assert "Burst: 64, MBUF Count: 8,192, PktSize:64, Rx/Tx 1,024/1,024, Rate 100%" in text


def test_an_assumed_line_and_none_are_told():
    now = snapshot(two_queues())
    assert "at 10 Gbps (--line-rate)" in table(now, line_rate_bps=10**10)
    down = snapshot(port((tx_queue(),), link_up=False))
    assert "Link down, no line rate" in table(down)


def test_rows_end_with_the_sending():
    # Sent for one second, looked at after two.
    text = table(snapshot(port((tx_queue(frames=1000),)), seconds=2.0))
    assert row(text, "TxQs") == ["1,000", "Total:", "1,000"]


def summary(made, fps=1500.0, verdict=None):
    look = snapshot(made)
    results = port_results(look, [plan(made, fps)], FRAME, None)
    judged = judge(look, results, sent=None, interrupted=False, death=None)
    return perf_text.summary(results, verdict or judged, look)


def test_the_summary_tells_load_and_forwarding_rate():
    text = summary(two_queues(), verdict=Verdict((), ("mind the gap",)))
    assert text.startswith("Summary\n")
    assert "intended load   1,500 frames/s = 1.008 Mbit/s at L1, 768 kbit/s at L2" in text
    assert "offered load    1,500 frames/s" in text
    assert "sent            1,500 frames in 1.000 s, unsent 1" in text
    assert "received        1,500 frames" in text
    assert text.endswith("Verdict: valid\n  note: mind the gap")


def test_the_summary_gives_its_reasons():
    text = summary(two_queues())
    assert "Verdict: invalid\n  - port 0: load not offered" in text


def test_a_port_that_only_receives_has_no_load():
    text = summary(port(rx=(rx_queue(),)), fps=None)
    assert "load" not in text
    assert "forwarding rate" in text


def test_a_port_that_only_sends_has_no_forwarding_rate():
    text = summary(port((tx_queue(),)), fps=None)
    assert "as fast as the device takes frames" in text
    assert "forwarding" not in text


def document(made, fps=1500.0, **about):
    look = snapshot(made)
    results = port_results(look, [plan(made, fps)], FRAME, None)
    verdict = judge(look, results, sent=None, interrupted=False, death=None)
    whole = perf_json.document(results, verdict, look, {"p0": info(**about)}, ENGINE)
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole
    return whole


def test_the_document_has_what_was_counted():
    whole = document(two_queues())
    assert whole["schema"] == perf_json.SCHEMA
    assert whole["verdict"]["valid"] is False
    [figures] = whole["ports"]
    assert (figures["tx_frames"], figures["rx_frames"]) == (1500, 1500)
    assert figures["tx_octets"] == 1500 * FRAME
    assert [queue["frames"] for queue in figures["tx_queues"]] == [1000, 500]
    assert [queue["frames_unsent"] for queue in figures["tx_queues"]] == [0, 1]
    assert figures["device"]["imissed"] == 4
    assert figures["intended_load"] == {"fps": 1500.0, "l1_bps": 1_008_000, "l2_bps": 768_000}
    assert whole["engine"]["resident_max_octets"] == 20 << 20


def test_times_are_in_nanoseconds():
    [figures] = document(port((tx_queue(),)))["ports"]
    assert figures["pacing_error_ns"] == {"p50": 10, "p99": 40, "max": pytest.approx(900)}


def test_what_is_not_known_is_null():
    empty = histogram()
    queue = tx_queue(frames=0, burst_cycles=empty, lateness_cycles=empty, last_tsc=START)
    [figures] = document(port((queue,)), fps=None)["ports"]
    for name in ("intended_load", "line_rate_bps", "cycles_per_frame"):
        assert figures[name] is None
    assert figures["tx_burst_cycles"] == {"p50": None, "p99": None}
    assert figures["pacing_error_ns"] == {"p50": None, "p99": None, "max": None}
