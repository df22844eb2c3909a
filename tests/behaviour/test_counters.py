# SPDX-License-Identifier: BSD-3-Clause
"""Queue counters, the device's own counters and the other end's agree."""

from __future__ import annotations

import json
import signal

import pytest

from support.host import CPUS, ONE, TWO, needs_root, needs_two_cpus
from support.program import adds_up, port

RATE = ("-r", "10kpps")


@pytest.mark.parametrize("lcores", [ONE, f"[{TWO}]"])
def test_ring(program, lcores):
    words = ["ring:sum", "-m", f"{lcores}.0", "-r", "200kpps", "-d", "4096"]
    figures = port(program.valid(*words, "--duration", "1"))
    adds_up(figures)
    assert figures["tx_frames"] == figures["rx_frames"] > 0


@needs_root
@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
def test_veth(program, veth, kind):
    program.prefix = veth.inside
    locations = [f"{kind}:{veth.left}", f"{kind}:{veth.right}"]
    words = [*locations, "-m", f"{ONE}.0", "-m", f"{ONE}.1", *RATE]
    document = program.valid(*words, "--duration", "1")
    left, right = port(document, 0), port(document, 1)
    for figures in (left, right):
        adds_up(figures)
        assert figures["tx_frames"] == 10_000
    assert left["tx_frames"] == right["rx_frames"]
    assert right["tx_frames"] == left["rx_frames"]


@needs_root
@pytest.mark.parametrize("size", [64, 512, 1518])
def test_veth_carries_every_size(program, veth, size):
    program.prefix = veth.inside
    locations = [f"af_packet:{veth.left}", f"af_packet:{veth.right}"]
    words = [*locations, "-m", f":{ONE}.0", "-m", f"{ONE}:.1", "-s", str(size), *RATE]
    document = program.valid(*words, "--count", "1000")
    received = port(document, 1)
    assert received["rx_frames"] == port(document, 0)["tx_frames"] == 1000
    assert received["rx_octets"] == 1000 * size


def memif_pair(program, tmp_path, client_words):
    """A server that only receives until stopped, and a client that comes and goes meanwhile."""
    socket = tmp_path / "memif.sock"
    server_words = [f"memif:{socket},role=server", "-m", f"{CPUS[0]}:.0", "--json"]
    with program.start("perf", *server_words) as server:
        server.sending()
        client = program.valid(f"memif:{socket}", *client_words)
        server.signal(signal.SIGINT)
        done = server.finish()
    assert done.code == 0, done.err
    return port(json.loads(done.out)), port(client)


@needs_two_cpus
def test_memif_client(program, tmp_path):
    words = ["-m", f":{ONE}.0", *RATE, "--count", "5000"]
    server, client = memif_pair(program, tmp_path, words)
    adds_up(client)
    assert client["tx_frames"] == 5000
    assert server["rx_frames"] >= 5000  # those of a repeated trial, too


@needs_two_cpus
def test_memif_server_whose_client_has_gone(program, tmp_path):
    # The driver forgets its counters with the connection; what it had counted is known still.
    words = ["-m", f":{ONE}.0", *RATE, "--count", "5000"]
    server, _client = memif_pair(program, tmp_path, words)
    assert server["rx_frames"] == server["device"]["ipackets"]


@needs_two_cpus
def test_memif_server_while_its_client_sends(program, tmp_path):
    socket = tmp_path / "memif.sock"
    server_words = [f"memif:{socket},role=server", "-m", f"{CPUS[0]}:.0", "--duration", "1"]
    with program.start("perf", f"memif:{socket}", "-m", f":{ONE}.0", *RATE) as client:
        client.sending()
        figures = port(program.measure(*server_words))
        client.signal(signal.SIGINT)
        assert client.finish().code == 0
    assert figures["rx_frames"] == figures["device"]["ipackets"] > 0


def test_unmapped_ports_are_left_alone(program):
    words = ["ring:used", "af_packet:nosuchif", "-m", f"{ONE}.0", "-r", "100kpps"]
    run = program.run("perf", *words, "--count", "1000")
    assert (run.code, run.err) == (0, "")
    assert "Port 1: af_packet:nosuchif (not mapped: left alone)" in run.out
    document = program.valid(*words, "--count", "1000")
    assert [figures["port"] for figures in document["ports"]] == [0]
