# SPDX-License-Identifier: BSD-3-Clause
"""The engine's unpaced loop next to a bare loop of owned frames, in turns, into net_null.

Both are of one build, so that DPDK, compiler and driver are the same; bench/bare_loop.c is all that
a sender must do. Reported is the median of the pairs' ratios, the engine's rate by the bare loop's,
their range, and the ratio of the fastest slices. A row is a kind of frame and a burst.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import plans
from run import DATA_CPU, HUGEPAGES_MIB, VDEV, alternate, machine
from wirerate_sender import Sender

from wirerate.engine.eal import free_hugepages_mib

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

TRACE_FRAMES = 1000
CONSTANT_FRAMES = 64
"""The engine's shortest ring (engine/program/frame_ring.c)."""


class BareLoop:
    """bench/bare_loop.c, pinned to the CPU that the engine sends from."""

    def __init__(self, program: Path, hz: int) -> None:
        self._hz = hz
        command = [str(program), "--lcores", f"0@{DATA_CPU}", "--no-pci", "--in-memory"]
        command += ["--file-prefix", f"wrbare{os.getpid()}", "--no-telemetry", "--vdev", VDEV]
        command += ["--log-level", "error"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send_for(self, seconds: float, frames: int, burst: int) -> float:
        """Frames per second over a slice."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{frames} {burst} {seconds}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if len(answer) != 2:
            raise RuntimeError("the bare loop ended; see its words above")
        return int(answer[0]) * self._hz / int(answer[1])

    def __enter__(self) -> BareLoop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=20)


def kinds_of(trace: Path) -> Iterator[tuple[str, int, list[dict[str, object]]]]:
    """Kinds of frames: name, how many, the engine's streams."""
    yield "constant", CONSTANT_FRAMES, plans.streams_of([plans.udp_flow()])
    plans.write_mixed_trace(trace, TRACE_FRAMES)
    yield f"{TRACE_FRAMES:,}-frame trace", TRACE_FRAMES, plans.streams_of([plans.trace_flow(trace)])


def row(kind: str, burst: int, theirs: tuple[float, ...], mine: tuple[float, ...], hz: int) -> str:
    """One line of the table."""
    ratios = [m / t for t, m in zip(theirs, mine, strict=True)]
    them, us = statistics.median(theirs), statistics.median(mine)
    return (
        f"{kind:<18} {burst:>5} {them / 1e6:>10.1f} {hz / them:>7.2f} "
        f"{us / 1e6:>9.1f} {hz / us:>7.2f} {statistics.median(ratios):>6.3f} "
        f"{min(ratios):>6.2f}-{max(ratios):.2f} {max(mine) / max(theirs):>8.3f}"
    )


def compare(args: argparse.Namespace, program: Path, trace: Path) -> None:
    """Print a row for each kind of frame and burst."""
    with Sender(f"vdev:{VDEV}", data_cpu=DATA_CPU, burst=args.burst[0]) as ours:
        hz = int(str(ours.about["tsc_hz"]))
        print(f"{machine()['cpu']}, {ours.about['dpdk']}, TSC {hz / 1e6:.0f} MHz")
        print(
            f"{'frames':<18} {'burst':>5} {'bare Mpps':>10} {'cycles':>7} "
            f"{'wirerate':>9} {'cycles':>7} {'ratio':>6} {'range':>11} {'fastest':>8}"
        )
        with BareLoop(program, hz) as bare:
            for kind, frames, streams in kinds_of(trace):
                for burst in args.burst:
                    ours.burst = burst
                    theirs, mine = alternate(
                        lambda f=frames, b=burst: bare.send_for(args.seconds, max(f, b), b),  # type: ignore[misc]
                        lambda s=streams: ours.send_for(args.seconds, s),  # type: ignore[misc]
                        args.repeats,
                    )
                    print(row(kind, burst, theirs, mine, hz), flush=True)


def main() -> int:
    """Build the bare loop and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=11, help="pairs that count (default 11)")
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="length of a slice (default 0.2)"
    )
    parser.add_argument(
        "--burst", type=int, nargs="+", default=[32, 64, 128, 256], help="default: 32 64 128 256"
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=Path("build/release"),
        help="the build of both (default build/release; build/dpdk/VERSION/engine: make dpdk)",
    )
    args = parser.parse_args()
    if free_hugepages_mib() < HUGEPAGES_MIB:
        print(f"bench: {HUGEPAGES_MIB} MiB of free hugepages are needed", file=sys.stderr)
        return 3
    subprocess.run(
        [
            *("ninja", "-C", str(args.build), "--quiet"),
            *("engine/wirerate-engine", "bench/wirerate-bare-loop"),
        ],
        check=True,
    )
    os.environ["WIRERATE_ENGINE"] = str((args.build / "engine/wirerate-engine").resolve())
    with tempfile.TemporaryDirectory(prefix="wr-bench-") as directory:
        compare(args, args.build / "bench/wirerate-bare-loop", Path(directory) / "mixed.pcap")
    return 0


if __name__ == "__main__":
    sys.exit(main())
