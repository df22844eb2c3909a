# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel drops at a port's sockets is counted: sent = received + dropped, to the frame."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from support.host import ONE, needs_root, run
from support.program import wait_for
from wirerate.engine.counters import Counters

pytestmark = pytest.mark.alone

FRAMES = 5_000
RING = 64

# Sends its third argument's number of frames on an interface from the kernel's side.
FLOOD = """
import socket, sys
made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
made.bind((sys.argv[1], 0))
frame = bytes.fromhex("025752000001" "025752000002" "88b5").ljust(60, b"\\0")
sent = sum(made.send(frame) == len(frame) for _ in range(int(sys.argv[2])))
print(sent)
"""

LOCATIONS = {
    "af_packet": "af_packet:{}",
    "tiny": f"af_packet:{{}},framecnt={RING}",
    "af_xdp": "af_xdp:{}",
}


def words_of(directory):
    """Received by the rx task; the device's imissed; the kernel's drops; when these were asked."""
    counters = Counters(max(directory.glob("counters-*")))
    rx, port = counters.of_kind("rx")[0], counters.of_kind("port")[0]
    return rx["frames"], port["imissed"], port["socket_drops"], port["sampled_tsc"]


def flood(wire):
    sent = run(*wire.inside, sys.executable, "-c", FLOOD, wire.left, str(FRAMES))
    assert int(sent) == FRAMES


def settled(directory):
    """The words once two samples of the device in a row agree."""
    seen = [words_of(directory)]

    def same():
        time.sleep(0.15)
        seen.append(words_of(directory))
        return seen[-1][3] != seen[-2][3] and seen[-1][:3] == seen[-2][:3]

    wait_for("the counters to rest", same)
    return seen[-1]


@needs_root
@pytest.mark.parametrize("kind", LOCATIONS)
def test_a_reader_that_stands_still_loses_nothing_unseen(program, veth, kind):
    program.prefix = veth.inside
    words = ["perf", LOCATIONS[kind].format(veth.right), "-m", f"{ONE}:.0", "--json"]
    with program.start(*words) as running:
        directory = running.sending()
        engine = running.engine_pid()
        assert words_of(directory)[:3] == (0, 0, 0)
        os.kill(engine, signal.SIGSTOP)
        try:
            flood(veth)
        finally:
            os.kill(engine, signal.SIGCONT)
        # Counters rest, too, while the reader's lcore still has no CPU.
        wait_for("the reader to go on", lambda: words_of(directory)[0] > 0)
        received, missed, dropped, _ = settled(directory)
        running.signal(signal.SIGINT)
        ended = running.finish()
    assert ended.code in {0, 130}, ended.err
    print(f"{kind}: {received} received, {missed} missed, {dropped} dropped")
    assert received + missed + dropped == FRAMES
    assert received > 0
    assert dropped > 0
    if kind == "tiny":
        assert (received, missed) == (RING, 0)


@needs_root
def test_an_idle_wire_drops_nothing(program, veth):
    program.prefix = veth.inside
    words = ["perf", f"af_packet:{veth.right}", "-m", f"{ONE}:.0", "--json"]
    with program.start(*words) as running:
        directory = running.sending()
        assert settled(directory)[:3] == (0, 0, 0)
        running.signal(signal.SIGINT)
        running.finish()
