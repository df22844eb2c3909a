# SPDX-License-Identifier: BSD-3-Clause
"""What a trial measured, in the terms of RFC 2285 and RFC 1242.

Rates are frames counted over the time in which they were counted: the offered load over the asked
duration (or, when the trial ended early, up to the end of the last burst), the forwarding rate from
the first to the last frame received.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.engine.counters import Histogram, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.perf_plan import PortPlan
    from wirerate.trial.snapshot import Device, Port, Snapshot

_PERCENTS = (50.0, 99.0)


@dataclass(frozen=True)
class Percentiles:
    """p50, p99 and the greatest of a histogram [cycles]; None when nothing was counted."""

    p50: float | None
    p99: float | None
    maximum: int | None = None


@dataclass(frozen=True)
class PortResult:
    """One port's figures.

    ``intended_fps`` None = unpaced. ``frames_due`` are the frames the schedule held in the time
    run (sent + unsent when unpaced). ``seconds`` is the time over which ``offered_fps`` is taken.
    """

    plan: PortPlan
    frame_size: int
    intended_fps: float | None
    frames_due: int
    tx_frames: int
    tx_octets: int
    tx_frames_unsent: int
    tx_bursts_short: int
    offered_fps: float
    seconds: float
    rx_frames: int
    rx_octets: int
    forwarding_fps: float | None
    burst_cycles: Percentiles
    lateness_cycles: Percentiles
    cycles_per_frame: float | None
    overrun_cycles: int
    device: Device


def percentiles(histograms: Sequence[Histogram], maximum: int | None = None) -> Percentiles:
    """Merge the queues' histograms and read them off."""
    if not histograms:
        return Percentiles(None, None, maximum)
    merged = merge(histograms)
    p50, p99 = (merged.percentile(percent) for percent in _PERCENTS)
    if p50 is not None and p99 is not None and maximum is not None:
        p50, p99 = min(p50, maximum), min(p99, maximum)  # a bucket's middle may lie above
    return Percentiles(p50, p99, maximum)


def port_results(
    snapshot: Snapshot, plans: Sequence[PortPlan], frame_size: int, limit: int | None
) -> tuple[PortResult, ...]:
    """The figures of every port of a finished trial; limit: frames that each port was to send."""
    return tuple(_port_result(snapshot, plan, frame_size, limit) for plan in plans)


def _offered_cycles(snapshot: Snapshot, port: Port, plan: PortPlan, limit: int | None) -> float:
    """The time over which the offered load is taken [cycles].

    The time run; or, when the port had a number of frames to send and has, the time they took: to
    the end of the last burst, or paced to the end of the last frame's interval.
    """
    handled = port.tx_frames + port.tx_frames_unsent
    if limit is not None and handled >= limit:
        if plan.intended_fps is not None:
            return max(
                limit / plan.intended_fps * snapshot.tsc_hz,
                float(max(queue.last_tsc for queue in port.tx) - snapshot.start_tsc),
            )
        return max(queue.last_tsc for queue in port.tx) - snapshot.start_tsc
    return max(0, min(snapshot.stop_tsc, snapshot.now_tsc) - snapshot.start_tsc)


def _port_result(
    snapshot: Snapshot, plan: PortPlan, frame_size: int, limit: int | None
) -> PortResult:
    port = snapshot.port(plan.name)
    hz = snapshot.tsc_hz
    tx_frames, cycles = port.tx_frames, _offered_cycles(snapshot, port, plan, limit)
    busy = sum(queue.busy_cycles for queue in port.tx)
    last = max((queue.last_tsc for queue in port.tx), default=0)
    return PortResult(
        plan=plan,
        frame_size=frame_size,
        intended_fps=plan.intended_fps,
        frames_due=sum(max(q.frames_due, q.frames + q.frames_unsent) for q in port.tx),
        tx_frames=tx_frames,
        tx_octets=sum(queue.octets for queue in port.tx),
        tx_frames_unsent=port.tx_frames_unsent,
        tx_bursts_short=sum(queue.bursts_short for queue in port.tx),
        offered_fps=tx_frames * hz / cycles if cycles > 0 else 0.0,
        seconds=cycles / hz,
        rx_frames=port.rx_frames,
        rx_octets=sum(queue.octets for queue in port.rx),
        forwarding_fps=_forwarding_fps(port, hz),
        burst_cycles=percentiles([queue.burst_cycles for queue in port.tx]),
        lateness_cycles=percentiles(
            [queue.lateness_cycles for queue in port.tx],
            max((queue.lateness_max_cycles for queue in port.tx), default=None),
        ),
        cycles_per_frame=busy / tx_frames if tx_frames else None,
        overrun_cycles=max(0, last - snapshot.stop_tsc),
        device=port.device,
    )


def _forwarding_fps(port: Port, hz: int) -> float | None:
    """Frames after the first burst over the time since it; None when nothing came after it."""
    received = [queue for queue in port.rx if queue.frames > 0]
    if not received:
        return None
    first = min(received, key=lambda queue: queue.first_tsc)
    cycles = max(queue.last_tsc for queue in received) - first.first_tsc
    later = port.rx_frames - first.first_frames
    return later * hz / cycles if cycles > 0 and later > 0 else None
