# SPDX-License-Identifier: BSD-3-Clause
"""What came back of measured flows: loss, order, duplicates, latency and its variation.

Every frame of a measured flow is stamped and looked for (docs/design/0005-measurement.md). What is
found on several ports, queues and parts adds up.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.engine.counters import Histogram, merge
from wirerate.plan.program import port_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wirerate.plan.program import FlowPlan
    from wirerate.trial.snapshot import FlowQueue, Snapshot

_NS_PER_S = 1_000_000_000
_EMPTY = Histogram((), (), 10)


@dataclass(frozen=True)
class Latency:
    """Latency of all frames but duplicates [ns]; None when there was none.

    ``floor_ns`` has been subtracted from each figure, none of which is below 0.
    """

    count: int
    floor_ns: float
    minimum: float | None
    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    p99_9: float | None
    p99_99: float | None
    maximum: float | None


@dataclass(frozen=True)
class Jitter:
    """How latency varies [ns]; None where too few frames tell.

    ``ipdv_mean`` is the mean absolute difference of the latencies of frames that arrived one after
    the other (RFC 3393 section 4.1, taken over consecutive frames of one queue and part);
    ``pdv_p99_9`` that of the 99.9 percentile to the least (RFC 5481 section 4.2). A floor changes
    neither.
    """

    ipdv_mean: float | None
    pdv_p99_9: float | None


@dataclass(frozen=True)
class Received:
    """What came back of a measured flow, or of all of them.

    ``frames`` are those received, each once; ``lost`` is ``sent`` minus that, ``loss_ratio`` (0…1)
    is None when nothing was sent. ``octets`` (with FCS) are those of duplicates, too, which had
    arrived before at the same receiver or at another one. Frames that arrived at a port that was
    not to receive them are ``misdirected``, and lost. What the sender cannot have stamped is
    ``impossible`` and in no other figure; ``below_floor`` frames had a latency that is less than
    the floor (to 0.1 %), the shortest one ``least_ns``, without the floor. ``first_s`` and
    ``last_s`` count from the start of the traffic; ``forwarding_fps`` is reckoned from the first
    frame to the last. ``histogram`` has the latencies [cycles].
    """

    sent: int
    frames: int
    lost: int
    loss_ratio: float | None
    duplicates: int
    reordered: int
    too_late: int
    impossible: int
    octets: int
    misdirected: int
    first_s: float | None
    last_s: float | None
    forwarding_fps: float | None
    latency: Latency
    jitter: Jitter
    histogram: Histogram
    below_floor: int = 0
    least_ns: float | None = None


@dataclass(frozen=True)
class Arrivals:
    """What queues have received of one flow or more, at ports that were to and at others."""

    here: tuple[FlowQueue, ...]
    elsewhere: tuple[FlowQueue, ...]

    @property
    def frames(self) -> int:
        """Frames, each once."""
        return sum(queue.frames - queue.duplicates - queue.copies for queue in self.here)

    @property
    def latency_count(self) -> int:
        """Frames whose latency is known."""
        return sum(queue.latency_count for queue in self.here)

    @property
    def latency_sum_cycles(self) -> int:
        """The sum of their latencies."""
        return sum(queue.latency_sum_cycles for queue in self.here)


def arrivals(snapshot: Snapshot, plans: Iterable[FlowPlan]) -> dict[str, Arrivals]:
    """What has arrived of each measured flow, by the engine's name of its stream.

    A flow without ``rx_ports`` may arrive anywhere.
    """
    found: dict[str, list[tuple[str, FlowQueue]]] = defaultdict(list)
    for port in snapshot.ports:
        for queue in port.flows:
            found[queue.stream].append((port.name, queue))
    sorted_out = {}
    for plan in plans:
        if plan.measured:
            wanted = {port_name(index) for index in plan.rx_ports}
            places = found[plan.name]
            sorted_out[plan.name] = Arrivals(
                tuple(queue for name, queue in places if not wanted or name in wanted),
                tuple(queue for name, queue in places if wanted and name not in wanted),
            )
    return sorted_out


def received(snapshot: Snapshot, arrived: Arrivals, sent: int, floor_ns: float = 0.0) -> Received:
    """The figures of one flow of which ``sent`` frames were sent."""
    histograms = [
        queue.latency_cycles
        for queue in arrived.here
        if queue.latency_cycles is not None and queue.latency_count
    ]
    histogram = merge(histograms) if len(histograms) > 1 else (histograms or [_EMPTY])[0]
    return _received(snapshot, arrived, sent, histogram, floor_ns)


def received_in_all(
    snapshot: Snapshot,
    flows: Sequence[Received],
    arrived: Mapping[str, Arrivals],
    floor_ns: float = 0.0,
) -> Received | None:
    """The figures of all measured flows together; None when there is none."""
    if not flows:
        return None
    everything = Arrivals(
        tuple(queue for own in arrived.values() for queue in own.here),
        tuple(queue for own in arrived.values() for queue in own.elsewhere),
    )
    sent = sum(flow.sent for flow in flows)
    return _received(
        snapshot, everything, sent, merge([flow.histogram for flow in flows]), floor_ns
    )


def _received(
    snapshot: Snapshot, arrived: Arrivals, sent: int, histogram: Histogram, floor_ns: float
) -> Received:
    here, frames, hz = arrived.here, arrived.frames, snapshot.tsc_hz
    lost = max(0, sent - frames)
    seen = [queue for queue in here if queue.frames > 0]
    first = min((queue.first_tsc for queue in seen), default=None)
    last = max((queue.last_tsc for queue in seen), default=None)
    cycles = last - first if first is not None and last is not None else 0
    return Received(
        sent=sent,
        frames=frames,
        lost=lost,
        loss_ratio=lost / sent if sent else None,
        duplicates=sum(queue.duplicates + queue.copies for queue in here),
        reordered=sum(queue.reordered for queue in here),
        too_late=sum(queue.too_late for queue in here),
        impossible=sum(queue.impossible for queue in (*here, *arrived.elsewhere)),
        octets=sum(queue.octets for queue in here),
        misdirected=sum(queue.frames for queue in arrived.elsewhere),
        first_s=None if first is None else (first - snapshot.start_tsc) / hz,
        last_s=None if last is None else (last - snapshot.start_tsc) / hz,
        forwarding_fps=(frames - 1) * hz / cycles if cycles > 0 and frames > 1 else None,
        latency=_latency(arrived, histogram, hz, floor_ns),
        jitter=_jitter(arrived, histogram, hz),
        histogram=histogram,
        below_floor=_below(arrived, histogram, floor_ns * hz / _NS_PER_S),
        least_ns=_least(arrived) * _NS_PER_S / hz if arrived.latency_count else None,
    )


def _below(arrived: Arrivals, histogram: Histogram, floor_cycles: float) -> int:
    """Frames whose latency is less than the floor; at least one where the shortest one is."""
    if not arrived.latency_count or _least(arrived) >= floor_cycles:
        return 0
    buckets = zip(histogram.buckets, histogram.counts, strict=True)
    return max(1, sum(n for bucket, n in buckets if histogram.middle(bucket) < floor_cycles))


def _least(arrived: Arrivals) -> int:
    return min(queue.latency_min_cycles for queue in arrived.here if queue.latency_count)


def _greatest(arrived: Arrivals) -> int:
    return max(queue.latency_max_cycles for queue in arrived.here if queue.latency_count)


def _percentile(arrived: Arrivals, histogram: Histogram, percent: float) -> float | None:
    """A percentile [cycles] within what was seen: the middle of a bucket may lie outside."""
    value = histogram.percentile(percent)
    return None if value is None else min(max(value, _least(arrived)), _greatest(arrived))


def _latency(arrived: Arrivals, histogram: Histogram, hz: int, floor_ns: float) -> Latency:
    count = arrived.latency_count

    def told(cycles: float | None) -> float | None:
        return None if cycles is None else max(0.0, cycles * _NS_PER_S / hz - floor_ns)

    def at(percent: float) -> float | None:
        return told(_percentile(arrived, histogram, percent)) if count else None

    return Latency(
        count=count,
        floor_ns=floor_ns,
        minimum=told(_least(arrived)) if count else None,
        mean=told(arrived.latency_sum_cycles / count) if count else None,
        p50=at(50),
        p90=at(90),
        p99=at(99),
        p99_9=at(99.9),
        p99_99=at(99.99),
        maximum=told(_greatest(arrived)) if count else None,
    )


def _jitter(arrived: Arrivals, histogram: Histogram, hz: int) -> Jitter:
    pairs = sum(max(0, queue.latency_count - 1) for queue in arrived.here)
    differences = sum(queue.ipdv_sum_cycles for queue in arrived.here)
    high = _percentile(arrived, histogram, 99.9) if arrived.latency_count else None
    return Jitter(
        ipdv_mean=differences * _NS_PER_S / hz / pairs if pairs else None,
        pdv_p99_9=None if high is None else (high - _least(arrived)) * _NS_PER_S / hz,
    )
