# SPDX-License-Identifier: BSD-3-Clause
"""`--engine descriptor-loop` of replay and perf, on net_null: what is told and what is refused."""

from __future__ import annotations

import pytest

from support.captures import frame_octets, write_pcap
from support.host import ONE
from support.program import port

LAP = 200
LOOP = ("--engine", "descriptor-loop", "-m", f":{ONE}.0")


@pytest.fixture
def trace(tmp_path):
    """A capture file of so many frames."""

    def made(frames):
        content = [(0, frame_octets(60, number), None) for number in range(frames)]
        return str(write_pcap(tmp_path / f"{frames}.pcap", content))

    return made


def test_a_replayed_trace_is_in_the_ring(program, trace):
    asked = ("replay", trace(LAP), "null:a", *LOOP, "--loops", "500")
    document = program.run(*asked, "--json").document
    figures = port(document)
    ring = {"driver": "null", "proven": True, "descriptors": 4000, "laps": 20}
    assert (figures["tx_frames"], figures["laps"], figures["tx_loop"]) == (500 * LAP, 500, ring)
    assert document["engine"]["transmit_engine"] == "descriptor-loop"
    shown = program.run(*asked)
    assert "the Tx ring of 4,000 descriptors holds its 200 frames 20 times" in shown.out


def test_ready_frames_of_perf_are(program):
    asked = ("--flows", "64", "-r", "1Mpps", "--count", "100000", "--json")
    figures = port(program.run("perf", "null:a", *LOOP, *asked).document)
    assert (figures["tx_frames"], figures["tx_loop"]["laps"]) == (100_000, 64)


@pytest.mark.parametrize(
    ("frames", "where", "said"),
    [
        (70_000, "null:a", "a trace of 70,000 frames"),
        (65_536, "null:a", "65535 descriptors at most"),
        (LAP, "ring:a", "has no descriptor loop; the normal engine can send there"),
    ],
)
def test_what_cannot_loop_is_refused_in_a_sentence(program, trace, frames, where, said):
    program.run("replay", trace(frames), where, *LOOP, "--duration", "1").refused(said)
