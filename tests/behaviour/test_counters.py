# SPDX-License-Identifier: BSD-3-Clause
"""Queue counters, the device's own counters and the other end's agree."""

from __future__ import annotations

import json
import signal

import pytest

from support.host import CPUS, ONE, TWO, needs_root, needs_two_cpus
from support.program import adds_up, port

FRAMES = 20_000
RING = 1024
"""What a ring of memif holds by default."""
COUNT = ("--count", str(FRAMES))


@pytest.mark.parametrize("lcores", [ONE, f"[{TWO}]"])
def test_ring(program, lcores):
    figures = port(program.valid("ring:sum", "-m", f"{lcores}.0", "--duration", "500ms"))
    adds_up(figures)
    assert figures["tx_frames"] == figures["rx_frames"] > 0


@needs_root
@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
def test_veth(program, veth, kind):
    program.prefix = veth.inside
    locations = [f"{kind}:{veth.left}", f"{kind}:{veth.right}"]
    words = [*locations, "-m", f"{ONE}.0", "-m", f"{ONE}.1", *COUNT]
    document = program.valid(*words)
    left, right = port(document, 0), port(document, 1)
    for figures in (left, right):
        adds_up(figures)
        assert figures["tx_frames"] == FRAMES
    assert left["tx_frames"] == right["rx_frames"]
    assert right["tx_frames"] == left["rx_frames"]


@needs_root
@pytest.mark.parametrize("size", [64, 512, 1518])
def test_veth_carries_every_size(program, veth, size):
    program.prefix = veth.inside
    locations = [f"af_packet:{veth.left}", f"af_packet:{veth.right}"]
    words = [*locations, "-m", f":{ONE}.0", "-m", f"{ONE}:.1", "-s", str(size)]
    document = program.valid(*words, "--count", "1000")
    received = port(document, 1)
    assert received["rx_frames"] == port(document, 0)["tx_frames"] == 1000
    assert received["rx_octets"] == 1000 * size


def memif_pair(program, tmp_path, first_words, second_words):
    """Two ends of a memif: the first until the second has come and gone. Both ports' figures."""
    socket = tmp_path / "memif.sock"
    with program.start("perf", f"memif:{socket}", *first_words, "--json") as first:
        first.sending()
        second = port(program.valid(f"memif:{socket}", *second_words))
        first.signal(signal.SIGINT)
        done = first.finish()
    assert done.code == 0, done.err
    return port(json.loads(done.out)), second


@needs_two_cpus
def test_memif_sender_comes_and_goes(program, tmp_path):
    receive = ["-m", f"{CPUS[0]}:.0"]
    send = ["-m", f":{ONE}.0", *COUNT]
    first, second = memif_pair(program, tmp_path, receive, send)
    adds_up(second)
    assert second["tx_frames"] == first["rx_frames"] == FRAMES


@needs_two_cpus
def test_memif_counts_of_the_device_outlive_its_peer(program, tmp_path):
    # The driver forgets its counters with the connection. What was seen of them is kept, and that
    # some may be missing is told, so that nobody compares them.
    receive = ["-m", f"{CPUS[0]}:.0"]
    send = ["-m", f":{ONE}.0", *COUNT]
    first, _ = memif_pair(program, tmp_path, receive, send)
    device = first["device"]
    assert first["rx_frames"] > 0
    assert device["ipackets"] <= first["rx_frames"]
    if device["ipackets"] < first["rx_frames"]:
        assert device["resets"] or device["link_changes"] or not device["link_up"]


@needs_two_cpus
def test_memif_receiver_comes_and_goes(program, tmp_path):
    send = ["-m", f":{ONE}.0", "-r", "10kpps"]
    receive = ["-m", f"{CPUS[0]}:.0", "--duration", "1"]
    first, second = memif_pair(program, tmp_path, send, receive)
    assert sum(queue["frames"] for queue in second["rx_queues"]) == second["rx_frames"]
    assert 0 < second["rx_frames"] <= first["tx_frames"]
    # The sender goes on: what came between the readings of two counters is in one of them alone.
    assert abs(second["device"]["ipackets"] - second["rx_frames"]) <= RING


@needs_two_cpus
def test_memif_roles_can_be_told(program, tmp_path):
    socket = tmp_path / "memif.sock"
    server = ["perf", f"memif:{socket},role=server", "-m", f"{CPUS[0]}:.0"]
    with program.start(*server) as running:
        running.sending()
        client = f"memif:{socket},role=client"
        document = program.valid(client, "-m", f":{ONE}.0", "--count", "100")
        running.signal(signal.SIGTERM)
        assert running.finish().code == 0
    assert port(document)["tx_frames"] == 100


def test_unmapped_ports_are_left_alone(program):
    words = ["ring:used", "af_packet:nosuchif", "-m", f"{ONE}.0"]
    run = program.run("perf", *words, "--count", "1000")
    assert (run.code, run.err) == (0, "")
    assert "Port 1: af_packet:nosuchif (not mapped: left alone)" in run.out
    document = program.valid(*words, "--count", "1000")
    assert [figures["port"] for figures in document["ports"]] == [0]
