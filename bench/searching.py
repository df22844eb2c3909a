# SPDX-License-Identifier: BSD-3-Clause
"""How well searches find what is known: the capacity of a forwarder, the limit of the sender's CPU.

A forwarder with work of so many cycles per frame is one process, wirerate the other, joined by
memif. Its capacity is found by a fine scan first: trials at fixed rates, 1 % apart, downward from
what comes back unpaced. Then `--converge loss` three times, and `--converge cpu` on a null port.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROGRAM = (sys.executable, "-m", "wirerate.cli.main")
_WORKS = (1150, 400, 150)
"""Cycles per frame: about 2, 5 and 10 million frames/s on the machine of the first figures."""
_SEARCHES = 3
_SCAN_FROM, _SCAN_STEPS = 1.02, 40
_SCAN_STEP = 0.01
_SCAN_PASSES, _SCAN_TRIES = 2, 3
"""As a search does: a rate counts when two trials of it carried all."""


def run(*words: str) -> dict[str, Any]:
    """The JSON of a run; empty when it printed none."""
    done = subprocess.run([*_PROGRAM, *words, "--json"], capture_output=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return found


@contextmanager
def forwarder(socket: str, work: int) -> Iterator[None]:
    """A reflector on the other CPU, until the end."""
    words = (f"memif:{socket},role=server", "-m", "0.0", "--work", f"{work}cycles", "--json")
    process = subprocess.Popen([*_PROGRAM, "reflect", *words], stdout=subprocess.DEVNULL)
    time.sleep(2.0)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def perf(socket: str, *words: str) -> dict[str, Any]:
    """A run of perf before the forwarder."""
    return run("perf", f"memif:{socket}", "-m", "1.0", *words)


def carried(socket: str, fps: float) -> bool:
    """All frames of two trials at that rate were sent and came back."""
    passes = 0
    for tried in range(_SCAN_TRIES):
        found = perf(socket, "-r", f"{fps:.0f}pps", "--duration", "2", "--measure")
        if found and found["ports"][0]["tx_frames_unsent"] == 0:
            passes += found["total"]["received"]["lost"] == 0
        if passes == _SCAN_PASSES:
            return True
        if tried - passes == _SCAN_TRIES - _SCAN_PASSES:
            return False
    return False


def capacity(socket: str) -> float:
    """The highest rate of a fine scan at which nothing is lost [frames/s]."""
    unpaced = perf(socket, "--duration", "2", "--measure")["ports"][0]["forwarding_rate"]
    middle = float(unpaced["fps"] if isinstance(unpaced, dict) else unpaced)
    for step in range(_SCAN_STEPS):
        fps = middle * (_SCAN_FROM - step * _SCAN_STEP)
        if carried(socket, fps):
            return fps
    return float("nan")


def loss_search(work: int) -> str:
    """The capacity, and what searches found of it."""
    with tempfile.TemporaryDirectory() as folder:
        socket = str(Path(folder) / "memif.sock")
        with forwarder(socket, work):
            known = capacity(socket)
            found = []
            for _ in range(_SEARCHES):
                began = time.monotonic()
                document = perf(socket, "--converge", "loss")
                fps = document.get("search", {}).get("fps") or 0.0
                found.append(f"{fps / known - 1:+.1%} in {time.monotonic() - began:.0f} s")
    return f"{known / 1e6:.3f} Mpps by a scan; searches {', '.join(found)}"


def cpu_search() -> str:
    """What share of the time the sender is busy at the rate that was found."""
    shares = []
    for _ in range(_SEARCHES):
        search = run("perf", "null:a", "-m", ":1.0", "--converge", "cpu").get("search", {})
        step = search.get("step") or {}
        mpps = (search.get("fps") or 0.0) / 1e6
        shares.append(f"{step.get('utilisation', 0.0):.3f} at {mpps:.1f} Mpps")
    return ", ".join(shares)


def main() -> None:
    """Print all figures, or those of the works given."""
    for work in map(int, sys.argv[1:]) if len(sys.argv) > 1 else _WORKS:
        print(f"--converge loss, forwarder of {work} cycles: {loss_search(work)}", flush=True)
    print(f"--converge cpu, utilisation: {cpu_search()}", flush=True)


if __name__ == "__main__":
    main()
