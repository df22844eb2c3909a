# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop on igb and virtio: a million frames, an ordinary run after it, CPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.guest.looping import (
    Ended,
    laps_that_differ,
    measured,
    numbered,
    port,
    send,
    trace,
    traced,
)
from lab.machine import Machine, Nic
from wirerate.engine.process import Engine

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    nics=(Nic("igb"), Nic("igb"), Nic("virtio", wire=1), Nic("virtio", wire=1)),
    cpus=2,
    hugepages_mib=512,
    icount=True,
    timeout_s=900,
)
FRAMES = 1_000_000
LAP = 200
SIZES = (60, 60, 64, 98)
"""Octets without FCS, in turn."""
FPS = 400_000.0
MEASURED = 20_000
RATIO = 20
"""So many times less CPU per frame than the normal engine takes, at least."""
TX = {"kind": "tx", "burst": 32, "part": 0, "parts": 1}


def run(guest: Guest) -> None:
    """Both drivers, one after the other, each with an engine of its own."""
    addresses = guest.vfio()
    lap = trace(Path("/run/lap.pcap"), LAP, SIZES)
    for driver, pair in (("igb", addresses[:2]), ("virtio", addresses[2:])):
        _loop(guest, driver, pair, lap)


def _loop(guest: Guest, driver: str, pair: list[str], lap: list[bytes]) -> None:
    checks = guest.checks
    eal = ["--lcores", "0@0,1@1", "--no-telemetry", *(word for at in pair for word in ("-a", at))]
    capture = Path("/run/looped.pcap")
    with Engine(eal) as engine:
        opened = engine.call(
            "ports.open",
            {"ports": [port("p0", pair[0], loop=LAP), port("p1", pair[1])]},
        )["ports"]
        print(f"     {driver}: {opened[0]['tx_loop']}")
        checks.equal(f"{driver}: the ring", opened[0]["tx_loop"]["driver"], driver)
        ended = send(
            engine,
            traced(Path("/run/lap.pcap"), fps=FPS, frames=FRAMES),
            {"kind": "loop"},
            capture=capture,
            frames=FRAMES + 1000,
        )
        print(f"     {FRAMES:,} frames in {ended.seconds:.1f} s; {ended.unloaded}")
        checks.equal(f"{driver}: fetched", ended.word("tx", "frames", "p0"), FRAMES)
        checks.equal(f"{driver}: unsent", ended.word("tx", "frames_unsent", "p0"), 0)
        checks.equal(f"{driver}: received", ended.word("rx", "frames", "p1"), FRAMES)
        wrong = laps_that_differ(capture, lap, FRAMES // LAP)
        checks.equal(f"{driver}: laps that differ", wrong, 0)
        checks.equal(f"{driver}: descriptors changed", ended.unloaded["loops"][0]["changed"], 0)
        capture.unlink()
        again = send(
            engine,
            measured(fps=FPS / 4, frames=MEASURED),
            TX,
        )
        flow = again.counters.of_kind("flow")[0]
        checks.equal(f"{driver}: then sent", again.word("tx", "frames", "p0"), MEASURED)
        checks.equal(f"{driver}: then received", flow["frames"], MEASURED)
        checks.equal(f"{driver}: then out of order", flow["reordered"] + flow["duplicates"], 0)
        _compare(guest, driver, engine)


def _compare(guest: Guest, driver: str, engine: Engine) -> None:
    """CPU per frame of 64 octets, not paced. A cycle is an instruction here."""
    normal = send(engine, numbered(LAP, frames=FRAMES // 10), TX)
    looped = send(engine, numbered(LAP, frames=FRAMES), {"kind": "loop"})
    costs = _cost("normal engine", normal), _cost("descriptor loop", looped)
    guest.checks.that(
        costs[0] >= RATIO * costs[1],
        f"{driver}: the loop takes {RATIO} times less instructions per frame",
        f"{costs[0] / costs[1]:.0f} times",
    )


def _cost(name: str, ended: Ended) -> float:
    """Instructions per frame."""
    frames, busy = ended.word("tx", "frames", "p0"), ended.word("tx", "busy_cycles", "p0")
    looks = ended.counters.of_kind("tx")[0].histogram("burst_cycles").total
    print(
        f"     {name}: {frames:,} frames, {busy:,} instructions in {looks:,} looks: "
        f"{busy / frames:.3f} per frame, {busy / looks:.0f} per look"
    )
    return busy / frames
