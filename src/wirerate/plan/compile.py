# SPDX-License-Identifier: BSD-3-Clause
"""One flow of a plan to one STREAM of the engine: frames, rate and schedule settled for its port.

`check_flow` needs no device and finds what is wrong with the frames; `compile_flow` runs once the
port is open, because percentages and gaps in octets need the line rate, and automatic addresses the
port's own. What a STREAM is: docs/design/0002-engine-interface.md. Called by the commands; pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.device_flow import settled, wanted_neighbors
from wirerate.plan.fields import PortMac, Random
from wirerate.plan.layout import STAMP_OCTETS, lay_out
from wirerate.units import FCS_OCTETS, FRAME_SIZE_MAX, frame_len_no_fcs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.fields import Neighbor
    from wirerate.plan.model import Burst, Flow, Sizes, Trace

_NS_PER_S = 1_000_000_000
_DURATION_MAX_NS = 366 * 86400 * _NS_PER_S
_FPS_MIN = 1e-6
_FPS_MAX = 1e12
_OVERWRITES_MAX = 16
"""Limits of the engine (engine/config/config_limits.h)."""


@dataclass(frozen=True)
class PortFacts:
    """What is known of the sending port.

    ``mac`` None: a virtual port, its address is made up from ``index``, its place in the plan
    (0…65,535). ``line_rate_bps`` [bit/s] None: no line. ``neighbors``: MAC addresses of those who
    were asked, gateways of devices.
    """

    index: int
    mac: str | None
    line_rate_bps: int | None
    neighbors: Mapping[Neighbor, int] = field(default_factory=dict)

    @property
    def mac_octets(self) -> bytes:
        """Its own address, or 02:57:52:00 and the index: locally administered, 57:52 is WR."""
        if self.mac is None:
            return b"\x02\x57\x52\x00" + self.index.to_bytes(2, "big")
        return bytes.fromhex(self.mac.replace(":", ""))


@dataclass(frozen=True)
class CompiledFlow:
    """A flow as the engine is to send it.

    ``fps`` [fps] is that of the whole flow, inside bursts; None = unpaced or by a trace's times.
    ``mean_size`` and ``frame_size_max`` [octets, with FCS]; ``splittable``: may be sent in parts
    over several queues; ``notes``: sentences for the user; ``scan``: that of the trace, if any.
    """

    flow: Flow
    name: str
    stream: dict[str, Any]
    fps: float | None
    mean_size: float
    frame_size_max: int
    splittable: bool
    notes: tuple[str, ...]
    scan: Mapping[str, Any] | None = None

    @property
    def measured(self) -> bool:
        """Each frame ends with room for a stamp; `wirerate.plan.program` numbers it."""
        return self.flow.measured


@dataclass(frozen=True)
class _Frames:
    """The frame part of a STREAM; sizes [octets, with FCS]."""

    stream: dict[str, Any]
    mean_size: Fraction
    size_max: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Mix:
    """Sizes [octets, with FCS], and ``lengths`` without it: one where all are equal."""

    smallest: int
    largest: int
    mean: Fraction
    lengths: list[int]


_NO_DEVICE = PortFacts(0, None, None)


def check_flow(flow: Flow, trace: Mapping[str, Any] | None = None) -> int:
    """Check all that needs no device; return the greatest frame size [octets, with FCS].

    ``trace`` is the scan of a trace flow (``--scan-trace``). Raises PlanError.
    """
    return _frames(flow, _NO_DEVICE, trace).size_max


def compile_flow(
    flow: Flow, name: str, port: PortFacts, trace: Mapping[str, Any] | None = None
) -> CompiledFlow:
    """Compile a flow for its port; ``name`` is the stream's, ``trace`` the scan of a trace flow.

    Raises PlanError with the place in the plan.
    """
    frames = _frames(flow, port, trace)
    fps = _fps(flow, frames.mean_size, port)
    return CompiledFlow(
        flow=flow,
        name=name,
        stream={"name": name} | frames.stream | _in_turn(flow) | _schedule(flow, fps, port),
        fps=fps,
        mean_size=float(frames.mean_size),
        frame_size_max=frames.size_max,
        splittable=flow.duration.burst is None,
        notes=frames.notes,
        scan=trace,
    )


def compile_again(draft: CompiledFlow, before: PortFacts, port: PortFacts) -> CompiledFlow:
    """What `compile_flow` gives for ``port``, from what it gave for ``before``: most of it stays.

    The frames depend on the port's address and its neighbors' alone, and only where a field holds
    one; the schedule on the line rate. Raises PlanError with the place in the plan.
    """
    flow = draft.flow
    other_mac = before.mac_octets != port.mac_octets and _holds_mac(flow)
    if other_mac or (before.neighbors != port.neighbors and wanted_neighbors(flow.packet)):
        return compile_flow(flow, draft.name, port, draft.scan)
    if before.line_rate_bps == port.line_rate_bps:
        return draft
    fps = _fps(flow, _mean_size(flow, draft.scan), port)
    return replace(draft, stream=draft.stream | _schedule(flow, fps, port), fps=fps)


def _holds_mac(flow: Flow) -> bool:
    return any(
        isinstance(part.content, PortMac) for header in flow.packet for part in header.fields
    )


def _mean_size(flow: Flow, trace: Mapping[str, Any] | None) -> Fraction:
    """Of the frames of a flow that has been compiled [octets, with FCS]."""
    if trace is not None:
        return Fraction(trace["octets"], trace["frames"]) + FCS_OCTETS
    assert flow.sizes is not None, "a flow without a trace has sizes"
    return _mix(flow.sizes.sequence).mean


def _frames(flow: Flow, port: PortFacts, trace: Mapping[str, Any] | None) -> _Frames:
    if flow.trace is not None:
        assert trace is not None, "a trace flow is compiled with the scan of its file"
        return _trace_frames(flow, flow.trace, trace)
    assert flow.sizes is not None, "a flow without a trace has sizes"
    if not flow.packet:
        raise PlanError(f"{flow.path}.packet: it has no headers; add one, ethernet say")
    return _packet_frames(flow, flow.sizes, port)


def _in_turn(flow: Flow) -> dict[str, Any]:
    """How a part of the stream chooses and bundles its frames, where that is said."""
    words: dict[str, Any] = {"whole_bursts": True} if flow.whole_bursts else {}
    ramp = flow.ramp
    if ramp is None:
        return words
    return words | {
        "ramp": {
            "flows": ramp.flows,
            "per_second": ramp.per_second,
            "start": ramp.start,
            "hold_ns": ramp.hold_ns,
            "down": ramp.down,
        }
    }


def _packet_frames(flow: Flow, sizes: Sizes, port: PortFacts) -> _Frames:
    mix = _mix(sizes.sequence)
    if flow.ramp is not None and len(mix.lengths) > 1:
        raise PlanError(
            f"{flow.path}.x-wirerate.ramp: its frames are of one size, but {sizes.path} has "
            "several; choose one"
        )
    _check_room(flow, mix.smallest, sizes.path)
    packet = settled(flow.packet, port.neighbors)
    layout = lay_out(packet, flow.payload, mix.lengths, port.mac_octets, stamped=flow.measured)
    stream = {
        "template": layout.template.hex(),
        "lengths": [] if len(mix.lengths) == 1 else mix.lengths,
        "length_fields": layout.length_fields,
        "fields": layout.fields,
        "checksums": layout.checksums,
    }
    return _Frames(stream, mix.mean, mix.largest, _seed_notes(flow))


@lru_cache(maxsize=16)
def _mix(sequence: tuple[int, ...]) -> _Mix:
    """Many flows may share a long sequence, and looking through it takes a millisecond."""
    smallest, largest = min(sequence), max(sequence)
    used = sequence[:1] if smallest == largest else sequence
    mean = Fraction(sum(used), len(used))
    return _Mix(smallest, largest, mean, [frame_len_no_fcs(size) for size in used])


def _check_room(flow: Flow, smallest: int, path: str) -> None:
    need = sum(header.octets for header in flow.packet) + FCS_OCTETS
    if smallest < need:
        raise PlanError(
            f"{path}: {smallest} octets are too few for these headers, which need {need} with FCS"
        )
    if flow.measured and smallest < need + STAMP_OCTETS:
        raise PlanError(
            f"{path}: {smallest} octets leave no room for the stamp of a measured flow: with these "
            f"headers it needs {need + STAMP_OCTETS} with FCS; raise the size, or do not measure "
            "the flow"
        )


def _seed_notes(flow: Flow) -> tuple[str, ...]:
    """The seeds that a run needs to be repeated."""
    seeds = [
        f"{header.path}.{part.name} {part.content.seed}"
        for header in flow.packet
        for part in header.fields
        if isinstance(part.content, Random) and part.content.chosen
    ]
    return (f"flow {flow.name}: random seeds: {', '.join(seeds)}",) if seeds else ()


def _trace_frames(flow: Flow, trace: Trace, scan: Mapping[str, Any]) -> _Frames:
    frames, largest = scan["frames"], scan["longest"] + FCS_OCTETS
    if frames == 0:
        raise PlanError(f"{flow.path}: {trace.file} has no frames; use another file")
    if largest > FRAME_SIZE_MAX:
        raise PlanError(
            f"{flow.path}: {trace.file} has a frame of {largest:,} octets with FCS, but at most "
            f"{FRAME_SIZE_MAX:,} are sent; take it out of the file"
        )
    if trace.strict and scan["truncated"]:
        raise PlanError(
            f"{flow.path}: {scan['truncated']:,} of the {frames:,} frames in {trace.file} are "
            "truncated by the capture; capture whole frames, or leave strict out to have them "
            "filled up with zeros"
        )
    if len(trace.overwrite) > _OVERWRITES_MAX:
        raise PlanError(
            f"{flow.path}: {len(trace.overwrite)} overwrites, but at most {_OVERWRITES_MAX} are "
            "done; join those that lie side by side"
        )
    overwrite = [{"offset": at, "octets": octets.hex()} for at, octets in trace.overwrite]
    stream = {
        "trace": {"path": str(trace.file.absolute()), "overwrite": overwrite, "speed": trace.speed}
    }
    return _Frames(stream, _mean_size(flow, scan), largest, _trace_notes(trace, scan))


def _trace_notes(trace: Trace, scan: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    said = f"trace {trace.file}: {{}} of {scan['frames']:,} frames {{}}"
    if scan["truncated"]:
        text = "are truncated by the capture; zeros fill them up to their length on the wire"
        notes.append(said.format(f"{scan['truncated']:,}", text))
    if scan["short"]:
        text = "are shorter than 64 octets with FCS; zeros fill them up"
        notes.append(said.format(f"{scan['short']:,}", text))
    if scan["backwards"] and trace.speed is not None:
        text = "are earlier than the one before; they are sent right behind it"
        notes.append(said.format(f"{scan['backwards']:,}", text))
    return tuple(notes)


def _fps(flow: Flow, mean_size: Fraction, port: PortFacts) -> float | None:
    if flow.trace is not None and flow.trace.speed is not None:
        return None  # the file's own times
    whole = mean_size.denominator == 1
    try:
        fps = flow.rate.to_fps(int(mean_size) if whole else mean_size, port.line_rate_bps)
    except PlanError as error:
        raise PlanError(f"{flow.path}.rate: {error}") from error
    if fps is not None and not _FPS_MIN <= fps <= _FPS_MAX:
        raise PlanError(
            f"{flow.path}.rate: {flow.rate} is {fps:g} frames/s; give a rate of {_FPS_MIN:g} to "
            f"{_FPS_MAX:g} frames/s"
        )
    return None if fps is None else float(fps)


def _schedule(flow: Flow, fps: float | None, port: PortFacts) -> dict[str, Any]:
    duration = flow.duration
    path = f"{flow.path}.duration"
    delay_ns = duration.delay_ns + round(_octets_ns(duration.delay_octets, port, path, "delay"))
    if delay_ns > _DURATION_MAX_NS:
        raise PlanError(f"{path}: the delay is longer than 366 days; lower it")
    burst = None
    if duration.burst is not None:
        burst = _burst(flow, duration.burst, fps, port)
    return {
        "fps": fps,
        "frames": duration.frames,
        "delay_ns": delay_ns,
        "duration_ns": duration.duration_ns,
        "burst": burst,
    }


def _burst(flow: Flow, burst: Burst, fps: float | None, port: PortFacts) -> dict[str, Any]:
    path = f"{flow.path}.duration.burst"
    if flow.trace is not None and flow.trace.speed is not None:
        raise PlanError(
            f"{path}: the frames of a trace leave by the file's own times, so there are no bursts; "
            "leave the trace's speed out, or choose another duration"
        )
    if fps is None:
        raise PlanError(
            f"{path}: bursts need a rate, but all of a line that is not known has none; give pps, "
            "or add --line-rate (10G, say)"
        )
    gap_ns = burst.gap_ns + _octets_ns(burst.gap_octets, port, path, "inter_burst_gap")
    if gap_ns > _DURATION_MAX_NS:
        raise PlanError(f"{path}.inter_burst_gap: it is longer than 366 days; lower it")
    return {"frames": burst.frames, "gap_ns": gap_ns}


def _octets_ns(octets: float, port: PortFacts, path: str, what: str) -> float:
    """How long so many octets take on the port's line [ns]."""
    if octets == 0:
        return 0.0
    if port.line_rate_bps is None:
        raise PlanError(
            f"{path}: {what} is given in bytes, but the line rate is not known; give it in "
            "nanoseconds or microseconds, or add --line-rate (10G, say)"
        )
    return octets * 8 * _NS_PER_S / port.line_rate_bps
