# SPDX-License-Identifier: BSD-3-Clause
"""`traffic.rate` and whole bursts, by the engine's own interface (docs/design/0007)."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest

from support.captures import frame_octets
from support.host import CPUS
from support.program import wait_for
from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.errors import EngineRefusedError

pytestmark = pytest.mark.alone

BURST = 32
MS = 1_000_000
PORT = {"name": "p0", "location": "null:rate", "rx_queues": 0, "tx_queues": 2, "mbufs": 0}
PORT |= {"rx_descriptors": 0, "tx_descriptors": 0, "frame_size_max": 1518, "promiscuous": True}


def stream(fps, name="s0", **more):
    base = {"name": name, "template": frame_octets(60).hex(), "fields": [], "checksums": []}
    return {**base, "fps": fps, "frames": None, **more}


@contextmanager
def loaded(*streams, parts=1):
    """An engine that is to send these, each in so many parts; its counters."""
    memory = Memory(("--no-huge", "-m", "64"), "")
    task = {"kind": "tx", "port": "p0", "burst": BURST, "parts": parts}
    tasks = [
        task | {"queue": part, "part": part, "stream": one["name"]}
        for one in streams
        for part in range(parts)
    ]
    worker = {"lcore": CPUS[-1], "sleep_ns": MS, "tasks": tasks}
    with Engine(eal_arguments([], [CPUS[-1]], memory, []), [CPUS[-1]]) as engine:
        engine.call("ports.open", {"ports": [PORT]})
        yield engine, engine.load({"workers": [worker], "streams": list(streams)})


def test_every_frame_is_due_by_the_rate_of_its_time():
    with loaded(stream(10_000.0), parts=2) as (engine, counters):
        changes = [(engine.call("traffic.start")["start_tsc"], 10_000.0)]
        for fps in (100_000.0, 1000.0, 54_321.0):
            time.sleep(0.15)
            reply = engine.call("traffic.rate", {"stream": "s0", "fps": fps})
            changes.append((reply["from_tsc"], fps))
        time.sleep(0.15)
        engine.call("traffic.stop")
        engine.call("program.unload")
        ends = [at for at, _ in changes[1:]] + [counters.engine["stop_tsc"]]
        expected = sum(
            fps * (end - at) / counters.tsc_hz for (at, fps), end in zip(changes, ends, strict=True)
        )
        one, two = counters.of_kind("tx")
        assert one["frames_due"] + two["frames_due"] == pytest.approx(expected, abs=1.01)
        assert abs(one["frames_due"] - two["frames_due"]) <= 1, "in turn"
        for part in (one, two):
            assert part["frames"] + part["frames_unsent"] == part["frames_due"]
    assert expected > 20_000


def test_who_waits_for_a_far_frame_notices():
    with loaded(stream(0.001), stream(0.001, "s1")) as (engine, counters):
        engine.call("traffic.start")
        first, second = counters.of_kind("tx")
        wait_for("the first frame", lambda: first["frames"] == second["frames"] == 1)
        engine.set_rate("s0", 10_000.0)
        wait_for("frames at the new rate", lambda: first["frames"] > 1000)
        assert second["frames"] == 1, "another stream keeps its rate"


def test_whole_bursts_are_sent_and_the_rest_at_the_end():
    with loaded(stream(20_000.0, whole_bursts=True, duration_ns=501 * MS)) as (engine, counters):
        engine.call("traffic.start")
        (task,) = counters.of_kind("tx")
        wait_for("the end", lambda: task["state"] == 2)
        assert task["frames_due"] == 10_020
        assert task["frames"] + task["frames_unsent"] == task["frames_due"]
        if task["frames_unsent"] == 0:
            assert task["bursts"] == 10_020 // BURST + 1


def refused(engine, params, *parts):
    with pytest.raises(EngineRefusedError) as error:
        engine.call("traffic.rate", params)
    for part in parts:
        assert part in str(error.value)


def test_rates_that_cannot_be_changed():
    paced = stream(1000.0, "short", duration_ns=200 * MS)
    bursts = stream(1000.0, "bursts", burst={"frames": 8, "gap_ns": 0})
    with loaded(stream(1000.0), stream(None, "all"), paced, bursts) as (engine, _):
        good = {"stream": "s0", "fps": 1.0}
        refused(engine, good, "traffic.start comes first")
        engine.call("traffic.start")
        engine.call("traffic.rate", good)
        refused(engine, good | {"stream": "s9"}, 'stream: no stream is called "s9"')
        refused(engine, good | {"stream": "all"}, "as fast as can be")
        refused(engine, good | {"stream": "bursts"}, "it has bursts")
        refused(engine, good | {"fps": 1e12}, "fps: 1e+12 frames/s cannot be paced")
        refused(engine, good | {"fps": 0}, "fps", "it is 0")
        refused(engine, {"stream": "s0"}, "fps", "missing")
        refused(engine, good | {"at": 1}, "at")
        time.sleep(0.25)
        refused(engine, good | {"stream": "short"}, '"short" has ended')
        engine.call("program.unload")
        refused(engine, good, "program.load comes first")
