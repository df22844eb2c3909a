# SPDX-License-Identifier: BSD-3-Clause
"""`--count-flows`: as many 5-tuples as were sent, or as there is room for."""

from __future__ import annotations

import signal

import pytest

from support.host import CPUS, ONE, needs_two_cpus

pytestmark = pytest.mark.alone

FRAMES = 20_000
FLOWS = 5_000
TRIES = 3


def counted(program, other_program, socket, words):
    """What a reflector says of FRAMES frames; on a busy machine not all are sent at once."""
    reflect = ("reflect", f"memif:{socket},role=server", "-m", f"{ONE}.0", "--json", *words)
    count = ("--count", str(FRAMES), "-r", "50kpps", "--flows", str(FLOWS), "--json")
    for _ in range(TRIES):
        with other_program.start(*reflect) as reflector:
            reflector.sending()  # a large table takes its time, and what came before is dropped
            sent = program.run("perf", f"memif:{socket}", "-m", f"{CPUS[0]}.0", *count)
            reflector.signal(signal.SIGTERM)
            document = reflector.finish().document
        assert sent.code == 0, sent.err
        frames = sent.document["ports"][0]["tx_frames"]
        received = document["total"]["rx_frames"]
        if frames == received == FRAMES:
            return document
        print("not all was sent, or read before the sender left:", sent.document["verdict"])
    return pytest.fail(f"{frames} of {FRAMES} frames were sent, {received} of them read")


@needs_two_cpus
@pytest.mark.parametrize("way", [(), ("--rx-only",)], ids=["reflect", "rx-only"])
@pytest.mark.parametrize("room", [None, 1000], ids=["room for all", "too little"])
def test_distinct_flows(program, other_program, tmp_path, way, room):
    words = ("--count-flows" if room is None else f"--count-flows={room}", *way)
    document = counted(program, other_program, tmp_path / "x.sock", words)
    seen, total = room or FLOWS, document["total"]
    assert total["distinct_flows"] == seen
    assert total["distinct_overflow"] == FRAMES * (FLOWS - seen) // FLOWS
    told = any("raise --count-flows" in note for note in document["verdict"]["notes"])
    assert told is (seen < FLOWS)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--count-flows", "0"], ["1 to 16,777,216"]),
        (["--count-flows", "null:y"], ["put --count-flows last"]),
        (["--listen", "here"], ["--listen 'here'", "HOST:PORT"]),
        (["--listen", "::1:80"], ["brackets"]),
    ],
)
def test_what_is_refused(program, words, parts):
    program.run("reflect", "null:x", *words).refused(*parts)
