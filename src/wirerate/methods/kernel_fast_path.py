# SPDX-License-Identifier: BSD-3-Clause
"""The application's own traffic in `wirerate kernel-path`: sent, measured, summed up.

A `wirerate run` of its own sends from the far side and measures every frame that comes back.
The frames are for a MAC address that is no kernel's, and come back to one that is none, so that
both kernels drop them at once.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import TrialError
from wirerate.host.children import child
from wirerate.methods.kernel_site import FAR
from wirerate.plan.kernel_path_settings import FRAME_OCTETS
from wirerate.trial.cpu_lost import LOST_CPU

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirerate.host.children import Child

_SETTLE = "500ms"
_GRACE_S = 40.0
"""For an engine to start and end beside all else."""
_SOURCE = ("02:57:52:09:00:01", "198.18.1.1")
_TARGET = ("02:57:52:09:00:02", "198.18.1.2")
_US_NS = 1000


@dataclass(frozen=True)
class Generated:
    """What the generator sent and got back; ``seconds`` it sent, latencies [us].

    ``lost_cpu``: what its verdict says of lcores that lost their CPUs.
    """

    seconds: float
    sent: int
    received: int
    lost: int
    p50_us: float | None
    p99_us: float | None
    lost_cpu: tuple[str, ...] = ()

    @property
    def offered_fps(self) -> float:
        """Frames per second that it sent."""
        return self.sent / self.seconds if self.seconds > 0 else 0.0


def fast_plan(fps: int) -> dict[str, Any]:
    """The plan: one measured flow on the far interface."""
    (source_mac, source), (target_mac, target) = _SOURCE, _TARGET
    return {
        "ports": [{"name": FAR, "location": f"af_packet:{FAR}"}],
        "flows": [
            {
                "name": "fast",
                "tx_rx": {"port": {"tx_name": FAR, "rx_names": [FAR]}},
                "metrics": {"enable": True, "loss": True, "latency": {"enable": True}},
                "packet": [
                    {"ethernet": {"src": {"value": source_mac}, "dst": {"value": target_mac}}},
                    {"ipv4": {"src": {"value": source}, "dst": {"value": target}}},
                    {"udp": {"src_port": {"value": 49152}, "dst_port": {"value": 9}}},
                ],
                "size": {"fixed": FRAME_OCTETS},
                "rate": {"pps": fps},
            }
        ],
    }


@contextmanager
def generator(namespace: str, fps: int, seconds: float) -> Iterator[Child]:
    """Start it in a namespace; it is ended with the block. It polls, since it measures."""
    words = [sys.executable, "-m", "wirerate", "run", "-", "--json"]
    words += ["--duration", f"{seconds:g}s", "--settle", _SETTLE]
    with child(words, namespace, json.dumps(fast_plan(fps))) as running:
        yield running


def result_of(running: Child, seconds: float, tick: Callable[[], None]) -> Generated:
    """Wait for its end, and what it found. Raises TrialError, and what ``tick`` does."""
    if not running.wait(seconds + _GRACE_S, tick):
        raise TrialError(f"the fast path's generator has not ended {_GRACE_S:.0f} s after its time")
    return parse_generated(running.output(), running.complaint())


def parse_generated(text: str, complaint: str) -> Generated:
    """Read the document of `wirerate run`. Raises TrialError."""
    try:
        document = json.loads(text)
        flow, reasons = document["flows"][0], document["verdict"]["reasons"]
        received, latency = flow["received"], flow["latency_ns"]
        return Generated(
            float(flow["seconds"]),
            int(flow["tx_frames"]),
            int(received["frames"]),
            int(received["lost"]),
            _us(latency["p50"]),
            _us(latency["p99"]),
            tuple(reason for reason in reasons if LOST_CPU in reason),
        )
    except (ValueError, KeyError, TypeError, IndexError):
        raise TrialError(
            f"the fast path's generator gave no result: {complaint or 'it said nothing'}"
        ) from None


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / _US_NS


def fast_document(found: Generated) -> dict[str, Any]:
    """FAST of docs/design/0009-kernel-path.md."""
    return {
        "offered_fps": found.offered_fps,
        "sent": found.sent,
        "lost": found.lost,
        "loss": found.lost / found.sent if found.sent else None,
        "p50_us": found.p50_us,
        "p99_us": found.p99_us,
    }
