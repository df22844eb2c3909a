# SPDX-License-Identifier: BSD-3-Clause
"""What the trials of an RSS sweep come to: a cell's figures, its limit, speed-ups, the fit. Pure.

A cell is one number of queues, one work per frame and one frame size; its trials are repeats. The
contract is docs/design/0008-rss-sweep.md.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from wirerate.units import LINE_OVERHEAD_OCTETS, l1_bps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Binds = Literal["line", "forwarder", "generator", "receiver", "link", "unknown"]

#: So near to the line's frames/s, the line is the limit [ratio].
_LINE_WITHIN = 0.005
#: So busy, a forwarder's lcore can do no more [ratio].
_FORWARDER_BUSY = 0.95
#: Likewise the generator's, which has the clock to look at besides [ratio].
_GENERATOR_BUSY = 0.98
_FIT_POINTS_MIN = 3
_MEGA = 1e6


@dataclass(frozen=True)
class Cell:
    """Where in the sweep: ``work`` None = the baseline; ``size`` [octets, with FCS]."""

    queues: int
    work: float | None
    size: int


@dataclass(frozen=True)
class TrialFigures:
    """One trial. Busy shares are 0…1; ``forwarder_cycles`` are busy ones of all its lcores.

    ``forwarding_fps`` is what came back in the measured time, ``per_queue_fps`` the same by the
    forwarder's queue; ``missed`` what the generator's port missed or had no mbuf for; ``unsent``
    what was due and not sent, ``bursts_short`` how often the link took less than offered.
    """

    forwarding_fps: float
    offered_fps: float
    loss_ratio: float
    per_queue_fps: tuple[float, ...]
    forwarder_busy: tuple[float, ...]
    forwarder_cycles: int
    forwarder_frames: int
    generator_busy: float
    bursts_short: int
    unsent: int
    missed: int
    valid: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spread:
    """Median and range of repeats."""

    median: float
    min: float
    max: float


@dataclass(frozen=True)
class CellFigures:
    """A cell that was measured, or ``reason`` why not."""

    cell: Cell
    shared_cores: bool
    trials: tuple[TrialFigures, ...] = ()
    reason: str = ""
    binds: Binds = "unknown"
    speed_up: float | None = None

    @property
    def ok(self) -> bool:
        """It was measured."""
        return not self.reason

    @property
    def fps(self) -> Spread:
        """Frames/s that came back."""
        return spread(trial.forwarding_fps for trial in self.trials)

    @property
    def cycles_per_frame(self) -> float | None:
        """Busy cycles of the forwarder's lcores per frame: the median; None without frames."""
        costs = [t.forwarder_cycles / t.forwarder_frames for t in self.trials if t.forwarder_frames]
        return statistics.median(costs) if costs else None

    @property
    def efficiency(self) -> float | None:
        """Speed-up by number of queues."""
        return None if self.speed_up is None else self.speed_up / self.cell.queues

    def document(self) -> dict[str, Any]:
        """``cells[]`` of the JSON document."""
        size = self.cell.size
        made = {**asdict(self.cell), "status": "ok" if self.ok else "failed", "reason": self.reason}
        made |= {"shared_cores": self.shared_cores, "trials": [asdict(t) for t in self.trials]}
        figures: dict[str, Any] = dict.fromkeys(("forwarding_fps", "l1_mbps", "loss_ratio"))
        if self.ok:
            fps = self.fps
            mbps = (l1_bps(value, size) / _MEGA for value in (fps.median, fps.min, fps.max))
            figures = {
                "forwarding_fps": asdict(fps),
                "l1_mbps": asdict(Spread(*mbps)),
                "loss_ratio": asdict(spread(trial.loss_ratio for trial in self.trials)),
            }
        return {
            **made,
            **figures,
            "cycles_per_frame": self.cycles_per_frame if self.ok else None,
            "binds": self.binds,
            "speed_up": self.speed_up,
            "efficiency": self.efficiency,
        }


@dataclass(frozen=True)
class Fit:
    """``cycles = a_cycles + b * work`` for a number of queues; None with fewer than 3 points.

    ``residual`` is the root mean square of what the line misses, as a ratio of the mean cost.
    ``shared_cores``: busy cycles have time in them that others took.
    """

    queues: int
    a_cycles: float | None
    b: float | None
    residual: float | None
    points: int
    shared_cores: bool = False


def spread(values: Iterable[float]) -> Spread:
    """Median and range; of one value at least."""
    known = sorted(values)
    return Spread(statistics.median(known), known[0], known[-1])


def binding(cell: Cell, trials: Sequence[TrialFigures], line_bps: float | None) -> Binds:
    """Which limit a cell met: that of the trial whose throughput is the median.

    The line where its frames/s are met; the forwarder where each of its lcores is busy; the
    generator where it had no time to send, or none of its own left; then the receiver, then the
    link, when it took less than was offered although the forwarder had time.
    """
    middle = sorted(trials, key=lambda trial: trial.forwarding_fps)[(len(trials) - 1) // 2]
    if line_bps is not None:
        line_fps = line_bps / 8 / (cell.size + LINE_OVERHEAD_OCTETS)
        if middle.forwarding_fps >= (1 - _LINE_WITHIN) * line_fps:
            return "line"
    if middle.forwarder_busy and min(middle.forwarder_busy) >= _FORWARDER_BUSY:
        return "forwarder"
    if middle.missed:
        return "receiver"
    if (middle.unsent and not middle.bursts_short) or middle.generator_busy >= _GENERATOR_BUSY:
        return "generator"
    return "link" if middle.bursts_short else "unknown"


def with_speed_ups(figures: Sequence[CellFigures]) -> list[CellFigures]:
    """The same cells, each against that of one queue with its work and size, where there is one."""
    single = {
        (one.cell.work, one.cell.size): one.fps.median
        for one in figures
        if one.ok and one.cell.queues == 1
    }
    found = []
    for one in figures:
        base = single.get((one.cell.work, one.cell.size))
        speed_up = one.fps.median / base if one.ok and base else None
        found.append(replace(one, speed_up=speed_up))
    return found


def fits(figures: Sequence[CellFigures]) -> list[Fit]:
    """For each number of queues: cells of the smallest size that the forwarder's CPU limits."""
    smallest = min((one.cell.size for one in figures), default=0)
    made = []
    for queues in sorted({one.cell.queues for one in figures}):
        own = [
            one
            for one in figures
            if one.ok and one.binds == "forwarder" and one.cell.queues == queues
        ]
        points = [
            (one.cell.work, one.cycles_per_frame)
            for one in own
            if one.cell.size == smallest
            and one.cell.work is not None
            and one.cycles_per_frame is not None
        ]
        shared = any(one.shared_cores for one in own)
        made.append(_fit(queues, points, shared_cores=shared))
    return made


def _fit(queues: int, points: Sequence[tuple[float, float]], *, shared_cores: bool) -> Fit:
    """Least squares (statistics.linear_regression)."""
    if len({work for work, _ in points}) < _FIT_POINTS_MIN:
        return Fit(queues, None, None, None, len(points), shared_cores)
    works = [work for work, _ in points]
    costs = [cost for _, cost in points]
    line = statistics.linear_regression(works, costs)
    missed = [cost - (line.intercept + line.slope * work) for work, cost in points]
    rms = (sum(value * value for value in missed) / len(missed)) ** 0.5
    residual = rms / statistics.fmean(costs)
    return Fit(queues, line.intercept, line.slope, residual, len(points), shared_cores)
