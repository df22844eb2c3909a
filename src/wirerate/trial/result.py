# SPDX-License-Identifier: BSD-3-Clause
"""What a trial measured, in the terms of RFC 2285 and RFC 1242.

Rates are frames counted over the time in which they were counted: the offered load over the time in
which a flow was to send (or, when it had a number of frames to send and has, the time they took),
the forwarding rate from the first to the last frame received.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirerate.engine.counters import Histogram, merge
from wirerate.trial.cpu_lost import per_cpu_second
from wirerate.trial.received import arrivals, received, received_in_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wirerate.plan.program import FlowPlan, PortPlan
    from wirerate.trial.cpu import CpuUse
    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.peer import PeerResult
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.received import Received
    from wirerate.trial.snapshot import Device, Port, Snapshot, TxQueue
    from wirerate.trial.verdict import Verdict

LATENESS_S = 0.010
"""How late a frame may leave [s]. The engine gives up what is later (worker.h, TX_WINDOW_NS), but
for the frames of a flow that has a number of them to send."""
LATENESS_PROMISED_S = 1.0
"""How late those are sent all the same [s] (worker.h, TX_WINDOW_LIMITED_NS)."""
_PERCENTS = (50.0, 99.0)
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Percentiles:
    """p50, p99 and the greatest of a histogram [cycles]; None when nothing was counted."""

    p50: float | None
    p99: float | None
    maximum: int | None = None


@dataclass(frozen=True)
class Transmitted:
    """What was sent by a flow, or by a port.

    ``frames_due`` are the frames the schedule held in the time run (sent + unsent when unpaced).
    ``seconds`` is the time over which ``offered_fps`` is taken; ``overrun_cycles`` how long after
    the end of the sending time the last frame left. ``per_cpu_second_fps``: of what has no rate,
    frames for each second of CPU time that its lcores had (`wirerate.trial.cpu_lost`), else None.
    """

    frames_due: int
    tx_frames: int
    tx_octets: int
    tx_frames_unsent: int
    tx_bursts_short: int
    offered_fps: float
    seconds: float
    cycles_per_frame: float | None
    burst_cycles: Percentiles
    lateness_cycles: Percentiles
    overrun_cycles: int
    per_cpu_second_fps: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class FlowResult(Transmitted):
    """One flow's figures, over all its queues; ``received`` is None unless it was measured."""

    plan: FlowPlan
    received: Received | None = None


@dataclass(frozen=True)
class PortResult(Transmitted):
    """One port's figures, over all its flows.

    ``intended_fps`` is the sum over the flows; None where one of them has no rate, or there is no
    flow. ``reply_frames`` are those of answers, which no flow sent.
    """

    plan: PortPlan
    intended_fps: float | None
    rx_frames: int
    rx_octets: int
    forwarding_fps: float | None
    device: Device
    reply_frames: int = 0


@dataclass(frozen=True)
class RunResult:
    """All that is known at the end of a run; ``final`` are the last counts.

    ``total`` is what came back of all measured flows, None without any. ``environment`` says on
    what machine and by which command (wirerate.host.environment). ``captures``: the files written,
    ``path`` and ``frames`` of each. ``peer``: what the other end has counted, if it was asked.
    """

    ready: ReadyPlan
    flows: tuple[FlowResult, ...]
    ports: tuple[PortResult, ...]
    verdict: Verdict
    final: Snapshot
    cpu: CpuUse
    total: Received | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    captures: tuple[Mapping[str, Any], ...] = ()
    peer: PeerResult | None = None


@dataclass(frozen=True)
class _Window:
    """When something was to send [TSC]; ``end`` is what there was, ``limit`` what was asked for."""

    start: float
    end: float
    limit: float

    @property
    def cycles(self) -> float:
        """How long; 0 when it ended before it began."""
        return max(0.0, self.end - self.start)


def percentiles(histograms: Sequence[Histogram], maximum: int | None = None) -> Percentiles:
    """Merge the queues' histograms and read them off."""
    if not histograms:
        return Percentiles(None, None, maximum)
    merged = histograms[0] if len(histograms) == 1 else merge(histograms)
    p50, p99 = (merged.percentile(percent) for percent in _PERCENTS)
    if p50 is not None and p99 is not None and maximum is not None:
        p50, p99 = min(p50, maximum), min(p99, maximum)  # a bucket's middle may lie above
    return Percentiles(p50, p99, maximum)


def flow_results(
    snapshot: Snapshot,
    plans: Sequence[FlowPlan],
    floor_ns: float = 0.0,
    times: Sequence[LcoreTime] = (),
) -> tuple[FlowResult, ...]:
    """The figures of every flow of a finished trial.

    ``floor_ns`` is taken off latencies; ``times`` are those of the lcores.
    """
    queues = _by_stream(queue for port in snapshot.ports for queue in port.tx)
    arrived = arrivals(snapshot, plans)
    results = []
    for plan in plans:
        own = queues[plan.name]
        unpaced = times if plan.unpaced else ()
        sent = _transmitted(snapshot, own, _flow_window(snapshot, plan, own), unpaced)
        came = arrived.get(plan.name)
        back = None if came is None else received(snapshot, came, sent.tx_frames, floor_ns)
        results.append(FlowResult(plan=plan, received=back, **vars(sent)))
    return tuple(results)


def total_received(
    snapshot: Snapshot, flows: Sequence[FlowResult], floor_ns: float = 0.0
) -> Received | None:
    """What came back of all measured flows together; None when there is none."""
    measured = [flow.received for flow in flows if flow.received is not None]
    arrived = arrivals(snapshot, [flow.plan for flow in flows])
    return received_in_all(snapshot, measured, arrived, floor_ns)


def _by_stream(queues: Iterable[TxQueue]) -> dict[str, list[TxQueue]]:
    found: dict[str, list[TxQueue]] = defaultdict(list)
    for queue in queues:
        found[queue.stream].append(queue)
    return found


def port_results(
    snapshot: Snapshot,
    plans: Sequence[PortPlan],
    flows: Sequence[FlowPlan],
    times: Sequence[LcoreTime] = (),
) -> tuple[PortResult, ...]:
    """The figures of every open port of a finished trial; ``flows`` are those of all ports."""
    return tuple(
        _port_result(snapshot, plan, [flow for flow in flows if flow.port == plan.index], times)
        for plan in plans
    )


def _port_result(
    snapshot: Snapshot,
    plan: PortPlan,
    flows: Sequence[FlowPlan],
    times: Sequence[LcoreTime],
) -> PortResult:
    unpaced = times if flows and all(flow.unpaced for flow in flows) else ()
    window = _port_window(snapshot, snapshot.port(plan.name), flows)
    port = snapshot.port(plan.name)
    rates = [flow.intended_fps for flow in flows]
    paced = [rate for rate in rates if rate is not None]
    return PortResult(
        plan=plan,
        intended_fps=sum(paced) if paced and len(paced) == len(rates) else None,
        rx_frames=port.rx_frames,
        rx_octets=sum(queue.octets for queue in port.rx),
        forwarding_fps=_forwarding_fps(port, snapshot.tsc_hz),
        device=port.device,
        reply_frames=0 if port.replies is None else port.replies.frames,
        **vars(_transmitted(snapshot, port.tx, window, unpaced)),
    )


def _run_end(snapshot: Snapshot) -> int:
    """When sending ended as a whole [TSC]."""
    return max(snapshot.start_tsc, min(snapshot.stop_tsc, snapshot.now_tsc))


def _flow_window(snapshot: Snapshot, plan: FlowPlan, queues: Sequence[TxQueue]) -> _Window:
    """The time over which a flow's offered load is taken.

    From its start to the end of the run, or of its own duration; or, when it had a number of frames
    to send and has, the time they took: to the end of the last burst, or paced to the end of the
    last frame's interval, within which a frame may be late as far as the engine lets it.
    """
    hz = snapshot.schedule_hz
    start = snapshot.start_tsc + plan.delay_ns * hz / _NS_PER_S
    limit: float = snapshot.stop_tsc
    if plan.duration_ns is not None:
        limit = min(limit, start + plan.duration_ns * hz / _NS_PER_S)
    handled = sum(queue.frames + queue.frames_unsent for queue in queues)
    if plan.frames is None or handled < plan.frames:
        return _Window(start, min(limit, _run_end(snapshot)), limit)
    end: float = max((queue.last_tsc for queue in queues), default=0)
    if plan.intended_fps is not None:
        scheduled = start + plan.frames / plan.intended_fps * hz
        end = scheduled if end <= scheduled + LATENESS_S * hz else end
    return _Window(start, end, limit)


def _port_window(snapshot: Snapshot, port: Port, flows: Sequence[FlowPlan]) -> _Window:
    """From the first start of a flow to the last end of one; the run without any."""
    queues = _by_stream(port.tx)
    windows = [_flow_window(snapshot, flow, queues[flow.name]) for flow in flows] or [
        _Window(snapshot.start_tsc, _run_end(snapshot), snapshot.stop_tsc)
    ]
    return _Window(
        min(window.start for window in windows),
        max(window.end for window in windows),
        max(window.limit for window in windows),
    )


def _transmitted(
    snapshot: Snapshot, queues: Sequence[TxQueue], window: _Window, times: Sequence[LcoreTime]
) -> Transmitted:
    """``times``: of the lcores of what is unpaced, else none."""
    hz = snapshot.tsc_hz
    frames = sum(queue.frames for queue in queues)
    last = max((queue.last_tsc for queue in queues), default=0)
    busy = sum(queue.busy_cycles for queue in queues)
    return Transmitted(
        frames_due=sum(max(q.frames_due, q.frames + q.frames_unsent) for q in queues),
        tx_frames=frames,
        tx_octets=sum(queue.octets for queue in queues),
        tx_frames_unsent=sum(queue.frames_unsent for queue in queues),
        tx_bursts_short=sum(queue.bursts_short for queue in queues),
        offered_fps=frames * hz / window.cycles if window.cycles > 0 else 0.0,
        seconds=window.cycles / hz,
        cycles_per_frame=busy / frames if frames else None,
        burst_cycles=percentiles([queue.burst_cycles for queue in queues]),
        lateness_cycles=percentiles(
            [queue.lateness_cycles for queue in queues],
            max((queue.lateness_max_cycles for queue in queues), default=None),
        ),
        overrun_cycles=max(0, int(last - window.limit)),
        per_cpu_second_fps=per_cpu_second(queues, window.cycles / hz, times),
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
