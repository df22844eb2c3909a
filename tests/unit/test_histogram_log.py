# SPDX-License-Identifier: BSD-3-Clause
"""--histogram: what HdrHistogram's own Python reads back, percentile by percentile."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from support.made_up import flow, flow_queue, port, ready, result, rx_queue, snapshot, tx_queue
from wirerate.cli.main import parse
from wirerate.cli.run_args import settings_from_args

pytest.importorskip("hdrh", reason="hdrhistogram is not installed (make setup)")

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from wirerate.report.histogram_log import GREATEST_NS, log_lines

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def lines_of(*latencies, labels=("f0",), floor_ns=0.0, hz=10**9):
    """The log of flows that all had these latencies, and of one that was not measured."""
    queues = tuple(flow_queue(*latencies, stream=f"s{number}") for number in range(len(labels)))
    sent = tuple(tx_queue(stream=f"s{number}") for number in range(len(labels) + 1))
    made = port(sent, (rx_queue(),), flows=queues)
    flows = [
        flow(number, measured=True, rx_ports=(0,), label=label, delay_ns=250_000_000)
        for number, label in enumerate(labels)
    ]
    settings = settings_from_args(parse(["run", "plan.yaml"]), 1, [1, 2])
    settings = replace(settings, floor_ns=floor_ns)
    run = ready([made], [*flows, flow(len(labels))], settings)
    return list(log_lines(result(run, snapshot(made, tsc_hz=hz)), STARTED))


def read(tmp_path, lines):
    """What HdrHistogram reads, by tag."""
    path = tmp_path / "latency.hlog"
    path.write_text("".join(f"{line}\n" for line in lines))
    reader = HistogramLogReader(str(path), HdrHistogram(1, GREATEST_NS, 3))
    found = {}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        found[histogram.get_tag()] = histogram
    reader.input_file.close()
    return found


def test_percentiles_are_those_of_the_latencies(tmp_path):
    made = random.Random(3)
    latencies = sorted(int(made.lognormvariate(10, 1)) for _ in range(5000))
    [histogram] = read(tmp_path, lines_of(*latencies)).values()
    assert histogram.get_total_count() == 5000
    for percent in (50, 90, 99, 99.9):
        exact = latencies[int(5000 * percent / 100) - 1]
        # 0.1 % of either histogram.
        assert histogram.get_value_at_percentile(percent) == pytest.approx(exact, rel=0.0025)
    assert histogram.get_max_value() == pytest.approx(latencies[-1], rel=0.001)


def test_values_are_nanoseconds(tmp_path):
    [histogram] = read(tmp_path, lines_of(2500, hz=2_500_000_000)).values()
    assert (histogram.get_min_value(), histogram.get_max_value()) == (1000, 1000)


def test_values_beyond_the_ends_are_counted_at_the_ends(tmp_path):
    [histogram] = read(tmp_path, lines_of(0, 10**12)).values()
    assert histogram.get_total_count() == 2
    assert histogram.get_max_value() == pytest.approx(GREATEST_NS, rel=0.001)


def test_each_measured_flow_has_a_line_of_its_name(tmp_path):
    found = read(tmp_path, lines_of(5, labels=("web", "a b,c", "a_b c")))
    assert list(found) == ["web", "a_b_c#2", "a_b_c#3"]


def test_the_time_is_that_of_the_flow():
    line = lines_of(1500)[-1]
    assert line.startswith("Tag=f0,0.250,0.750,1500.000,HISTF")


def test_a_floor_is_taken_off_and_told(tmp_path):
    lines = lines_of(1000, 3000, floor_ns=400.0)
    assert "#[wirerate: a floor of 400 ns has been taken off]" in lines
    [histogram] = read(tmp_path, lines).values()
    assert histogram.get_min_value() == 600
    assert histogram.get_max_value() == pytest.approx(2600, rel=0.001)
    assert not any("floor" in line for line in lines_of(1000))
