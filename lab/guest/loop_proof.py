# SPDX-License-Identifier: BSD-3-Clause
"""What the descriptor loop has to show of a driver: a million frames, a run after it, CPU.

At the engine's own interface; what users see of it is `lab.guest.loop_commands`.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.guest.laps import check_laps, trace
from lab.guest.looping import LCORE, Ended, measured, numbered, port, send, traced
from wirerate.engine.process import Engine
from wirerate.errors import EngineDiedError, EngineRefusedError

if TYPE_CHECKING:
    from lab.guest.guest import Guest

FRAMES = 1_000_000
LAP = 200
_LOOP_TRIES = 3
SIZES = (60, 60, 64, 98)
"""Octets without FCS, in turn."""
MEASURED = 20_000
MEASURED_FPS = 5_000.0
RATIO = 20
"""So many times less CPU per frame than the normal engine takes, at least."""
LOOP = {"kind": "loop", "port": "p0", "queue": 0, "stream": "s0"}
TX = {"kind": "tx", "burst": 32, "part": 0, "parts": 1}


@dataclass(frozen=True)
class Loop:
    """How the first of a pair of NICs is to loop."""

    driver: str
    fps: float | None
    """None: as fast as the device takes frames."""
    frames: int = FRAMES
    rx_descriptors: int = 0
    """Of the receiver, 0: as many as its port has by default."""


def _pair(guest: Guest, rx_descriptors: int = 0) -> tuple[list[str], list[dict[str, Any]]]:
    """EAL's arguments, and PORTs: the machine's first NIC loops, the second receives."""
    pair = guest.vfio(0, 1)
    eal = ["--lcores", "0@0,1@1", "--no-telemetry", *(word for at in pair for word in ("-a", at))]
    receiver = port("p1", pair[1], rx_descriptors=rx_descriptors)
    return eal, [port("p0", pair[0], loop=LAP), receiver]


def check_loop(guest: Guest, loop: Loop) -> None:
    """Check that frames that loop arrive as they are; then ordinary ones from the same port."""
    eal, ports = _pair(guest, loop.rx_descriptors)
    lap = trace(Path("/run/lap.pcap"), LAP, SIZES)
    with Engine(eal) as engine:
        opened = engine.call("ports.open", {"ports": ports})["ports"][0]["tx_loop"]
        print(f"     {loop.driver}: {opened}")
        guest.checks.equal("the ring's driver", opened["driver"], loop.driver)
        _loop(guest, engine, lap, loop)
        _check_long_frames(guest, engine)
        _send_ordinarily(guest, engine)


def check_killed(guest: Guest) -> None:
    """Check that a port is as ever after kill -9 of an engine that looped it."""
    eal, ports = _pair(guest)
    guest.checks.contains("kill -9 is noticed", _kill(eal, ports), "SIGKILL")
    with Engine(eal) as engine:
        engine.call("ports.open", {"ports": ports})
        print("     after kill -9 of a looping engine:")
        _send_ordinarily(guest, engine)


def _loop(guest: Guest, engine: Engine, lap: list[bytes], loop: Loop) -> None:
    """All that was sent was received, byte by byte, in order."""
    checks, capture, frames = guest.checks, Path("/run/looped.pcap"), loop.frames
    ended = _received_whole(engine, loop, capture)
    checks.equal("fetched", ended.word("tx", "frames", "p0"), frames)
    checks.equal("unsent", ended.word("tx", "frames_unsent", "p0"), 0)
    checks.equal("sent, says the device", ended.word("port", "opackets", "p0"), frames)
    checks.equal("received", ended.word("rx", "frames", "p1"), frames)
    check_laps(checks, capture, lap, frames // LAP)
    checks.equal("descriptors changed", ended.unloaded["loops"][0]["changed"], 0)
    capture.unlink()


def _received_whole(engine: Engine, loop: Loop, capture: Path) -> Ended:
    """Loop; at a rate, again at half of it where not all frames were received.

    The worker that receives also moves the tail: kept away for long, it first sends what became due
    meanwhile, and a receiver that drops what finds no descriptor has fewer of them. At the lowest
    rate its ring has room for 0.4 s.
    """
    fps, frames = loop.fps, loop.frames
    for left in reversed(range(_LOOP_TRIES)):
        stream = traced(Path("/run/lap.pcap"), fps=fps, frames=frames)
        ended = send(engine, stream, {"kind": "loop"}, capture=capture, frames=frames + 1000)
        print(f"     {frames:,} frames in {ended.seconds:.1f} s; {ended.unloaded}")
        missing = frames - ended.word("rx", "frames", "p1")
        if fps is None or missing <= 0 or not left:
            break
        fps /= 2
        capture.unlink()
        print(f"     {missing:,} overran the receiver's ring; again, at {fps:,.0f} frames/s")
    return ended


def _check_long_frames(guest: Guest, engine: Engine) -> None:
    """Frames above what the port's buffers hold are refused; what follows finds it as before."""
    stream = {**numbered(LAP), "template": bytes(3000).hex()}
    workers = [{"lcore": LCORE, "sleep_ns": 0, "tasks": [LOOP]}]
    said = "nothing: it was loaded"
    try:
        engine.call("program.load", {"workers": workers, "streams": [stream]})
    except EngineRefusedError as error:
        said = str(error)
    guest.checks.contains("long frames are refused", said, "3004")


def _send_ordinarily(guest: Guest, engine: Engine) -> None:
    """The same port passes a measured run of the normal engine."""
    again = send(engine, measured(fps=MEASURED_FPS, frames=MEASURED), TX)
    flow = again.counters.of_kind("flow")[0]
    guest.checks.equal("then sent", again.word("tx", "frames", "p0"), MEASURED)
    guest.checks.equal("then received", flow["frames"], MEASURED)
    guest.checks.equal("then out of order", flow["reordered"] + flow["duplicates"], 0)


def _kill(eal: list[str], ports: list[dict[str, Any]]) -> str:
    """End an engine while its device loops, without a chance to stop it; the reason of its end."""
    program = {
        "workers": [{"lcore": LCORE, "sleep_ns": 0, "tasks": [LOOP]}],
        "streams": [numbered(LAP)],
    }
    try:
        with Engine(eal) as engine:
            engine.call("ports.open", {"ports": ports})
            engine.call("program.load", program)
            engine.call("traffic.start")
            time.sleep(0.5)
            os.kill(engine.pid, signal.SIGKILL)
    except EngineDiedError as error:
        return str(error)
    return "nothing"


def compare(guest: Guest) -> None:
    """CPU per frame of 64 octets, not paced, by instructions: a cycle is one with icount.

    Not where the device takes its time: looks that find nothing are counted for the loop only.
    """
    eal, ports = _pair(guest)
    with Engine(eal) as engine:
        engine.call("ports.open", {"ports": ports})
        normal = send(engine, numbered(LAP, frames=FRAMES // 10), TX)
        looped = send(engine, numbered(LAP, frames=FRAMES), {"kind": "loop"})
    costs = _cost("normal engine", normal), _cost("descriptor loop", looped)
    guest.checks.that(
        costs[0] >= RATIO * costs[1],
        f"the loop takes {RATIO} times less CPU per frame",
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
