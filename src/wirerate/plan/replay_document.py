# SPDX-License-Identifier: BSD-3-Clause
"""The plan that `wirerate replay` stands for: a port and a flow with the trace for each location.

The result is a document as `wirerate run` reads it (docs/design/0003-plans.md): OTG with the
extension ``x-wirerate.trace``. Numbers of frames come from the engine's scan of the file. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.location import LocationKind
from wirerate.plan.rate_document import plan_rate
from wirerate.units import FCS_OCTETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wirerate.plan.location import Location
    from wirerate.units import Rate

FRAMES_MAX = (1 << 63) - 1
"""Most frames that a plan may ask of a flow."""
_SRC_OFFSET = 6
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class TraceFacts:
    """What the engine's scan found in a capture file.

    ``octets`` without FCS, on the wire, short frames filled up to 60; times [ns] since 1970.
    ``memory_octets`` is what the ready frames take for each port.
    """

    format: str
    frames: int
    octets: int
    shortest: int
    longest: int
    truncated: int
    short: int
    backwards: int
    first_ns: int
    last_ns: int
    memory_octets: int

    @classmethod
    def from_scan(cls, scan: Mapping[str, Any]) -> TraceFacts:
        """From the JSON line of the engine's ``--scan-trace``."""
        return cls(**{name: scan[name] for name in cls.__dataclass_fields__})

    @property
    def mean_size(self) -> Fraction:
        """Mean frame size [octets, with FCS]."""
        return Fraction(self.octets, self.frames) + FCS_OCTETS

    @property
    def span_ns(self) -> int:
        """From the first frame to the latest one [ns]."""
        return self.last_ns - self.first_ns


@dataclass(frozen=True)
class RewriteMac:
    """Ethernet addresses of six octets that replace those of every frame.

    ``src`` None leaves the source; ``own`` sends from each port's own address instead.
    """

    dst: bytes
    src: bytes | None = None
    own: bool = False


@dataclass(frozen=True)
class ReplayRequest:
    """What `wirerate replay` is asked to send; ``file`` is absolute.

    ``loops`` laps of the trace, else ``duration_ns``; neither: until interrupted. With both, the
    plan has the laps, and the duration is the caller's to keep. ``speed`` None = at ``rate``, 1.0 =
    at the file's own times, 2.5 = that much faster.
    """

    file: Path
    rate: Rate
    loops: int | None = None
    duration_ns: int | None = None
    speed: float | None = None
    strict: bool = False
    rewrite: RewriteMac | None = None


def replay_document(
    request: ReplayRequest,
    facts: TraceFacts,
    locations: Sequence[Location],
    macs: Mapping[int, bytes],
) -> dict[str, Any]:
    """The plan: ports p0, p1, … at ``locations``, and flows f0, f1, … with the trace.

    ``macs`` are own Ethernet addresses of ports by index, where the devices have been asked.
    Raises PlanError for a rate or a number of frames that a plan cannot say.
    """
    rate = None if request.speed is not None else plan_rate(request.rate, facts.mean_size)
    duration = _duration(request, facts)
    ports, flows = [], []
    for index, location in enumerate(locations):
        ports.append({"name": f"p{index}", "location": location.text})
        trace = _trace(request, macs.get(index) or made_up_mac(index))
        flow: dict[str, Any] = {
            "name": f"f{index}",
            "tx_rx": {"choice": "port", "port": _ends(index, location)},
            "x-wirerate": {"trace": trace},
        }
        if rate is not None:
            flow["rate"] = dict(rate)
        flow["duration"] = dict(duration)
        flows.append(flow)
    return {"ports": ports, "flows": flows}


def made_up_mac(index: int) -> bytes:
    """The Ethernet address that a port without one of its own sends from (as a plan's auto)."""
    return bytes.fromhex("02575200") + index.to_bytes(2, "big")


def memory_octets(facts: TraceFacts, ports: int) -> int:
    """What the ready frames of all ports take; each port has its own [octets]."""
    return facts.memory_octets * ports


def _ends(index: int, location: Location) -> dict[str, Any]:
    """Nobody receives, but from a ring: what comes back would fill it up."""
    ends: dict[str, Any] = {"tx_name": f"p{index}"}
    if location.kind is LocationKind.RING:
        ends["rx_names"] = [f"p{index}"]
    return ends


def _trace(request: ReplayRequest, own: bytes) -> dict[str, Any]:
    trace: dict[str, Any] = {"file": str(request.file)}
    if request.speed is not None:
        trace["speed"] = request.speed
    if request.strict:
        trace["strict"] = True
    if request.rewrite is not None:
        src = own if request.rewrite.own else request.rewrite.src
        trace["overwrite"] = [{"offset": 0, "octets": request.rewrite.dst.hex(":")}]
        if src is not None:
            trace["overwrite"].append({"offset": _SRC_OFFSET, "octets": src.hex(":")})
    return trace


def _duration(request: ReplayRequest, facts: TraceFacts) -> dict[str, Any]:
    if request.loops is not None:
        frames = request.loops * facts.frames
        if frames > FRAMES_MAX:
            raise PlanError(
                f"loops {request.loops:,}: {frames:,} frames are more than a plan can say "
                f"({FRAMES_MAX:,}); lower it, or give --duration instead"
            )
        return {"choice": "fixed_packets", "fixed_packets": {"packets": frames}}
    if request.duration_ns is not None:
        seconds = request.duration_ns / _NS_PER_S
        return {"choice": "fixed_seconds", "fixed_seconds": {"seconds": seconds}}
    return {"choice": "continuous", "continuous": {}}
