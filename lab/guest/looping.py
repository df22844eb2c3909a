# SPDX-License-Identifier: BSD-3-Clause
"""The descriptor loop at the engine's own interface: one port loops, another receives.

Both queues are one worker's. In a machine that counts instructions (icount) its clock stands while
others run, so that the receiver keeps pace with the sender however the host treats the guest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.engine.counters import Counters

if TYPE_CHECKING:
    from wirerate.engine.process import Engine

_WAIT_S = 120
_SETTLE_S = 0.5
_CAPTURED_OCTETS = 128
"""Of each frame; longer ones cannot be compared."""
LCORE = 1


def port(name: str, location: str, *, loop: int = 0, **more: Any) -> dict[str, Any]:
    """A port with a queue in each direction."""
    made = {
        "name": name,
        "location": location,
        "rx_queues": 1,
        "tx_queues": 1,
        "rx_descriptors": 0,
        "tx_descriptors": 0,
        "mbufs": 16384,
        "frame_size_max": 1518,
        "promiscuous": True,
    }
    if loop:
        made["tx_loop_frames"] = loop
    return {**made, **more}


def traced(path: Path, **schedule: Any) -> dict[str, Any]:
    """A stream of a capture file."""
    source: dict[str, Any] = {"path": str(path), "overwrite": [], "speed": None}
    return {"name": "s0", "trace": source, "fps": None, "frames": None, **schedule}


def measured(**schedule: Any) -> dict[str, Any]:
    """A stream of stamped frames of 64 octets."""
    head = bytes.fromhex("525400000002525400000001") + b"\x88\xb5"
    template = (head + bytes(60 - len(head))).hex()
    return {
        "name": "s0",
        "template": template,
        "fields": [],
        "checksums": [],
        "stamp": 0,
        **schedule,
    }


def numbered(count: int, **schedule: Any) -> dict[str, Any]:
    """A stream of `count` different frames of 64 octets."""
    number = {"offset": 20, "octets": 4, "first": 0, "step": 1, "count": count}
    return {**measured(fps=None, frames=None, stamp=None), "fields": [number], **schedule}


@dataclass(frozen=True)
class Ended:
    """What one program left."""

    counters: Counters
    unloaded: dict[str, Any]
    seconds: float

    def word(self, kind: str, name: str, port_name: str) -> int:
        """The sum of a word over the blocks of a kind that are about a port."""
        blocks = self.counters.of_kind(kind)
        return sum(block[name] for block in blocks if block.labels.get("port") == port_name)


def send(
    engine: Engine,
    stream: dict[str, Any],
    task: dict[str, Any],
    *,
    capture: Path | None = None,
    frames: int = 0,
    sleep_ns: int = 0,
) -> Ended:
    """Let p0 send a limited stream to its end, p1 receiving; `frames` are captured."""
    rx = {
        "kind": "rx",
        "port": "p1",
        "queue": 0,
        "burst": 512,
        "measure": stream.get("stamp") is not None,
    }
    sender = {"port": "p0", "queue": 0, "stream": "s0", **task}
    program: dict[str, Any] = {
        "workers": [{"lcore": LCORE, "sleep_ns": sleep_ns, "tasks": [rx, sender]}],
        "streams": [stream],
    }
    if capture is not None:
        program["captures"] = [
            {
                "port": "p1",
                "path": str(capture),
                "format": "pcap",
                "frames": frames,
                "octets": _CAPTURED_OCTETS,
            }
        ]
    counters = Counters(Path(engine.call("program.load", program)["counters"]))
    started = time.monotonic()
    engine.call("traffic.start")
    deadline = started + _WAIT_S
    while counters.of_kind("tx")[0]["state"] != 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    took = time.monotonic() - started
    time.sleep(_SETTLE_S)
    return Ended(counters, engine.call("program.unload"), took)
