# SPDX-License-Identifier: BSD-3-Clause
"""The frames themselves, dissected by tshark: flows, checksums, sizes, and how many there are."""

from __future__ import annotations

from collections import Counter

import pytest

from support.host import ONE, TWO, needs, needs_two_cpus, tshark
from support.program import adds_up, port

FRAMES = 20_000
FCS = 4
GOOD = "1"  # of tshark's checksum status

CASES = [
    (1, "udp", 64),
    (7, "tcp", 65),
    (4096, "udp", 512),
    (20_000, "tcp", 1518),
    (20_000, "udp", 64),
    (4096, "tcp", 64),
]


def dissect(file, protocol):
    fields = ["frame.len", "ip.checksum.status", f"{protocol}.checksum.status", "ip.len"]
    fields += ["ip.src", "ip.dst", f"{protocol}.srcport", f"{protocol}.dstport", "ip.proto"]
    return tshark(file, fields)


@needs("tshark")
@pytest.mark.parametrize(("flows", "protocol", "size"), CASES)
def test_flows_checksums_and_sizes(program, tmp_path, flows, protocol, size):
    file = tmp_path / "sent.pcap"
    words = [f"pcap:,{file}", "-s", str(size), "--flows", str(flows), f"--{protocol}"]
    document = program.valid(*words, "--count", str(FRAMES))
    assert port(document)["tx_frames"] == FRAMES
    frames = dissect(file, protocol)
    assert len(frames) == FRAMES
    assert {frame[0] for frame in frames} == {str(size - FCS)}
    assert {frame[1:3] for frame in frames} == {(GOOD, GOOD)}
    assert {frame[3] for frame in frames} == {str(size - FCS - 14)}
    times = Counter(frame[4:] for frame in frames)
    assert len(times) == flows
    assert max(times.values()) - min(times.values()) <= 1, "flows take turns"


@needs("tshark")
@needs_two_cpus
@pytest.mark.parametrize("flows", [1, 7, 4096])
def test_two_queues_share_the_flows(program, tmp_path, flows):
    files = [tmp_path / "queue-0.pcap", tmp_path / "queue-1.pcap"]
    device = ",".join(["vdev:net_pcap0", *(f"tx_pcap={file}" for file in files)])
    words = [device, "-m", f":{TWO}.0", "--flows", str(flows)]
    document = program.valid(*words, "--count", str(FRAMES + 1))
    assert len(port(document)["tx_queues"]) == 2
    frames = [frame for file in files for frame in dissect(file, "udp")]
    assert len(frames) == FRAMES + 1
    assert {frame[1:3] for frame in frames} == {(GOOD, GOOD)}
    assert len({frame[4:] for frame in frames}) == flows


@needs("tshark")
def test_what_one_run_sends_another_can_receive(program, tmp_path):
    file = tmp_path / "sent.pcap"
    program.valid(f"pcap:,{file}", "--count", "1000")
    document = program.measure(f"pcap:{file},", "-m", f"{ONE}:.0", "--duration", "1")
    assert port(document)["rx_frames"] == 1000
    assert port(document)["rx_octets"] == 64_000


@pytest.mark.parametrize("count", [1, 31, 32, 33, 10_001])
def test_count_is_exact(program, count):
    figures = port(program.valid("ring:count", "--count", str(count)))
    assert (figures["tx_frames"], figures["rx_frames"]) == (count, count)
    assert figures["tx_frames_unsent"] == 0
    adds_up(figures)


@needs_two_cpus
@pytest.mark.parametrize("count", [1, 10_001])
def test_count_is_exact_over_two_queues(program, count):
    figures = port(program.valid("ring:count", "-m", f"[{TWO}].0", "--count", str(count)))
    queues = [queue["frames"] for queue in figures["tx_queues"]]
    assert len(queues) == 2
    assert sum(queues) == count
    assert max(queues) - min(queues) <= 1
    adds_up(figures)


@pytest.mark.parametrize("count", [1, 10_001])
def test_count_is_exact_when_paced(program, count):
    figures = port(program.paced("ring:count", "-r", "50kpps", "--count", str(count)))
    assert figures["tx_frames"] + figures["tx_frames_unsent"] == count
    adds_up(figures)


@needs_two_cpus
def test_two_maps_and_two_ports_count_each(program):
    first, second = TWO.split(",")
    words = ["ring:one", "ring:two", "-m", f"{first}.0", "-m", f"{second}.1"]
    document = program.valid(*words, "--count", "5000")
    for index in (0, 1):
        assert port(document, index)["port"] == index
        assert port(document, index)["tx_frames"] == 5000
        adds_up(port(document, index))
