# SPDX-License-Identifier: BSD-3-Clause
"""What happened between two looks at a run of `wirerate flows`: figures, no text. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from wirerate.engine.counters import Histogram, merge
from wirerate.plan.program import port_name
from wirerate.trial.cpu import busy_shares
from wirerate.units import LINE_OVERHEAD_OCTETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wirerate.plan.flows_settings import FlowsSettings
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.snapshot import FlowQueue, RxQueue, Snapshot, TxQueue

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class TxLook:
    """A Tx queue: rates since the look before; ``flows`` are those of its ramp that are active."""

    lcore: int
    fps: float
    l1_bps: float
    unsent_fps: float
    flows: int


@dataclass(frozen=True)
class RxLook:
    """An Rx queue; ``distinct`` 5-tuples since the start, ``overflow`` frames beyond the room."""

    lcore: int
    fps: float
    distinct: int
    overflow: int


@dataclass(frozen=True)
class LatencyLook:
    """Latencies of the frames that came back since the look before [ns]; a floor is taken off."""

    count: int
    mean: float
    p50: float
    p99: float
    p99_9: float
    maximum: float


@dataclass(frozen=True)
class Look:
    """``seconds`` after the start of traffic; queues by number; ``busy``: share of each lcore.

    ``active_flows`` None: they are not counted, for there is no ramp.
    """

    seconds: float
    tx: tuple[TxLook, ...]
    rx: tuple[RxLook, ...]
    busy: tuple[tuple[int, float], ...]
    active_flows: int | None
    latency: LatencyLook | None

    @property
    def distinct_flows(self) -> int:
        """Over all Rx queues: a flow has one queue where the device spreads them."""
        return sum(queue.distinct for queue in self.rx)

    @property
    def distinct_overflow(self) -> int:
        """Frames of flows for which there was no room."""
        return sum(queue.overflow for queue in self.rx)


def look_at(
    ready: ReadyPlan, settings: FlowsSettings, now: Snapshot, before: Snapshot | None
) -> Look:
    """The figures from ``before`` (None: from the start) to ``now``."""
    return Look(
        seconds=now.seconds_since(None),
        tx=_tx_looks(settings, now, before),
        rx=_rx_looks(settings, now, before),
        busy=busy_shares(before, now),
        active_flows=_active_flows(settings, now) if settings.ramped else None,
        latency=_latency(ready, now, before),
    )


def _active_flows(settings: FlowsSettings, now: Snapshot) -> int:
    port = now.port(port_name(settings.tx_port))
    return sum(task.active_flows for task in port.tx)


def _tx_looks(
    settings: FlowsSettings, now: Snapshot, before: Snapshot | None
) -> tuple[TxLook, ...]:
    name = port_name(settings.tx_port)
    seconds = now.seconds_since(before)
    tasks = now.port(name).tx
    earlier = () if before is None else before.port(name).tx
    queues: dict[int, list[tuple[TxQueue, TxQueue | None]]] = {}
    for task, then in zip_longest(tasks, earlier):
        queues.setdefault(task.queue, []).append((task, then))
    return tuple(_tx_look(own, seconds) for own in queues.values())


def _tx_look(tasks: Sequence[tuple[TxQueue, TxQueue | None]], seconds: float) -> TxLook:
    """One queue, with all streams that it sends."""
    frames = sum(now.frames - (0 if then is None else then.frames) for now, then in tasks)
    octets = sum(now.octets - (0 if then is None else then.octets) for now, then in tasks)
    unsent = sum(
        now.frames_unsent - (0 if then is None else then.frames_unsent) for now, then in tasks
    )
    return TxLook(
        lcore=tasks[0][0].lcore,
        fps=frames / seconds,
        l1_bps=8 * (octets + LINE_OVERHEAD_OCTETS * frames) / seconds,
        unsent_fps=unsent / seconds,
        flows=sum(now.active_flows for now, _ in tasks),
    )


def _rx_looks(
    settings: FlowsSettings, now: Snapshot, before: Snapshot | None
) -> tuple[RxLook, ...]:
    name = port_name(settings.rx_port)
    seconds = now.seconds_since(before)
    earlier: Iterable[RxQueue] = () if before is None else before.port(name).rx
    return tuple(
        RxLook(
            lcore=queue.lcore,
            fps=(queue.frames - (0 if then is None else then.frames)) / seconds,
            distinct=queue.distinct_flows,
            overflow=queue.distinct_overflow,
        )
        for queue, then in zip_longest(now.port(name).rx, earlier)
    )


def _latency(ready: ReadyPlan, now: Snapshot, before: Snapshot | None) -> LatencyLook | None:
    """Of all measured frames; None when there are none, or the looks are without them."""
    earlier = () if before is None else _flow_queues(before)
    histograms: list[Histogram] = []
    count = cycles = 0
    for queue, then in zip_longest(_flow_queues(now), earlier):
        count += queue.latency_count - (0 if then is None else then.latency_count)
        cycles += queue.latency_sum_cycles - (0 if then is None else then.latency_sum_cycles)
        if queue.latency_cycles is None:
            continue
        if then is None or then.latency_cycles is None:
            histograms.append(queue.latency_cycles)
        else:
            histograms.append(queue.latency_cycles.minus(then.latency_cycles))
    added = merge(histograms) if histograms else Histogram((), (), 0)
    if count <= 0 or not added.buckets:
        return None
    ns_per_cycle = _NS_PER_S / now.tsc_hz
    floor_ns = ready.settings.floor_ns

    def told(value: float | None) -> float:
        return max(0.0, (value or 0.0) * ns_per_cycle - floor_ns)

    p50, p99, p99_9 = (told(added.percentile(percent)) for percent in (50.0, 99.0, 99.9))
    greatest = told(added.middle(added.buckets[-1]))
    return LatencyLook(count, told(cycles / count), p50, p99, p99_9, greatest)


def _flow_queues(snapshot: Snapshot) -> list[FlowQueue]:
    """All of them, in the same order in every look."""
    return [queue for port in snapshot.ports for queue in port.flows]
