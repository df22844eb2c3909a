# SPDX-License-Identifier: BSD-3-Clause
"""wirerate's engine as the other side of a comparison: through the package's own API."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.plan.frames import FrameSpec, make_stream
from wirerate.plan.location import parse_location
from wirerate.trial.snapshot import take

if TYPE_CHECKING:
    from types import TracebackType

_MEMORY = Memory(("--in-memory",), "hugepages, as testpmd")
_PORT = {
    "name": "p0",
    "rx_queues": 1,
    "tx_queues": 1,
    "rx_descriptors": 0,
    "tx_descriptors": 0,
    "mbufs": 4096,
    "frame_size_max": 1518,
    "promiscuous": True,
}


class Sender:
    """One port, one Tx queue on one lcore, as fast as the device takes frames."""

    def __init__(self, location: str, *, data_cpu: int, burst: int) -> None:
        self._burst = burst
        self._lcore = data_cpu
        place = parse_location(location)
        self._engine = Engine(eal_arguments([place], [data_cpu], _MEMORY, ()))
        self._engine.call("ports.open", {"ports": [_PORT | {"location": place.text}]})

    def send_for(self, seconds: float, *, flows: int = 1, frame_size: int = 64) -> float:
        """Frames per second sent over a slice."""
        stream = make_stream("s0", FrameSpec(frame_size=frame_size, flows=flows))
        task = {"kind": "tx", "port": "p0", "queue": 0, "burst": self._burst}
        task |= {"stream": "s0", "part": 0, "parts": 1}
        program = {"workers": [{"lcore": self._lcore, "tasks": [task]}], "streams": [stream]}
        counters = self._engine.load(program)
        self._engine.call("traffic.start", {"duration_ns": int(seconds * 1e9)})
        time.sleep(seconds + 0.02)
        self._engine.call("program.unload")
        final = take(counters)
        return final.ports[0].tx_frames * final.tsc_hz / (final.stop_tsc - final.start_tsc)

    @property
    def about(self) -> dict[str, object]:
        """What the engine says of itself."""
        return self._engine.call("engine.info")

    def close(self) -> None:
        """End the engine."""
        self._engine.close()

    def __enter__(self) -> Sender:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
