# SPDX-License-Identifier: BSD-3-Clause
"""wirerate's engine as the other side of a comparison: through the package's own API."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import Memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.plan.location import parse_location
from wirerate.trial.snapshot import take

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from wirerate.trial.snapshot import Snapshot

_MEMORY = Memory(("--in-memory",), "hugepages, as testpmd")
_PORT = {
    "rx_queues": 1,
    "tx_queues": 1,
    "rx_descriptors": 0,
    "tx_descriptors": 0,
    "mbufs": 4096,
    "frame_size_max": 1518,
    "promiscuous": True,
}


class Sender:
    """Ports with one Tx queue each, all on one lcore."""

    def __init__(self, *locations: str, data_cpu: int, burst: int) -> None:
        self.burst = burst
        self._lcore = data_cpu
        places = [parse_location(location) for location in locations]
        self._engine = Engine(eal_arguments(places, [data_cpu], _MEMORY, ()))
        self._ports = [f"p{index}" for index in range(len(places))]
        ports = [
            _PORT | {"name": name, "location": place.text}
            for name, place in zip(self._ports, places, strict=True)
        ]
        self._engine.call("ports.open", {"ports": ports})

    def _task(self, stream: str, port: str) -> dict[str, Any]:
        task = {"kind": "tx", "port": port, "queue": 0, "burst": self.burst}
        return task | {"stream": stream, "part": 0, "parts": 1}

    def run_for(
        self, seconds: float, streams: Sequence[dict[str, Any]], *, sleep_ns: int = 0
    ) -> Snapshot:
        """Send the streams on every port for a while; the counters at the end."""
        copies = [
            (stream | {"name": f"{stream['name']}.{port}"}, port)
            for port in self._ports
            for stream in streams
        ]
        tasks = [self._task(stream["name"], port) for stream, port in copies]
        worker = {"lcore": self._lcore, "sleep_ns": sleep_ns, "tasks": tasks}
        counters = self._engine.load(
            {"workers": [worker], "streams": [stream for stream, _ in copies]}
        )
        self._engine.call("traffic.start", {"duration_ns": int(seconds * 1e9)})
        time.sleep(seconds + 0.02)
        self._engine.call("program.unload")
        return take(counters)

    def send_for(self, seconds: float, streams: Sequence[dict[str, Any]]) -> float:
        """Frames per second sent by all ports over a slice."""
        final = self.run_for(seconds, streams)
        frames = sum(port.tx_frames for port in final.ports)
        return frames * final.tsc_hz / (final.stop_tsc - final.start_tsc)

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
