# SPDX-License-Identifier: BSD-3-Clause
"""What is asked for is sent: percent, frames/s, bits/s at L1 and L2, over one queue and two."""

from __future__ import annotations

import pytest

from support.host import ONE, TWO, needs_two_cpus
from support.program import adds_up, port

pytestmark = pytest.mark.alone

TOLERANCE = 0.001
LINE = ("--line-rate", "10G")
LINE_FPS = 10e9 / 8 / (64 + 20)  # 14,880,952 frames/s at 64 octets

RATES = [
    (("-r", "2", *LINE), 0.02 * LINE_FPS),
    (("-r", "0.5%", *LINE), 0.005 * LINE_FPS),
    (("-r", "200kpps"), 200e3),
    (("-r", "120Mbps:L1"), 120e6 / 8 / (64 + 20)),
    (("-r", "100Mbps:L2"), 100e6 / 8 / 64),
    (("-r", "400Mbps:L1", "-s", "512"), 400e6 / 8 / (512 + 20)),
    (("-r", "400Mbps:L2", "-s", "512"), 400e6 / 8 / 512),
]


def name_of(value):
    return " ".join(value) if isinstance(value, tuple) else None


def check(program, words, fps, seconds, queues):
    document = program.paced(*words, "-d", "4096", "--duration", f"{seconds}s")
    figures = port(document)
    assert figures["intended_load"]["fps"] == pytest.approx(fps)
    assert len(figures["tx_queues"]) == queues
    due = figures["tx_frames"] + figures["tx_frames_unsent"]
    assert due == figures["tx_frames_due"] == pytest.approx(fps * seconds, rel=TOLERANCE)
    if not document["verdict"]["valid"]:
        pytest.skip(f"the schedule was right, but the machine is busy: {document['verdict']}")
    sent = sum(queue["frames"] for queue in figures["tx_queues"])
    assert sent == pytest.approx(fps * seconds, rel=TOLERANCE)
    assert figures["offered_load"]["fps"] == pytest.approx(fps, rel=TOLERANCE)
    octets = figures["frame_size_octets"]
    assert figures["offered_load"]["l2_bps"] == pytest.approx(8 * octets * fps, rel=TOLERANCE)
    l1_bps = 8 * (octets + 20) * fps
    assert figures["offered_load"]["l1_bps"] == pytest.approx(l1_bps, rel=TOLERANCE)
    return figures


@pytest.mark.parametrize(("words", "fps"), RATES, ids=name_of)
def test_ring_one_queue(program, words, fps):
    adds_up(check(program, ["ring:rate", "-m", f"{ONE}.0", *words], fps, 0.5, 1))


@needs_two_cpus
@pytest.mark.parametrize(("words", "fps"), RATES[:4], ids=name_of)
def test_ring_two_queues_share_the_rate(program, words, fps):
    figures = check(program, ["ring:rate", "-m", f"[{TWO}].0", *words], fps, 0.5, 2)
    adds_up(figures)
    for queue in figures["tx_queues"]:
        assert queue["frames"] == pytest.approx(figures["tx_frames"] / 2, rel=TOLERANCE)


@pytest.mark.parametrize(("words", "fps"), [RATES[1], RATES[5]], ids=name_of)
def test_null(program, words, fps):
    check(program, ["null:rate", "-m", f":{ONE}.0", *words], fps, 0.5, 1)


@pytest.mark.slow
def test_over_five_seconds(program):
    check(program, ["ring:rate", "-m", f"{ONE}.0", "-r", "200kpps"], 200e3, 5, 1)


def test_the_whole_line_is_14_88_million_small_frames(program):
    document = program.measure("ring:rate", "-r", "100", *LINE, "--count", "1000")
    assert int(port(document)["intended_load"]["fps"]) == 14_880_952
    assert port(document)["intended_load"]["l1_bps"] == pytest.approx(10e9)
    assert port(document)["line_rate_bps"] == 10_000_000_000


def test_without_a_line_percent_needs_one(program):
    program.run("perf", "ring:rate", "-r", "50%", "--duration", "1").refused("--line-rate")


def test_without_a_line_and_a_rate_nothing_is_intended(program):
    document = program.measure("ring:rate", "--duration", "0.2s")
    assert port(document)["intended_load"] is None
    assert port(document)["tx_frames"] > 0
    assert any("no rate was asked for" in note for note in document["verdict"]["notes"])


@pytest.mark.parametrize(
    ("rate", "parts"),
    [
        ("0", ["'0'"]),
        ("101", ["'101'", "100 %"]),
        ("-1", []),
        ("5Gbps", ["5Gbps:L1", "5Gbps:L2"]),
        ("fast", ["'fast'"]),
        ("nan", ["'nan'"]),
    ],
)
def test_rates_that_are_none(program, rate, parts):
    program.run("perf", "ring:rate", f"--rate={rate}", "--duration", "1").refused(*parts)


def test_more_than_the_line_is_refused(program):
    run = program.run("perf", "ring:rate", "-r", "20Gbps:L1", *LINE, "--duration", "1")
    run.refused("20Gbps:L1")
