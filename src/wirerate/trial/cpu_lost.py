# SPDX-License-Identifier: BSD-3-Clause
"""The one rule about lcores that lose their CPU: how much of it makes which figures doubtful. Pure.

An lcore loses its CPU when the kernel runs something else on it (preemption, a cgroup's quota),
stops the process, or wakes it late from a sleep. The engine counts that time to the microsecond
(engine/counters/cpu_time.h). What it means depends on the lcore's duties, never on what was lost or
received: the rule knows the tester's side only.

- It sends without a rate: what it sent is too little by the share of time lost.
- It receives measured flows: about that share of the frames waited for the tester, so that
  percentiles are its own, and a long gap lets receive rings overflow.
- It forwards for others: as for who receives.
- How busy it is, is a result: in that time it was neither busy nor idle.
- A flow is measured: a long gap on any lcore, also on one that only sends at a rate, makes what was
  due leave late or never. How much of it is judged by frames unsent and late (verdict.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto
from typing import TYPE_CHECKING

from wirerate.host.tree import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wirerate.plan.program import FlowPlan
    from wirerate.trial.snapshot import Snapshot, TxQueue, Worker

SHARE_MAX = 0.02
"""More of its time an lcore must not lose [ratio]: between what the kernel's own work takes and
what one other task takes that wants the CPU, which is half."""
GAP_MAX_S = 0.010
"""Nor so much at a time [s]: what was due is unsent after that (worker.h, TX_WINDOW_NS), and
receive rings are full."""
GAP_NOTE_S = 0.001
"""A gap between two readings of the clock, with the CPU or without, that is worth a note [s]."""
_STOLEN_NOTE = 0.01
"""A hypervisor that took more of a CPU is worth a note [ratio]; the kernel counts it in 10 ms."""
_SHORT_S = 0.05
"""Shares of less time than that are taken of this: the window is no more exact."""
_MOST = 0.9
"""Two times are one where they differ by less than this [ratio]."""
_NS_PER_S = 1_000_000_000
LOST_CPU = "lost its CPU"
"""All reasons of this rule have these words."""
_ADVICE = "isolate its CPU (wirerate doctor), and keep other programs off it"


class Duty(Flag):
    """What an lcore does, as far as it matters here."""

    NONE = 0
    UNPACED = auto()
    """It sends without a rate."""
    RECEIVES = auto()
    """It receives measured flows."""
    MEASURED = auto()
    """It has a part in a program with measured flows."""
    FORWARDS = auto()
    """Others measure through it."""
    TIMED = auto()
    """How busy it is, is a result."""


_BY_SHARE = Duty.UNPACED | Duty.RECEIVES | Duty.FORWARDS | Duty.TIMED
_BY_GAP = Duty.RECEIVES | Duty.MEASURED | Duty.FORWARDS


@dataclass(frozen=True)
class LcoreTime:
    """What an lcore had of its CPU.

    ``seconds``: the time looked at; ``lost_s`` of it were lost, ``longest_s`` the longest gap.
    """

    lcore: int
    seconds: float
    lost_s: float
    longest_s: float

    @property
    def share(self) -> float:
        """Of the time, what was lost (0…1)."""
        return min(1.0, self.lost_s / self.seconds) if self.seconds > 0 else 0.0

    def within(self, seconds: float) -> LcoreTime:
        """The same if all of it was lost in a part of the time, much shorter than the whole."""
        least = max(seconds, _SHORT_S)
        if least > _MOST * self.seconds:
            return self
        return LcoreTime(self.lcore, min(self.seconds, least), self.lost_s, self.longest_s)

    def text(self) -> str:
        """That it lost its CPU, and for how long."""
        return (
            f"lcore {self.lcore} {LOST_CPU} for {100 * self.share:.3g} % of the time "
            f"(longest {1000 * self.longest_s:.3g} ms, {self.lost_s:.3g} s in all)"
        )


def lcore_times(before: Snapshot | None, after: Snapshot) -> tuple[LcoreTime, ...]:
    """Between two looks at the same program, all of its workers.

    ``before`` None, or nothing known of the time in between: since they began. The longest gap is
    known since then only: one that may have been before the first look counts unless less was lost
    in between.
    """
    earlier = {} if before is None else {worker.lcore: worker for worker in before.workers}
    return tuple(_time(earlier.get(worker.lcore), worker) for worker in after.workers)


def _time(was: Worker | None, now: Worker) -> LcoreTime:
    if was is None or now.sampled_ns <= was.sampled_ns:
        seconds = (now.sampled_ns - now.began_ns) / _NS_PER_S
        return LcoreTime(
            now.lcore, seconds, now.cpu_lost_ns / _NS_PER_S, now.cpu_lost_max_ns / _NS_PER_S
        )
    lost_ns = now.cpu_lost_ns - was.cpu_lost_ns
    grown = now.cpu_lost_max_ns > was.cpu_lost_max_ns
    longest_ns = now.cpu_lost_max_ns if grown else min(now.cpu_lost_max_ns, lost_ns)
    seconds = (now.sampled_ns - was.sampled_ns) / _NS_PER_S
    return LcoreTime(now.lcore, seconds, lost_ns / _NS_PER_S, longest_ns / _NS_PER_S)


def all_times(looks: Iterable[Snapshot]) -> tuple[LcoreTime, ...]:
    """Of the programs that an engine ran one after the other, each with a look at its end."""
    found: dict[int, LcoreTime] = {}
    for look in looks:
        for new in lcore_times(None, look):
            old = found.get(new.lcore, LcoreTime(new.lcore, 0.0, 0.0, 0.0))
            longest_s = max(old.longest_s, new.longest_s)
            found[new.lcore] = LcoreTime(
                new.lcore, old.seconds + new.seconds, old.lost_s + new.lost_s, longest_s
            )
    return tuple(found.values())


def lost_too_much(time: LcoreTime, duty: Duty) -> bool:
    """The rule."""
    if duty & _BY_SHARE and time.share > SHARE_MAX:
        return True
    return bool(duty & _BY_GAP) and time.longest_s > GAP_MAX_S


def lost_reasons(times: Iterable[LcoreTime], duties: Mapping[int, Duty]) -> Iterator[str]:
    """What speaks against a trial, an lcore at a time."""
    for time in times:
        duty = duties.get(time.lcore, Duty.NONE)
        if lost_too_much(time, duty):
            yield f"{time.text()}: {_meaning(time, duty)}; {_ADVICE}"


def _meaning(time: LcoreTime, duty: Duty) -> str:
    means = []
    if duty & Duty.UNPACED and time.share > SHARE_MAX:
        means.append("it sent less than it could, by about as much")
    if duty & Duty.RECEIVES:
        means.append("what arrived waited for the tester, or was dropped by it")
    elif duty & Duty.MEASURED:
        means.append("what was due left late or never")
    if duty & Duty.FORWARDS:
        means.append("frames were held up here, or lost")
    if duty & Duty.TIMED and time.share > SHARE_MAX:
        means.append("it was neither busy nor idle then")
    return ", ".join(means)


def duties_of(snapshot: Snapshot, flows: Sequence[FlowPlan]) -> dict[int, Duty]:
    """Of each lcore of a program that sends and receives flows."""
    unpaced = {flow.name for flow in flows if flow.unpaced}
    measured = any(flow.measured for flow in flows)
    duties = dict.fromkeys(
        (worker.lcore for worker in snapshot.workers), Duty.MEASURED if measured else Duty.NONE
    )
    for port in snapshot.ports:
        for task in port.tx:
            if task.stream in unpaced:
                duties[task.lcore] = duties.get(task.lcore, Duty.NONE) | Duty.UNPACED
        for queue in port.rx if measured else ():
            duties[queue.lcore] = duties.get(queue.lcore, Duty.NONE) | Duty.RECEIVES
    return duties


def per_cpu_second(
    queues: Iterable[TxQueue], seconds: float, times: Iterable[LcoreTime]
) -> float | None:
    """Frames/s for each second of CPU time that the lcores had; None where that is not known."""
    had = {time.lcore: 1.0 - time.share for time in times}
    rates = []
    for queue in queues:
        share = had.get(queue.lcore, 0.0)
        if share <= 0 or seconds <= 0:
            return None
        rates.append(queue.frames / seconds / share)
    return sum(rates) if rates else None


def stolen_notes(stolen_s: Mapping[int, float], times: Iterable[LcoreTime]) -> Iterator[str]:
    """What a hypervisor took of the lcores' CPUs [s]: the cause, or what the rule cannot see."""
    for time in times:
        share = stolen_s.get(time.lcore, 0.0) / time.seconds if time.seconds > 0 else 0.0
        if share > _STOLEN_NOTE:
            yield (
                f"the hypervisor ran something else on the CPU of lcore {time.lcore} for "
                f"{100 * min(1.0, share):.3g} % of the time (steal): give this machine CPUs of its "
                "own"
            )


def gap_notes(snapshot: Snapshot) -> Iterator[str]:
    """Gaps in a worker's loop, with its CPU (a long call of a driver) or without."""
    for worker in snapshot.workers:
        longest_s = worker.stall_max_cycles / snapshot.tsc_hz
        if longest_s > GAP_NOTE_S:
            in_all_s = worker.stall_cycles / snapshot.tsc_hz
            yield (
                f"lcore {worker.lcore} was interrupted {plural(worker.stalls, 'time')} for over "
                f"0.1 ms (longest {1000 * longest_s:.1f} ms, {1000 * in_all_s:.1f} ms in all): "
                "isolate its CPU (wirerate doctor)"
            )
