# SPDX-License-Identifier: BSD-3-Clause
"""The rate at which the sender's workers are nearly busy all the time: BiTester's rule.

Its document (convergence of the sending rate) says: about every second add up the CPU utilisation
of all cores; above 0.95 times the number of queues the rate becomes the upper bound,
else the lower bound, and the next rate is the mean of both; when, having converged, the sum is
above, the lower bound is lowered, when it is below, the upper bound is raised, and the search
converges anew. What is added here: an end (its own program has none), a repeat of the result, and
that a rate which could not be sent counts as above, whatever the CPU did meanwhile.

It finds the limit of the sender, not of a device under test: nothing here looks at loss.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wirerate.search.bisection import MAX_STEPS, Bisection, Bracket, EndOfSearchError
from wirerate.search.step import Ended

if TYPE_CHECKING:
    from collections.abc import Generator

    from wirerate.search.step import Bounds, Measure, Progress, Search, Step

TOLERANCE = 0.01
"""How far apart the bounds may lie at the end [ratio of the upper one]."""
FULL = 0.95
"""A queue's worker that is busy for longer than this share of time is at its limit."""
_FIRST_FPS = 100_000.0
_FIRST_STRIDE = 7.0
"""Without an upper bound: where to begin [fps], and how far to go on at first [ratio]."""
_ROOMY = 4
"""So many tolerances below the limit, more can be sent than was found."""


def converge_cpu(
    measure: Measure,
    queues: int,
    bounds: Bounds,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
    *,
    follow: bool = False,
) -> Search:
    """Search for the rate at which the utilisation is 0.95 times ``queues``.

    ``queues`` is the number of workers that send: BiTester has one for each queue. It ends when the
    bounds are no further apart than ``tolerance`` [ratio of the upper one]. With ``follow`` it
    then goes on measuring at the rate found, and converges anew (in ``max_steps`` steps) when the
    utilisation there is above, or so far below that more could be sent. Raises ValueError for a
    step without a utilisation.
    """
    search = _CpuSearch(measure, Bracket(bounds, tolerance), queues, max_steps)
    return search.follow() if follow else search.run()


class _CpuSearch(Bisection):
    what = "the rate that fills the sender's CPUs"

    def __init__(self, measure: Measure, bracket: Bracket, queues: int, max_steps: int) -> None:
        super().__init__(measure, bracket, max_steps)
        self._limit = FULL * queues
        bracket.lower_seen = True  # until it is measured: nothing sent needs no CPU
        if math.isinf(bracket.upper):
            bracket.upper = max(bracket.least, _FIRST_FPS)
            bracket.stride = _FIRST_STRIDE

    def judge(self, step: Step) -> bool:
        if step.utilisation is None:
            raise ValueError(f"a step at {step.intended_fps:g} frames/s has no utilisation")
        above = not step.offered or step.utilisation > self._limit
        if above and not self.bracket.upper_seen:
            self.bracket.stride = self.bracket.tolerance
        return above

    def propose(self) -> float:
        bracket = self.bracket
        if not bracket.upper_seen:
            return bracket.upper
        return bracket.mean if bracket.lower_seen else bracket.lower

    def upper_matters(self, found: Step) -> bool:
        """A lower bound that leaves room says that a step above was a slip."""
        return self._roomy(found)

    def _roomy(self, step: Step) -> bool:
        assert step.utilisation is not None, "judged"
        return step.utilisation < self._limit * (1 - _ROOMY * self.bracket.tolerance)

    def follow(self) -> Search:
        """Converge again and again, until it cannot."""
        while True:
            try:
                yield from self.converge()
                blocked = self._steps_above()
            except EndOfSearchError as end:
                if end.ended is not Ended.MAXIMUM:
                    return self.outcome(end.ended, str(end))
                blocked = True
            try:
                yield from self._hold(blocked=blocked)
            except EndOfSearchError as end:
                return self.outcome(end.ended, str(end))

    def _steps_above(self) -> bool:
        """More cannot be sent although the CPUs have time: the upper bound was not offered."""
        over = self.step_at(self.bracket.upper)
        return over is not None and not over.offered

    def _hold(self, *, blocked: bool) -> Generator[Progress]:
        """Stay at the rate found until it is no longer the right one; ``blocked``: not for room."""
        fps = self.bracket.lower
        while True:
            self.begin_anew()
            yield from self.take(fps)
            if self.bracket.upper <= fps:
                return
            step = self.step_at(fps)
            if step is not None and self._roomy(step) and not blocked:
                self.bracket.widen_up()
                return
