# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop on net_null, at the engine's interface: counts, checks, what comes after."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from support.host import ONE
from wirerate.engine.counters import Counters
from wirerate.errors import EngineRefusedError

EAL = ("--no-huge", "-m", "128", "--no-pci", "--lcores", f"0@{ONE},1@{ONE}")
LAP = 200
LENGTH = 60
DONE = 2
WAIT_S = 20.0


def parameters(name, location, **other):
    made = {
        "name": name,
        "location": location,
        "rx_queues": 1,
        "tx_queues": 1,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 2048,
        "frame_size_max": 1518,
        "promiscuous": True,
    }
    return {**made, **other}


def stream(count=LAP, name="s0", **other):
    field = {"offset": 20, "octets": 4, "first": 0, "step": 1, "count": count}
    made = {
        "name": name,
        "template": bytes(LENGTH).hex(),
        "fields": [field],
        "checksums": [],
        "fps": None,
        "frames": None,
    }
    return {**made, **other}


def loop(port="p0", queue=0, name="s0"):
    return {"kind": "loop", "port": port, "queue": queue, "stream": name}


def ordinary(port="p0", queue=0, name="s0"):
    more = {"burst": 32, "part": 0, "parts": 1}
    return {"kind": "tx", "port": port, "queue": queue, "stream": name, **more}


def program(streams, tasks, sleep_ns=0):
    workers = [{"lcore": 1, "sleep_ns": sleep_ns, "tasks": tasks}]
    return {"workers": workers, "streams": streams}


def run(engine, streams, tasks, duration_ns=None, sleep_ns=0):
    """Run to the end; the counters and what program.unload said."""
    loaded = engine.call("program.load", program(streams, tasks, sleep_ns))
    counters = Counters(Path(loaded["counters"]))
    engine.call("traffic.start", {"duration_ns": duration_ns} if duration_ns else {})
    deadline = time.monotonic() + WAIT_S
    while any(block["state"] != DONE for block in counters.of_kind("tx")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return counters, engine.call("program.unload")


@pytest.fixture
def engine(engine_here):
    with engine_here(EAL) as made:
        yield made


@pytest.fixture
def opened(engine):
    ports = [
        parameters("p0", "null:x", tx_loop_frames=LAP),
        parameters("p1", "null:y", tx_queues=2, tx_loop_frames=1),
        parameters("p2", "null:z"),
    ]
    infos = engine.call("ports.open", {"ports": ports})["ports"]
    assert infos[0]["tx_loop"] == {
        "driver": "null",
        "proven": True,
        "descriptors": infos[0]["tx_descriptors"],
        "laps": infos[0]["tx_descriptors"] // LAP,
    }
    assert infos[0]["tx_descriptors"] % LAP == 0
    assert infos[0]["tx_descriptors"] >= 512
    assert infos[2]["tx_loop"] is None
    return engine


def tx(counters, port="p0"):
    blocks = [block for block in counters.of_kind("tx") if block.labels["port"] == port]
    return {name: sum(block[name] for block in blocks) for name in ("frames", "octets", "bursts")}


def test_frames_are_counted_exactly_and_an_ordinary_run_follows(opened):
    counters, unloaded = run(opened, [stream(frames=1_000_003)], [loop()])
    assert tx(counters)["frames"] == 1_000_003
    assert tx(counters)["octets"] == 1_000_003 * (LENGTH + 4)
    assert tx(counters)["bursts"] < 1000
    (port,) = [block for block in counters.of_kind("port") if block.labels["port"] == "p0"]
    assert (port["opackets"], port["obytes"]) == (1_000_003, 1_000_003 * LENGTH)
    assert [(entry["port"], entry["queue"]) for entry in unloaded["loops"]] == [("p0", 0)]
    assert (unloaded["loops"][0]["changed"], unloaded["loops"][0]["unfetched"]) == (0, 0)

    counters, unloaded = run(opened, [stream(frames=5000)], [ordinary()])
    assert tx(counters)["frames"] == 5000
    assert unloaded["loops"] == []

    counters, _ = run(opened, [stream(frames=7)], [loop()])
    assert tx(counters)["frames"] == 7


def test_duration_holds(opened):
    """What a busy machine makes too late is unsent, but due it was."""
    counters, _ = run(opened, [stream(fps=100_000.0)], [loop()], duration_ns=300_000_000)
    (block,) = counters.of_kind("tx")
    assert block["frames_due"] in (29_999, 30_000, 30_001)
    assert block["frames"] + block["frames_unsent"] == block["frames_due"]
    assert block["frames"] > 0


def test_rate_holds(opened):
    """The last of 30,000 frames is due after 0.3 s, and none is sent before its time."""
    counters, _ = run(opened, [stream(fps=100_000.0, frames=30_000)], [loop()])
    (block,) = counters.of_kind("tx")
    assert block["frames"] == 30_000
    assert block["last_tsc"] - counters.engine["start_tsc"] > 0.2999 * counters.tsc_hz


def test_worker_sleeps_between_frames(opened):
    streams = [stream(fps=100_000.0, frames=30_000)]
    counters, _ = run(opened, streams, [loop()], sleep_ns=1_000_000)
    assert tx(counters)["frames"] == 30_000
    (worker,) = counters.of_kind("worker")
    assert worker["sleep_cycles"] > 0.1 * counters.tsc_hz


def test_several_queues_and_ports_beside_ordinary_ones(opened):
    streams = [
        stream(frames=12_345),
        stream(1, "s1", frames=111),
        stream(1, "s2", frames=222),
        stream(5, "s3", frames=333),
    ]
    tasks = [loop(), loop("p1", 0, "s1"), loop("p1", 1, "s2"), ordinary("p2", 0, "s3")]
    counters, unloaded = run(opened, streams, tasks)
    assert [tx(counters, port)["frames"] for port in ("p0", "p1", "p2")] == [12_345, 333, 333]
    assert [entry["changed"] for entry in unloaded["loops"]] == [0, 0, 0]


REFUSED = {
    "another lap": ([stream(100)], [loop()], "repeats after 100 frames"),
    "a port of the normal engine": ([stream()], [loop("p2")], "opened for the normal engine"),
    "bursts": (
        [stream(fps=1000.0, burst={"frames": 10, "gap_ns": 1.0})],
        [loop()],
        'stream "s0" has bursts',
    ),
    "stamps": ([stream(stamp=0)], [loop()], 'stream "s0" has stamps'),
    "a walk": ([stream(1 << 40)], [loop()], "more different frames"),
    "company on its queue": (
        [stream(), stream(LAP, "s1")],
        [loop(), ordinary(name="s1")],
        "a loop needs a queue of its own",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_and_the_port_is_as_it_was(opened, case):
    streams, tasks, words = REFUSED[case]
    with pytest.raises(EngineRefusedError, match=words):
        opened.call("program.load", program(streams, tasks))
    counters, _ = run(opened, [stream(frames=1000)], [loop()])
    assert tx(counters)["frames"] == 1000


@pytest.mark.parametrize(
    ("port", "words"),
    [
        (parameters("p0", "ring:x", tx_loop_frames=LAP), r"net_ring\) has no descriptor loop"),
        (parameters("p0", "null:x", tx_loop_frames=65_536), "holds no whole number of those"),
        (
            parameters("p0", "null:x", tx_loop_frames=LAP, tx_descriptors=1024),
            "leave it at 0, the engine chooses",
        ),
        (parameters("p0", "null:x", tx_loop_frames=LAP, tx_queues=0), "without Tx queues"),
    ],
)
def test_ports_that_cannot_be_looped(engine, port, words):
    with pytest.raises(EngineRefusedError, match=words):
        engine.call("ports.open", {"ports": [port]})


def test_preview_has_the_frames_of_the_loop(opened, tmp_path):
    path = tmp_path / "out.pcap"
    asked = program([stream(fps=1000.0, frames=500)], [loop()])
    asked |= {"path": str(path), "format": "pcap", "frames": 1000}
    shown = opened.call("program.preview", asked)
    assert shown == {"frames": 500, "octets": 500 * (LENGTH + 4)}
    octets = path.read_bytes()[24:]
    numbers = [
        int.from_bytes(octets[at + 16 + 20 : at + 16 + 24], "big")
        for at in range(0, len(octets), 16 + LENGTH)
    ]
    assert numbers == [number % LAP for number in range(500)]
