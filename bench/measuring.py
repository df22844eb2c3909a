# SPDX-License-Identifier: BSD-3-Clause
"""What measuring costs: stamps, receiving, many flows, a forwarder's work.

Two variants run in turns, slice by slice, on the same lcore; the median of the pairs' ratios or
differences is printed, and the range. `make bench` prints it below the comparisons.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import plans
from testpmd import Testpmd

from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.plan.location import parse_location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MEMORY = Memory(("--in-memory",), "hugepages")
_MAIN_CPU, _DATA_CPU = 0, 1
_BURST = 64
_REPEATS = 11
_SECONDS = 0.3
_MANY_FPS = 4e6
_ABOVE_ANY_FPS = 500e6
"""A rate that no core reaches: paced, and as fast as can be."""
_PORT = {
    "name": "p0",
    "rx_queues": 1,
    "tx_queues": 1,
    "rx_descriptors": 0,
    "tx_descriptors": 0,
    "mbufs": 8192,
    "frame_size_max": 1518,
    "promiscuous": True,
}
Task = dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """Of one slice: TSC cycles per frame by the clock, and those that counters call busy."""

    wall: float
    rx_busy: float
    forward_busy: float


class Loop:
    """An engine with one port; a second lcore, on the other CPU, may send."""

    def __init__(self, location: str) -> None:
        place = parse_location(location)
        self._engine = Engine(eal_arguments([place], [_MAIN_CPU, _DATA_CPU], _MEMORY, ()))
        self._hz = int(self._engine.call("engine.info")["tsc_hz"])
        self._engine.call("ports.open", {"ports": [_PORT | {"location": place.text}]})

    def slice(
        self,
        tasks: Sequence[Task],
        streams: Sequence[dict[str, Any]],
        elsewhere: Sequence[Task] = (),
    ) -> Figures:
        """Run a program for a while, with tasks here and on the other CPU."""
        workers = [{"lcore": _DATA_CPU, "tasks": list(tasks)}]
        if elsewhere:
            workers.append({"lcore": _MAIN_CPU, "tasks": list(elsewhere)})
        counters = self._engine.load({"workers": workers, "streams": list(streams)})
        self._engine.call("traffic.start", {"duration_ns": int(_SECONDS * 1e9)})
        time.sleep(_SECONDS + 0.02)
        self._engine.call("program.unload")
        sent = sum(block["frames"] for block in counters.of_kind("tx"))
        return Figures(
            wall=_SECONDS * self._hz / max(1, sent),
            rx_busy=_per_frame(counters.of_kind("rx"), "frames"),
            forward_busy=_per_frame(counters.of_kind("forward"), "rx_frames"),
        )

    def close(self) -> None:
        """End the engine."""
        self._engine.close()


def _per_frame(blocks: Sequence[Any], word: str) -> float:
    frames = sum(int(block[word]) for block in blocks)
    return sum(int(block["busy_cycles"]) for block in blocks) / max(1, frames)


@contextmanager
def loop(location: str) -> Iterator[Loop]:
    """A Loop that is closed at the end."""
    made = Loop(location)
    try:
        yield made
    finally:
        made.close()


def tx(stream: str = "s0") -> Task:
    """Send a stream."""
    task = {"kind": "tx", "port": "p0", "queue": 0, "burst": _BURST}
    return task | {"stream": stream, "part": 0, "parts": 1}


def rx(*, measure: bool) -> Task:
    """Receive, and measure or only count."""
    return {"kind": "rx", "port": "p0", "queue": 0, "burst": _BURST, "measure": measure}


def forward(cycles: int) -> Task:
    """Send back out of the port what it receives, after so much work for each frame."""
    task = {"kind": "forward", "port": "p0", "queue": 0, "burst": _BURST}
    return task | {"to_port": "p0", "to_queue": 0, "work_cycles": cycles}


def streams(flows: int = 1, *, stamped: bool, fps: float | None = None) -> list[dict[str, Any]]:
    """64-octet UDP flows; ``fps`` of each, None = unpaced."""
    made = plans.streams_of([plans.udp_flow(f"f{number}") for number in range(flows)])
    return [
        stream | {"fps": fps} | ({"stamp": number} if stamped else {})
        for number, stream in enumerate(made)
    ]


def said(values: Sequence[float], unit: str = "") -> str:
    """Median and range."""
    middle = statistics.median(values)
    return f"{middle:.2f}{unit} ({min(values):.2f} to {max(values):.2f})"


def in_turns(first: Callable[[], float], second: Callable[[], float]) -> list[tuple[float, float]]:
    """Slices of both, one after the other; the first pair does not count."""
    pairs = [(first(), second()) for _ in range(_REPEATS + 1)]
    return pairs[1:]


def stamping() -> str:
    """Stamps and pacing against neither, into net_null."""
    with loop("vdev:net_null0,copy=0,no-rx=1") as engine:
        plain, paced = streams(stamped=False), streams(stamped=True, fps=_ABOVE_ANY_FPS)
        pairs = in_turns(
            lambda: engine.slice([tx()], plain).wall, lambda: engine.slice([tx()], paced).wall
        )
    return (
        f"{said([after - before for before, after in pairs], ' cycles')} more per frame; "
        f"{said([before for before, _ in pairs])} without"
    )


def receiving() -> str:
    """A ring that one lcore fills and empties; the receiver's busy cycles."""
    with loop("ring:bench") as engine:
        plain, stamped = streams(stamped=False), streams(stamped=True)
        pairs = in_turns(
            lambda: engine.slice([rx(measure=False), tx()], plain).rx_busy,
            lambda: engine.slice([rx(measure=True), tx()], stamped).rx_busy,
        )
    return (
        f"{said([after for _, after in pairs], ' cycles')} per frame measured; "
        f"{said([before for before, _ in pairs])} counted only"
    )


def many_flows() -> str:
    """1,000 flows against one, 4 Mpps in all from the other CPU: every frame of another flow."""
    with loop("ring:bench") as engine:
        one = streams(stamped=True, fps=_MANY_FPS)
        many = streams(1000, stamped=True, fps=_MANY_FPS / 1000)
        senders = [tx(f"s{number}") for number in range(1000)]
        pairs = in_turns(
            lambda: engine.slice([rx(measure=True)], one, [tx()]).rx_busy,
            lambda: engine.slice([rx(measure=True)], many, senders).rx_busy,
        )
    return (
        f"{said([after / before for before, after in pairs], ' x')} the receiver's cycles of one; "
        f"{said([after for _, after in pairs])} cycles per frame"
    )


def over_memif() -> str:
    """Through a testpmd that reflects, at full rate: measured against unmeasured."""
    with tempfile.TemporaryDirectory(prefix="wr-bench-") as directory:
        socket = f"{directory}/m.sock"
        server = f"net_memif0,role=server,id=0,socket={socket},socket-abstract=no"
        with Testpmd(
            "wrbenchio",
            main_cpu=_MAIN_CPU,
            data_cpu=_MAIN_CPU,
            vdevs=[server],
            options=("--forward-mode=io", f"--burst={_BURST}", "--port-topology=loop"),
        ) as reflector:
            reflector.command("start")
            with loop(f"memif:{socket}") as engine:
                plain, stamped = streams(stamped=False), streams(stamped=True)
                pairs = in_turns(
                    lambda: engine.slice([rx(measure=False), tx()], plain).wall,
                    lambda: engine.slice([rx(measure=True), tx()], stamped).wall,
                )
    return f"{said([before / after for before, after in pairs], ' x')} the unmeasured rate"


def work() -> str:
    """Frames that go round and round through a forward task: what N cycles of work cost."""
    lines = []
    with loop("ring:bench") as engine:
        seed = streams(stamped=False)[0] | {"frames": 512}
        for cycles in (100, 200, 400, 1000):
            pairs = in_turns(
                lambda: engine.slice([forward(0), tx()], [seed]).forward_busy,
                lambda n=cycles: engine.slice([forward(n), tx()], [seed]).forward_busy,  # type: ignore[misc]
            )
            lines.append(f"{cycles}: {said([after - before for before, after in pairs])}")
    return "; ".join(lines)


def main() -> int:
    """Print all of them, or those named."""
    chosen = sys.argv[1:]
    for name, measure in (
        ("stamping and pacing", stamping),
        ("receiving, measured", receiving),
        ("1,000 measured flows", many_flows),
        ("memif, measured", over_memif),
        ("forward --work, cycles", work),
    ):
        if not chosen or measure.__name__ in chosen:
            print(f"{name + ':':<24} {measure()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
