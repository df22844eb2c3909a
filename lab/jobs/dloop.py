# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop on igb and virtio: a million frames as they were, then an ordinary measured run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.guest.looping import Engine, differences, measured, port, send, trace, traced
from lab.machine import Machine, Nic

if TYPE_CHECKING:
    from lab.guest.guest import Guest

MACHINE = Machine(
    nics=(Nic("igb"), Nic("igb"), Nic("virtio", wire=1), Nic("virtio", wire=1)),
    cpus=2,
    hugepages_mib=512,
    icount=True,
)
FRAMES = 1_000_000
LAP = 200
SIZES = (60, 60, 64, 98)
"""Octets without FCS, in turn."""
FPS = 400_000.0
MEASURED = 20_000


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
        checks.equal(f"{driver}: octets that differ", differences(capture, lap, FRAMES), 0)
        checks.equal(f"{driver}: descriptors changed", ended.unloaded["loops"][0]["changed"], 0)
        capture.unlink()
        again = send(
            engine,
            measured(fps=FPS / 4, frames=MEASURED),
            {"kind": "tx", "burst": 32, "part": 0, "parts": 1},
        )
        flow = again.counters.of_kind("flow")[0]
        checks.equal(f"{driver}: then sent", again.word("tx", "frames", "p0"), MEASURED)
        checks.equal(f"{driver}: then received", flow["frames"], MEASURED)
        checks.equal(f"{driver}: then out of order", flow["reordered"] + flow["duplicates"], 0)
