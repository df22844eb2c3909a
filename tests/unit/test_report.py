# SPDX-License-Identifier: BSD-3-Clause
"""Reports from made-up counters: pktperf's rows, the summary, the JSON document."""

from __future__ import annotations

import json

import pytest

from support.made_up import (
    FRAME,
    HZ,
    START,
    flow,
    histogram,
    port,
    ready,
    result,
    rx_queue,
    snapshot,
    tx_queue,
)
from wirerate.cli.main import parse
from wirerate.cli.perf_args import settings_from_args
from wirerate.report import perf_json, perf_text, run_json, run_text
from wirerate.report.columns import wrapped
from wirerate.trial.cpu import CpuUse
from wirerate.trial.verdict import Verdict


def settings(*words):
    return settings_from_args(parse(["perf", "ring:made-up", *words]), usable_lcores=[1, 2])


def two_queues(scale=1):
    tx = (
        tx_queue(0, frames=1000 * scale, done=False),
        tx_queue(1, frames=500 * scale, frames_unsent=scale, done=False),
    )
    rx = (rx_queue(0, frames=700 * scale), rx_queue(1, frames=800 * scale))
    return port(tx, rx, imissed=4)


def flows_of(made, fps):
    return [flow(fps=fps)] if made.tx else []


def table(now, before=None, *, tick=0, fps=None, line_rate_bps=None, words=(), **about):
    made = now.ports[0]
    asked = settings(*words)
    run = ready([made], flows_of(made, fps), asked, line_rate_bps, **about)
    return perf_text.table(run, asked, now, before, tick)


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


def perf_result(made, fps=1500.0, words=(), about=None, **other):
    run = ready([made], flows_of(made, fps), settings(*words), **(about or {}))
    return result(run, snapshot(made), **other)


def summary(made, fps=1500.0, **other):
    return perf_text.summary(perf_result(made, fps, **other), settings())


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
    whole = perf_json.document(perf_result(made, fps, about=about), FRAME)
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


def test_the_cpu_is_told_when_it_is_to_be_saved():
    use = CpuUse(0.0734, ((1, 0.051), (2, 0.0)))
    text = summary(two_queues(), words=["--cpu-saver"], cpu=use)
    assert (
        "CPU             7.3 % of one core by getrusage, lcore 1 busy 5.1 %, lcore 2 busy 0.0 %"
    ) in text
    assert "getrusage" not in summary(two_queues(), cpu=use)


def test_thousands_of_reasons_are_not_told():
    text = summary(two_queues(), verdict=Verdict(tuple(f"reason {n}" for n in range(1000))))
    assert "  - reason 19\n  - and 980 more reasons: --json has all" in text


def flows_on_one_queue(number, *, scale=1, unsent=()):
    tx = tuple(
        tx_queue(
            stream=f"s{index}",
            frames=1000 * scale,
            frames_unsent=10 * scale * (index in unsent),
            done=False,
        )
        for index in range(number)
    )
    return port(tx, (rx_queue(frames=500 * scale),))


def run_of(made, **about):
    flows = [flow(n, title=f"flow f{n}") for n in range(len({queue.stream for queue in made.tx}))]
    return ready([made], flows, settings(), **about)


def run_table(now, before=None):
    return run_text.table(run_of(now.ports[0]), now, before)


def test_a_row_per_flow_and_port():
    text = run_table(snapshot(flows_on_one_queue(2, scale=2, unsent=[1]), seconds=2.0))
    mbits = 8 * 84 * 1000 / 1e6
    first, second = [line.split() for line in text.splitlines() if line.startswith("f")]
    assert first == ["f0", "port0", "1,000", f"{mbits:.2f}", "2,000", "0"]
    assert second == ["f1", "port0", "1,000", f"{mbits:.2f}", "2,000", "20"]
    [row_of_port] = [line.split() for line in text.splitlines() if line.startswith("port0")]
    rx = f"{mbits / 2:.2f}"
    assert row_of_port == ["port0", "2,000", f"{2 * mbits:.2f}", "500", rx, "1,000", "0"]


def test_rows_of_flows_are_of_the_time_since_the_look_before():
    before = snapshot(flows_on_one_queue(1), seconds=1.0)
    text = run_table(snapshot(flows_on_one_queue(1, scale=4), seconds=2.0), before)
    [line] = [line.split() for line in text.splitlines() if line.startswith("f0")]
    assert line[2:] == ["3,000", f"{8 * 84 * 3000 / 1e6:.2f}", "4,000", "0"]


def test_of_many_flows_the_worst_are_shown():
    text = run_table(snapshot(flows_on_one_queue(100, unsent=[77])))
    shown = [line.split()[0] for line in text.splitlines() if line.startswith("f")]
    assert len(shown) == run_text.WORST_SHOWN
    assert shown[0] == "f77"
    assert text.startswith("100 flows")


def test_names_of_any_length_fit():
    made = flows_on_one_queue(1)
    run = ready([made], [flow(label="a" * 30 + "b" * 30)], settings())
    line = run_text.table(run, snapshot(made), None).splitlines()[1]
    assert line.startswith("aaaaaaaaa…bbbbbbbbbb ")


def test_a_narrow_terminal_gets_what_fits():
    made = flows_on_one_queue(2, scale=10**9, unsent=[1])
    run = ready([made], [flow(n, label="f" * 25) for n in range(2)], settings())
    text = run_text.table(run, snapshot(made, seconds=60.0), None, room=80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("unsent") == text.count("missed") == text.count("received") == 1
    assert "1,000,000,000,000 10,000,000,000" in text, "sent and unsent, whole"
    whole = run_text.table(run, snapshot(made, seconds=60.0), None)
    assert whole.splitlines()[0].split()[1] == "port"
    assert "port0" not in text.split("\n\n")[0], "what matters least is left out"


def test_wide_terminals_get_the_whole_table():
    now = snapshot(flows_on_one_queue(2))
    assert run_text.table(run_of(now.ports[0]), now, None, room=200) == run_table(now)


def test_long_lines_are_wrapped_between_words(monkeypatch):
    plain = run_summary(flows_on_one_queue(2, unsent=[1]))
    assert max(map(len, plain.splitlines())) > 80
    monkeypatch.setattr(run_text, "terminal_columns", lambda: 80)
    text = run_summary(flows_on_one_queue(2, unsent=[1]))
    assert max(map(len, text.splitlines())) <= 80
    assert text.split() == plain.split()
    assert wrapped("a\n\nb\n", 80) == "a\n\nb\n"


def run_summary(made, **other):
    return run_text.summary(result(run_of(made), snapshot(made), **other))


def test_the_summary_of_a_run_tells_each_flow():
    text = run_summary(flows_on_one_queue(2, unsent=[1]))
    assert "  flow f0: 64 octets per frame\n    intended load 1,000 frames/s = 672 kbit/s" in text
    assert "sent          1,000 frames in 1.000 s, unsent 10" in text
    assert "pacing error  0.01 us p50, 0.04 us p99, 0.90 us max" in text
    assert "  port port0 (ring:made-up): sent 2,000, received 500 frames" in text
    assert "\n  - flow f1: load not offered: 10 of 1,010" in text


def test_the_summary_of_very_many_flows_ends():
    text = run_summary(flows_on_one_queue(60, unsent=[59]))
    assert text.count("octets per frame") == run_text.SUMMARY_FLOWS
    assert "flow f59: 64 octets" in text
    assert "and 10 more flows with fewer unsent or lost frames: --json has all" in text


def test_flows_without_a_rate_say_why():
    made = flows_on_one_queue(2)
    flows = [flow(0, None), flow(1, None, traced=True)]
    text = run_text.summary(result(ready([made], flows, settings()), snapshot(made)))
    assert "intended load as fast as the device takes frames" in text
    assert "intended load at the trace's own times" in text


def run_document(made):
    whole = run_json.document(result(run_of(made), snapshot(made)))
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole
    return whole


def test_the_document_of_a_run_has_all_flows():
    whole = run_document(flows_on_one_queue(60, unsent=[3]))
    assert whole["schema"] == "wirerate-run/1"
    assert [entry["name"] for entry in whole["flows"]] == [f"f{n}" for n in range(60)]
    assert whole["flows"][3]["tx_frames_unsent"] == 10
    assert whole["flows"][0]["intended_load"]["fps"] == 1000
    assert whole["flows"][0]["frame_size_octets"] == FRAME
    [figures] = whole["ports"]
    assert (figures["name"], figures["tx_frames"], figures["rx_frames"]) == ("port0", 60_000, 500)
    assert whole["cpu"] == {"share": None, "lcores": []}


def test_a_queue_of_many_flows_is_one_queue():
    [figures] = run_document(flows_on_one_queue(3, unsent=[1]))["ports"]
    assert figures["tx_queues"] == [
        {"queue": 0, "lcore": 1, "frames": 3000, "octets": 3000 * FRAME, "frames_unsent": 10}
    ]
