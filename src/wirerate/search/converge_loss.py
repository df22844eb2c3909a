# SPDX-License-Identifier: BSD-3-Clause
"""The highest rate at which no more than a given share of frames is lost.

With a share of 0 this is the throughput of RFC 2544 section 26.1; a share above 0 has no name there
(others call it partial drop rate). The first trial is made at the highest rate: what a device
delivers when it is asked too much is a good guess of what it can do. From there the search goes up
or down by strides, twice as long each time, until it has a rate on either side, and halves what
lies between.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wirerate.search.bisection import MAX_STEPS, Bisection, Bracket

if TYPE_CHECKING:
    from wirerate.search.step import Bounds, Measure, Search, Step

TOLERANCE = 0.01
"""How far apart the bounds may lie at the end [ratio of the upper one]."""


def converge_loss(
    measure: Measure,
    bounds: Bounds,
    tolerance: float = TOLERANCE,
    max_loss: float = 0.0,
    max_steps: int = MAX_STEPS,
) -> Search:
    """Search for the highest rate with a loss ratio of at most ``max_loss`` (0…1).

    It ends when a rate was not above it twice, another one was twice, and they are no further apart
    than ``tolerance`` [ratio of the upper one]. A load that could not be offered is above: the
    result is then what can be sent. With an infinite upper bound the first step is not paced,
    and what it offers is the upper bound. Raises ValueError for a step without a loss ratio.
    """
    return _LossSearch(measure, Bracket(bounds, tolerance), max_loss, max_steps).run()


class _LossSearch(Bisection):
    what = "the rate without too much loss"

    def __init__(self, measure: Measure, bracket: Bracket, max_loss: float, max_steps: int) -> None:
        super().__init__(measure, bracket, max_steps)
        self._max_loss = max_loss

    def judge(self, step: Step) -> bool:
        if step.loss_ratio is None:
            raise ValueError(f"a step at {step.intended_fps:g} frames/s has no loss ratio")
        unpaced = math.isinf(self.bracket.upper) and not self.bracket.upper_seen
        return unpaced or not step.offered or step.loss_ratio > self._max_loss

    def propose(self) -> float:
        bracket = self.bracket
        if not bracket.upper_seen:
            return bracket.upper
        if bracket.lower_seen:
            return bracket.step_up()
        over = self.step_at(bracket.upper)
        assert over is not None, "an upper bound that is seen has been measured"
        guess = over.delivered_fps / (1 - self._max_loss) * (1 - bracket.tolerance / 2)
        guess = min(guess, bracket.upper / (1 + bracket.tolerance))
        if bracket.lower > bracket.least:  # a guess before was too high
            guess = min(guess, bracket.lower)
        bracket.lower = max(guess, bracket.least)
        return bracket.lower

    def upper_matters(self, found: Step) -> bool:
        del found
        return True
