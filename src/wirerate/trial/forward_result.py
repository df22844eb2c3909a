# SPDX-License-Identifier: BSD-3-Clause
"""What a forwarder did, and whether it was a fair partner: its verdict.

A reason says that frames were lost here which nobody asked to be dropped, or were held up, so that
whoever measured with this forwarder measured it, too. A note explains.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.plan.program import port_name
from wirerate.plan.sleep import asleep_note
from wirerate.trial.cpu_lost import Duty, gap_notes, lcore_times, lost_reasons, stolen_notes
from wirerate.trial.flow_control import pause_notes
from wirerate.trial.forward_snapshot import LaneCounts, add_up
from wirerate.trial.verdict import Verdict, death_reason, lost_by_device
from wirerate.trial.verdict_clock import clock_reasons
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.host.growth import Growth
    from wirerate.plan.forward_lanes import Lane
    from wirerate.plan.forward_settings import ForwardSettings, Way
    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.forward_snapshot import ForwardSnapshot
    from wirerate.trial.forward_trial import ForwardTrial
    from wirerate.trial.snapshot import Device, Snapshot


@dataclass(frozen=True)
class ReadyForward:
    """What a forwarder is to do, once its ports are open.

    ``infos`` are the engine's PORT_INFOs in the order of the locations, ``about`` its `engine.info`
    (docs/design/0002-engine-interface.md), ``work_cycles`` what each frame costs.
    """

    settings: ForwardSettings
    lanes: tuple[Lane, ...]
    infos: tuple[Mapping[str, Any], ...]
    about: Mapping[str, Any]
    work_cycles: int


@dataclass(frozen=True)
class LaneResult:
    """One lane: what it is, what it did."""

    lane: Lane
    counts: LaneCounts


@dataclass(frozen=True)
class WayResult:
    """One direction, over all its lanes.

    ``busy`` is the share of its lcores' time that was spent with frames; ``seconds`` the time from
    the first burst to the last, None where there were not two.
    """

    way: Way
    lanes: tuple[LaneResult, ...]
    counts: LaneCounts
    seconds: float | None
    busy: float


@dataclass(frozen=True)
class ForwardResult:
    """All that is known at the end; ``seconds`` is how long it forwarded.

    ``busy``: each lcore, and the share of that time which it spent with frames.
    """

    ready: ReadyForward
    ways: tuple[WayResult, ...]
    seconds: float
    verdict: Verdict
    final: ForwardSnapshot
    captured: Mapping[str, int]
    busy: tuple[tuple[int, float], ...]

    @property
    def total(self) -> LaneCounts:
        """Over all directions."""
        return add_up(way.counts for way in self.ways)

    @property
    def times(self) -> tuple[LcoreTime, ...]:
        """What lcores had of their CPUs."""
        return lcore_times(None, self.final.base)


def way_title(way: Way) -> str:
    """How messages call a direction."""
    if way.target is None:
        return f"port {way.source}"
    if way.target == way.source:
        return f"port {way.source} (back)"
    return f"port {way.source} to {way.target}"


def forward_result(
    trial: ForwardTrial, ready: ReadyForward, look: ForwardSnapshot | None = None
) -> ForwardResult:
    """The result of a trial that has ended, or as of a ``look`` at one that goes on."""
    final = trial.final if look is None else look
    seconds = final.seconds_since(None)
    lanes = [
        LaneResult(lane, counts) for lane, counts in zip(ready.lanes, final.lanes, strict=True)
    ]
    ways = tuple(_way_result(way, lanes, final, seconds) for way in ready.settings.ways)
    death = trial.death and death_reason(trial.death, counted=trial.counted)
    return ForwardResult(
        ready=ready,
        ways=ways,
        seconds=seconds,
        verdict=judge_forward(final, ready, ways, death, trial.stolen_s, growth=trial.growth),
        final=final,
        captured=trial.captured,
        busy=lcores_busy(ready.lanes, final, None),
    )


def _way_result(
    way: Way, lanes: Sequence[LaneResult], final: ForwardSnapshot, seconds: float
) -> WayResult:
    own = tuple(
        one for one in lanes if (one.lane.source, one.lane.target) == (way.source, way.target)
    )
    counts = add_up(one.counts for one in own)
    cycles = counts.last_tsc - counts.first_tsc
    took_time = counts.rx_frames > 1 and cycles > 0
    return WayResult(
        way=way,
        lanes=own,
        counts=counts,
        seconds=cycles / final.tsc_hz if took_time else None,
        busy=busy_share(counts, own, seconds * final.tsc_hz),
    )


def lcores_busy(
    lanes: Sequence[Lane], now: ForwardSnapshot, before: ForwardSnapshot | None
) -> tuple[tuple[int, float], ...]:
    """Each lcore and the share of its time spent with frames, between two looks.

    ``before`` None: since the start. Their sum is the utilisation of docs/design/0007-flows.md.
    """
    cycles = now.seconds_since(before) * now.tsc_hz
    busy = _busy_cycles(lanes, now)
    if before is not None:
        busy.subtract(_busy_cycles(lanes, before))
    return tuple((lcore, spent / cycles) for lcore, spent in sorted(busy.items()))


def _busy_cycles(lanes: Sequence[Lane], look: ForwardSnapshot) -> Counter[int]:
    """Cycles by lcore, those of answering as well."""
    busy: Counter[int] = Counter()
    for lane, counts in zip(lanes, look.lanes, strict=True):
        busy[lane.lcore] += counts.busy_cycles
    for port in look.base.ports:
        if port.replies is not None:
            busy[port.replies.lcore] += port.replies.busy_cycles
    return busy


def busy_share(counts: LaneCounts, lanes: Sequence[LaneResult], cycles: float) -> float:
    """Cycles spent with frames over all cycles of the lanes' lcores."""
    lcores = {one.lane.lcore for one in lanes}
    return counts.busy_cycles / (cycles * len(lcores))


def judge_forward(
    final: ForwardSnapshot,
    ready: ReadyForward,
    ways: Sequence[WayResult],
    death: str | None,
    stolen_s: Mapping[int, float],
    *,
    growth: Growth | None = None,
) -> Verdict:
    """Judge what a forwarder did; ``death``: the reason, where the engine died.

    ``stolen_s``: what a hypervisor took of each CPU [s]; ``growth``: of the files that its ports
    write.
    """
    reasons: list[str] = [] if death is None else [death]
    notes: list[str] = []
    for way in ways:
        reasons += [f"{way_title(way.way)}: {reason}" for reason in _way_reasons(way.counts)]
        notes += [f"{way_title(way.way)}: {note}" for note in _way_notes(way.counts)]
    for index in range(len(ready.settings.locations)):
        name = port_name(index)
        device = final.base.port(name).device
        reasons += [f"port {index}: {reason}" for reason in lost_by_device(device)]
        reasons += [f"port {index}: {reason}" for reason in _more_port_reasons(final, name)]
        notes += [f"port {index}: {note}" for note in _port_notes(device)]
        if death is None and growth is not None:
            sent = add_up(way.counts for way in ways if way.way.target == index)
            found = growth.reasons(name, sent.tx_frames, sent.tx_octets)
            reasons += [f"port {index}: {reason}" for reason in found]
        missed = final.capture_missed.get(name, 0)
        if missed > 0:
            notes.append(
                f"port {index}: {format_count(missed)} frames found no room in the capture; raise "
                "--capture-frames, or filter"
            )
    reasons += clock_reasons(final.base)
    if ready.settings.cpu_saver_ns:
        notes.append(asleep_note(ready.settings.cpu_saver_ns))
    reasons += held_up(final.base)
    notes += [*gap_notes(final.base), *stolen_notes(stolen_s, lcore_times(None, final.base))]
    return Verdict(tuple(reasons), tuple(notes))


def _way_reasons(counts: LaneCounts) -> Iterator[str]:
    refused = counts.not_taken - counts.chained
    if refused > 0:
        yield (
            f"{format_count(refused)} frames were lost: the device to send on took none for 10 ms"
        )
    if counts.chained > 0:
        yield (
            f"{format_count(counts.chained)} frames were lost: they came in several buffers, for "
            "they are larger than the port was opened for; give --jumbo"
        )
    if counts.overflowed > 0:
        yield (
            f"{format_count(counts.overflowed)} frames were lost: the delay line was full, or "
            "there was no mbuf for a duplicate; raise -M, or lower the rate"
        )


def _way_notes(counts: LaneCounts) -> Iterator[str]:
    if counts.rx_frames == 0:
        yield "no frame came"
    if counts.distinct_overflow > 0:
        yield (
            f"{format_count(counts.distinct_overflow)} frames were of flows that are not counted, "
            "for there was no room for more; raise --count-flows"
        )
    if counts.held > 0:
        yield f"{format_count(counts.held)} frames were still delayed or held back at the end"


def _more_port_reasons(final: ForwardSnapshot, name: str) -> Iterator[str]:
    drops = final.base.port(name).device.socket_drops
    if drops > 0:
        yield f"the kernel dropped {format_count(drops)} frames at the port's socket"
    answers = final.answers.get(name)
    if answers is not None and answers.not_taken + answers.overflowed > 0:
        lost = format_count(answers.not_taken + answers.overflowed)
        yield f"{lost} answers (ARP, neighbours, ping) could not be sent"


def _port_notes(device: Device) -> Iterator[str]:
    if device.link_changes > 0:
        yield f"link changes: {device.link_changes}; a peer left or came again"
    elif not device.link_up:
        yield "the link is down: no peer has come"
    yield from pause_notes(device)


def held_up(look: Snapshot) -> list[str]:
    """Lcores that lost their CPU, so that they held frames up, or let them be lost."""
    times = lcore_times(None, look)
    return list(lost_reasons(times, {time.lcore: Duty.FORWARDS for time in times}))
