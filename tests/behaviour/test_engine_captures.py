# SPDX-License-Identifier: BSD-3-Clause
"""What a port receives is in the capture, octet by octet, in order and at the right time.

The engine is driven by its own interface (docs/design/0002 and 0005), without plans.
"""

from __future__ import annotations

import os
import struct
import subprocess
import time
from contextlib import contextmanager

import pytest

from support.captures import frame_octets, write_pcap
from support.host import CPUS, needs, needs_two_cpus
from support.read_captures import read_pcap, read_pcapng
from wirerate.engine.counters import Counters
from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import EngineRefusedError

MAGIC, STAMP = 22354, 7
MS = 1_000_000
FRAMES = 500
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def engine(ports, lcores=(CPUS[-1],)):
    memory = Memory(("--no-huge", "-m", "128"), "")
    with Engine(eal_arguments([], lcores, memory, []), lcores) as made:
        made.call("ports.open", {"ports": ports})
        yield made


def port(name, location, queues=1, rx=None):
    return {
        "name": name,
        "location": location,
        "rx_queues": queues if rx is None else rx,
        "tx_queues": queues,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 4096 if rx is None or rx > 0 else 0,
        "frame_size_max": 1518,
        "promiscuous": True,
    }


def worker(*tasks, lcore=CPUS[-1]):
    return {"lcore": lcore, "sleep_ns": 1 * MS, "tasks": list(tasks)}


def rx(name, queue=0, **more):
    return {"kind": "rx", "port": name, "queue": queue, "burst": 32, **more}


def tx(name, stream="s0", queue=0):
    head = {"kind": "tx", "port": name, "queue": queue, "burst": 32}
    return {**head, "stream": stream, "part": 0, "parts": 1}


def stream(name="s0", frames=FRAMES, first=0, octets=80, **more):
    template = frame_octets(octets)[:14] + bytes(octets - 14)
    number = {"offset": 14, "octets": 4, "first": first, "step": 1, "count": 1 << 20}
    base = {"name": name, "template": template.hex(), "fields": [number], "checksums": []}
    return {**base, "fps": 20_000, "frames": frames, **more}


def capture(path, name="p0", **more):
    kind = path.suffix.removeprefix(".")
    return {"port": name, "path": str(path), "format": kind, "frames": 10_000, **more}


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def settle(counters, frames, kind="rx", word="frames"):
    """Wait until so many frames have been received."""
    deadline = time.monotonic() + 10
    while sum(block[word] for block in counters.of_kind(kind)) < frames:
        assert time.monotonic() < deadline, "frames are missing"
        time.sleep(0.01)


def sum_of(counters, word):
    return sum(block[word] for block in counters.of_kind("capture"))


def loop(made, program, frames=FRAMES):
    """Send everything, unload; the result and the counters."""
    counters = made.load(program)
    made.call("traffic.start", {})
    settle(counters, frames)
    return made.call("program.unload")["captures"], counters


def looped(*captures, **more):
    """A program whose ring port receives what it sends."""
    workers = [worker(rx("p0"), tx("p0"))]
    return {"workers": workers, "streams": [stream()], "captures": list(captures), **more}


def numbers(frames):
    return [int.from_bytes(octets[14:18], "big") for octets in frames]


def test_what_was_sent_is_in_the_file(tmp_path):
    paths = [tmp_path / "a.pcap", tmp_path / "b.pcapng"]
    with engine([port("p0", "ring:capture")]) as made:
        before = time.time_ns()
        written, counters = loop(made, looped(*(capture(path) for path in paths)))
        after = time.time_ns()
    assert written == [{"path": str(path), "frames": FRAMES} for path in paths]
    assert sum_of(counters, "stored") == sum_of(counters, "matched") == 2 * FRAMES
    frames = read_pcap(paths[0])
    assert [octets for _, octets in frames] == [
        frame_octets(80)[:14] + number.to_bytes(4, "big") + bytes(62) for number in range(FRAMES)
    ]
    times = [time_ns for time_ns, _ in frames]
    assert times == sorted(times)
    assert before - MS <= times[0] <= times[-1] <= after + MS
    # At 20,000 frames/s the last of 500 is due after 25 ms; late ones leave together.
    assert times[-1] >= before + 24 * MS
    other = read_pcapng(paths[1])
    assert other.interfaces == ["p0"]
    assert other.of("p0") == frames
    assert names_in(tmp_path) == ["a.pcap", "b.pcapng"]


def test_filter_length_and_room(tmp_path):
    """What does not match, is too long, or does not fit, is not there."""
    names = ["filter", "first", "last"]
    paths = [tmp_path / f"{name}.pcap" for name in names]
    captures = [
        capture(paths[0], filter="ether[14:4] >= 100 and ether[14:4] < 110"),
        capture(paths[1], frames=20, octets=18),
        capture(paths[2], frames=20, overwrite=True),
    ]
    with engine([port("p0", "ring:capture")]) as made:
        written, counters = loop(made, looped(*captures))
    assert [capture["frames"] for capture in written] == [10, 20, 20]
    frames = {
        name: read_pcap(path) for name, path in zip(names, paths, strict=True) if path != paths[1]
    }
    assert numbers(octets for _, octets in frames["filter"]) == list(range(100, 110))
    assert numbers(octets for _, octets in frames["last"]) == list(range(FRAMES - 20, FRAMES))
    data = paths[1].read_bytes()
    assert len(data) == 24 + 20 * (16 + 18)
    assert struct.unpack_from("<II", data, 32) == (18, 80)
    assert (sum_of(counters, "missed"), sum_of(counters, "overwritten")) == (FRAMES - 20,) * 2


@needs_two_cpus
def test_queues_are_merged_by_time(tmp_path):
    path = tmp_path / "both.pcap"
    lcores = CPUS[-2:]
    workers = [
        worker(rx("p0", queue), tx("p0", f"s{queue}", queue), lcore=lcore)
        for queue, lcore in enumerate(lcores)
    ]
    streams = [stream("s0"), stream("s1", first=1 << 30)]
    program = {"workers": workers, "streams": streams, "captures": [capture(path)]}
    with engine([port("p0", "ring:capture", 2)], lcores) as made:
        written, counters = loop(made, program, 2 * FRAMES)
        assert made.load(program) is not None, "a second program captures too"
        assert made.call("program.unload")["captures"] == [{"path": str(path), "frames": 0}]
        written, counters = loop(made, program, 2 * FRAMES)
    assert written[0]["frames"] == 2 * FRAMES
    assert [block["stored"] for block in counters.of_kind("capture")] == [FRAMES, FRAMES]
    frames = read_pcap(path)
    times = [time_ns for time_ns, _ in frames]
    assert times == sorted(times)
    found = numbers(octets for _, octets in frames)
    for first in (0, 1 << 30):
        mine = [number for number in found if number >> 30 == first >> 30]
        assert mine == list(range(first, first + FRAMES))


def test_forwarders_see_frames_as_they_came(tmp_path):
    frames = [(0, frame_octets(60 + number, number), None) for number in range(100)]
    source = write_pcap(tmp_path / "in.pcap", frames)
    path = tmp_path / "out.pcap"
    forward = {"kind": "forward", "port": "p0", "queue": 0, "burst": 32}
    forward |= {"to_port": "p1", "to_queue": 0, "rewrite": "mac_swap", "drop": 0.5}
    program = {"workers": [worker(forward)], "streams": [], "captures": [capture(path)]}
    ports = [port("p0", f"pcap:{source},"), port("p1", "null:x", rx=0)]
    with engine(ports) as made:
        counters = made.load(program)
        settle(counters, 100, "forward", "rx_frames")
        made.call("program.unload")
    assert [octets for _, octets in read_pcap(path)] == [octets for _, octets, _ in frames]


def stamped(sequence, stream_id=STAMP, *, broken=False):
    """A UDP packet with a stamp, its checksums right unless broken."""
    words = [MAGIC, stream_id, sequence >> 16, sequence & 0xFFFF, 0, 0, 0]
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    tail = struct.pack(">8H", ~total & 0xFFFF, *words)
    ip = bytearray.fromhex("4500 002e 0000 4000 4011 0000 0a000001 0a000002")
    ip[10:12] = checksum(ip)
    udp = bytearray.fromhex("0400 0035 001a 0000") + bytes(2)
    udp[6:8] = checksum(bytes(ip[12:20]) + struct.pack(">HH", 17, 26) + udp + bytes(16))
    if broken:
        ip[10] ^= 1
    return bytes.fromhex("020000000002 020000000001 0800") + bytes(ip) + bytes(udp) + tail


def checksum(octets):
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


@needs("tshark")
def test_bad_frames_say_what_is_wrong(tmp_path):
    """Their stamps are of a stream of which nothing was sent; who sent them does not matter."""
    arrived = [stamped(number) for number in (0, 1, 3, 2, 3, 70_000)]
    arrived += [stamped(1), stamped(70_001, broken=True), stamped(5, 99, broken=True)]
    arrived += [stamped(70_001, broken=True), frame_octets(60)]
    source = write_pcap(tmp_path / "in.pcap", [(0, octets, None) for octets in arrived])
    path = tmp_path / "bad.pcapng"
    program = {
        "workers": [worker(rx("p0", measure=True, verify=True), tx("p1"))],
        "streams": [stream(stamp=STAMP, octets=60)],
        "captures": [capture(path, bad=True, frames=100)],
    }
    with engine([port("p0", f"pcap:{source},"), port("p1", "null:x", rx=0)]) as made:
        counters = made.load(program)
        settle(counters, len(arrived))
        made.call("program.unload")
    words = ["tshark", "-r", str(path), "-T", "fields", "-e", "frame.comment"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    forged = "impossible: not sent yet, or not at that time; stream s0, sequence"
    assert done.stdout.splitlines() == [
        *(f"{forged} {number}" for number in (0, 1, 3, 2, 3, 70_000, 1)),
        f"damaged, {forged} 70001",
        "damaged",
        f"damaged, {forged} 70001",
    ]
    kept = arrived[:10]
    assert [octets for _, octets in read_pcapng(path).of("p0")] == kept
    (block,) = counters.of_kind("rx")
    assert block["damaged_frames"] == 3


@pytest.mark.parametrize(
    ("changes", "where", "why"),
    [
        ({"filter": "udp prot 53"}, "captures[0].filter", "syntax error"),
        ({"path": "/nowhere/x.pcap"}, "captures[0].path", "No such file or directory"),
        ({"path": "/"}, "captures[0].path", "a directory"),
        ({"port": "p9"}, "captures[0].port", "p9"),
        pytest.param(
            {"frames": 1 << 24, "octets": 16384},
            "captures[0].frames",
            "available",
            marks=pytest.mark.skipif(MEMORY > 250 << 30, reason="so much memory can be had here"),
        ),
    ],
)
def test_refused_before_traffic(tmp_path, changes, where, why):
    program = looped({**capture(tmp_path / "x.pcap"), **changes})
    with engine([{**port("p0", "ring:capture"), "frame_size_max": 16384}]) as made:
        with pytest.raises(EngineRefusedError, match=why) as refused:
            made.load(program)
        assert refused.value.path == where
        assert names_in(tmp_path) == []
        made.load(looped())  # the engine is as good as new


def test_a_file_that_fails_at_the_end_is_named(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    paths = [folder / "lost.pcap", tmp_path / "kept.pcap"]
    with engine([port("p0", "ring:capture")]) as made:
        counters = made.load(looped(*(capture(path) for path in paths)))
        made.call("traffic.start", {})
        settle(counters, FRAMES)
        for part in folder.iterdir():
            part.unlink()
        folder.rmdir()
        with pytest.raises(EngineRefusedError, match=r"lost\.pcap: cannot be written"):
            made.call("program.unload")
        assert isinstance(made.load(looped()), Counters), "the program was unloaded all the same"
    assert len(read_pcap(paths[1])) == FRAMES


def test_nothing_is_left_of_a_capture_without_an_end(tmp_path):
    with engine([port("p0", "ring:capture")]) as made:
        made.load(looped(capture(tmp_path / "x.pcap")))
        assert len(names_in(tmp_path)) == 1
    assert names_in(tmp_path) == []
