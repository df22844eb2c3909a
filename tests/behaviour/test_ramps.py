# SPDX-License-Identifier: BSD-3-Clause
"""Flows become active by the clock, each is sent in its turn, and the receiver sees so many.

The engine is driven by its own interface (docs/design/0002 and 0007), without plans.
"""

from __future__ import annotations

import struct
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import pytest

from support.captures import write_pcap
from support.host import CPUS, needs, needs_two_cpus
from support.read_captures import read_pcap, read_pcapng
from support.tshark import dissect_frames
from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import EngineRefusedError

pytestmark = pytest.mark.alone

MS = 1_000_000
FLOWS, PER_SECOND, FPS, FRAMES = 3000, 10_000.0, 40_000, 24_000
MAGIC, STAMP = 22354, 7
PORTS_OF_ADDRESS = 1024
"""BiTester's 65,536, but so that 3,000 flows have several addresses."""


@contextmanager
def engine(*ports, lcores=(CPUS[-1],)):
    memory = Memory(("--no-huge", "-m", "160"), "")
    with Engine(eal_arguments([], lcores, memory, []), lcores) as made:
        made.call("ports.open", {"ports": list(ports)})
        yield made


def port(name, location, queues, *, rx=True):
    return {
        "name": name,
        "location": location,
        "rx_queues": queues if rx else 0,
        "tx_queues": queues,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 4096 if rx else 0,
        "frame_size_max": 1518,
        "promiscuous": True,
    }


def worker(*tasks, lcore=CPUS[-1]):
    return {"lcore": lcore, "sleep_ns": 1 * MS, "tasks": list(tasks)}


def rx(queue, **more):
    return {"kind": "rx", "port": "p0", "queue": queue, "burst": 32, **more}


def tx(part, parts):
    head = {"kind": "tx", "port": "p0", "queue": part, "burst": 32}
    return {**head, "stream": "s0", "part": part, "parts": parts}


def packet(source="c6120001", source_port=1024, octets=80):
    """UDP over IPv4, checksums zero."""
    ip = struct.pack(">BBHHHBBH", 0x45, 0, octets - 14, 0, 0, 64, 17, 0)
    ip += bytes.fromhex(source) + bytes.fromhex("c6130001")
    udp = struct.pack(">HHHH", source_port, 9, octets - 34, 0)
    head = bytes.fromhex("0257520100000257520000000800") + ip + udp
    return head + bytes(octets - len(head))


def ramped(**more):
    """BiTester's flow k: an address for so many ports, and the port."""
    address = {"offset": 28, "octets": 2, "first": 1, "step": 1, "count": 100}
    number = {"offset": 34, "octets": 2, "first": 1024, "step": 1, "count": PORTS_OF_ADDRESS}
    ip = {"offset": 24, "ranges": [[14, 20]], "add": 0, "udp": False}
    udp = {"offset": 40, "ranges": [[26, 8], [34, None]], "add": 17, "add_length_less": 34}
    return {
        "name": "s0",
        "template": packet().hex(),
        "fields": [address | {"every": PORTS_OF_ADDRESS}, number],
        "checksums": [ip, udp | {"udp": True}],
        "fps": FPS,
        "frames": FRAMES,
        "ramp": {"flows": FLOWS, "per_second": PER_SECOND},
        **more,
    }


def flow_of(octets):
    """The number of a frame's flow."""
    address, number = struct.unpack_from(">H", octets, 28)[0], struct.unpack_from(">H", octets, 34)
    return (address - 1) * PORTS_OF_ADDRESS + number[0] - 1024


def sum_of(counters, kind, word):
    return sum(block[word] for block in counters.of_kind(kind))


@dataclass(frozen=True)
class Look:
    """Taken in this order, so that what is sent can only be more than what is received."""

    distinct: int
    active: int
    frames: int

    @classmethod
    def at(cls, counters):
        distinct = sum_of(counters, "rx", "distinct_flows")
        active = sum_of(counters, "tx", "active_flows")
        return cls(distinct, active, sum_of(counters, "rx", "frames"))


def watch(counters, frames):
    """Looks at the counters until so many frames have been received."""
    looks: list[Look] = []
    deadline = time.monotonic() + 20
    while not looks or looks[-1].frames < frames:
        assert time.monotonic() < deadline, f"frames are missing: {looks[-1]}"
        looks.append(Look.at(counters))
        time.sleep(0.005)
    return looks


def loop(made, program):
    counters = made.load(program)
    made.call("traffic.start", {})
    looks = watch(counters, FRAMES)
    made.call("program.unload")
    return counters, looks


@needs("tshark")
@needs_two_cpus
@pytest.mark.parametrize("measured", [False, True], ids=["plain", "measured"])
def test_the_receiver_sees_as_many_flows_as_are_active(tmp_path, measured):
    path, lcores = tmp_path / "last.pcapng", CPUS[-2:]
    measure = {"measure": True, "verify": True} if measured else {}
    workers = [
        worker(rx(queue, distinct_max=FLOWS, **measure), tx(queue, 2), lcore=lcore)
        for queue, lcore in enumerate(lcores)
    ]
    capture = {"port": "p0", "path": str(path), "format": "pcapng", "frames": 8000}
    program = {
        "workers": workers,
        "streams": [ramped(stamp=STAMP) if measured else ramped()],
        "captures": [capture | {"overwrite": True}],
        "stamp_magic": MAGIC,
    }
    with engine(port("p0", "ring:ramp", 2), lcores=lcores) as made:
        counters, looks = loop(made, program)
    assert [block["distinct_flows"] for block in counters.of_kind("rx")] == [FLOWS // 2] * 2
    assert [block["active_flows"] for block in counters.of_kind("tx")] == [FLOWS // 2] * 2
    assert sum_of(counters, "rx", "distinct_overflow") == 0
    assert sum_of(counters, "tx", "frames_unsent") == 0
    for number, look in enumerate(looks):
        assert look.distinct <= look.active or look.active == 0
        later = [each for each in looks[number:] if each.frames >= look.frames + 2 * FLOWS]
        assert all(each.distinct >= look.active for each in later[:1])
    if measured:
        assert sum_of(counters, "rx", "damaged_frames") == 0
        assert sum_of(counters, "flow", "frames") == FRAMES
    frames = [octets for _, _, octets in read_pcapng(path).frames]
    assert len(frames) == 8000
    for part in range(2):
        turns = [flow for flow in map(flow_of, frames) if flow % 2 == part]
        assert turns == [(turns[0] + 2 * k) % FLOWS for k in range(len(turns))], "out of turn"
    right = (("ip", True), ("udp", True))  # what is said of the payload, by port, means nothing
    assert {frame.checksums for frame in dissect_frames(frames[:4000])} == {right}


def test_flows_are_added_by_the_clock():
    """At no time are more flows active than the rate allows, and fewer only for a moment."""
    program = {"workers": [worker(rx(0, distinct_max=FLOWS), tx(0, 1))], "streams": [ramped()]}
    with engine(port("p0", "ring:clock", 1)) as made:
        counters = made.load(program)
        start = made.call("traffic.start", {})["start_tsc"]
        seen: list[tuple[int, int, int]] = []
        sender = counters.of_kind("tx")[0]
        while not seen or seen[-1][1] < FLOWS:
            before, active, after = sender["last_tsc"], sender["active_flows"], sender["last_tsc"]
            seen.append((before, active, after))
            assert len(seen) < 100_000
            time.sleep(0.001)
        hz = counters.tsc_hz
        made.call("program.unload")
    assert len({active for _, active, _ in seen}) > 20, "too few looks"
    for before, active, after in seen[1:]:
        if active and before:
            assert active <= 1 + PER_SECOND * (after + hz // 100 - start) / hz
            assert active + 1 >= min(FLOWS, PER_SECOND * (before - hz // 100 - start) / hz)


def test_flows_become_fewer_again(tmp_path):
    """Up in 100 ms, 100 ms of all, down in 100 ms: seen in the frames' own order."""
    path = tmp_path / "all.pcap"
    ramp = {"flows": 100, "per_second": 1000, "start": 1, "hold_ns": 100 * MS, "down": True}
    capture = {"port": "p0", "path": str(path), "format": "pcap", "frames": 20_000}
    program = {
        "workers": [worker(rx(0), tx(0, 1))],
        "streams": [ramped(ramp=ramp, frames=16_000)],
        "captures": [capture],
    }
    with engine(port("p0", "ring:down", 1)) as made:
        counters = made.load(program)
        made.call("traffic.start", {})
        watch(counters, 16_000)
        made.call("program.unload")
    flows = [flow_of(octets) for _, octets in read_pcap(path)]
    assert len(flows) == 16_000
    assert max(flows) == 99
    assert set(flows[-3000:]) == {0}
    assert len(set(flows[6000:7000])) == 100
    assert counters.of_kind("tx")[0]["active_flows"] == 1
    for before, flow in pairwise(flows):
        assert flow in (0, before + 1), "out of turn"


def test_a_preview_has_the_ramp(tmp_path):
    """Frame k is due at k / fps; the flows that are active then take turns, each in its part."""
    path, parts, flows = tmp_path / "preview.pcap", 3, 20
    ramp = {"flows": flows, "per_second": 1000.0}
    program = {
        "workers": [worker(*(tx(part, parts) for part in range(parts)))],
        "streams": [ramped(ramp=ramp)],
        "path": str(path),
        "format": "pcap",
        "frames": 2000,
    }
    with engine(port("p0", "null:x", parts, rx=False)) as made:
        made.call("program.preview", program)
    next_of, last = [0] * parts, [0] * parts
    for time_ns, octets in read_pcap(path):
        flow = flow_of(octets)
        part = flow % parts
        active = min(flows, 1 + time_ns // MS)
        assert flow < active
        own = -(-(active - part) // parts)
        expected = 0 if last[part] >= own else last[part]
        assert flow == part + parts * expected or abs(time_ns % MS) < 100
        last[part], next_of[part] = flow // parts + 1, next_of[part] + 1
    assert min(next_of) > 2000 / parts - FPS * flows / 1000, "a part sent too little"
    assert sum(next_of) == 2000


@pytest.mark.parametrize(("room", "found"), [(100, (4, 0)), (4, (4, 0)), (2, (2, 2)), (0, (0, 0))])
def test_forwarders_count_flows_too(tmp_path, room, found):
    """Tags and IPv6 among them, and what is no IP; for some there is no room."""
    tagged = packet()[:12] + bytes.fromhex("81000007") + packet()[12:]
    ipv6 = packet()[:12] + bytes.fromhex("86dd60000000001a1140") + bytes(31) + b"\x01" + bytes(26)
    arp = packet()[:12] + bytes.fromhex("0806") + bytes(46)
    sent = [packet(), packet(), tagged, packet(source_port=1), packet(source="c6120002"), ipv6, arp]
    source = write_pcap(tmp_path / "in.pcap", [(0, octets, None) for octets in sent])
    forward = {"kind": "forward", "port": "p0", "queue": 0, "burst": 32, "distinct_max": room}
    forward |= {"to_port": "p1", "to_queue": 0, "rewrite": "reverse"}
    ports = [port("p0", f"pcap:{source},", 1), port("p1", "null:y", 1, rx=False)]
    with engine(*ports) as made:
        counters = made.load({"workers": [worker(forward)], "streams": []})
        deadline = time.monotonic() + 10
        while sum_of(counters, "forward", "rx_frames") < len(sent):
            assert time.monotonic() < deadline, "frames are missing"
            time.sleep(0.01)
        made.call("program.unload")
    block = counters.of_kind("forward")[0]
    assert (block["distinct_flows"], block["distinct_overflow"]) == found


@pytest.mark.parametrize(
    ("ramp", "path", "text"),
    [
        ({"flows": 0, "per_second": 1}, "streams[0].ramp.flows", "from 1 to 4294967296"),
        ({"flows": 5, "per_second": 0}, "streams[0].ramp.per_second", "from 1e-06"),
        ({"flows": 5, "per_second": 1, "start": 6}, "streams[0].ramp.start", "from 1 to 5"),
        ({"flows": 5, "per_second": 1, "down": True}, "streams[0].ramp.down", "hold_ns"),
        ({"flows": 5, "per_second": 1, "up": True}, "streams[0].ramp.up", "not known here"),
    ],
)
def test_ramps_that_are_wrong_are_refused(ramp, path, text):
    program = {"workers": [worker(tx(0, 1))], "streams": [ramped(ramp=ramp)]}
    with (
        engine(port("p0", "null:z", 1, rx=False)) as made,
        pytest.raises(EngineRefusedError, match=text) as refused,
    ):
        made.load(program)
    assert path in str(refused.value)
