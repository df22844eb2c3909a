# SPDX-License-Identifier: BSD-3-Clause
"""What all searches do: hold a bracket around the sought rate, halve it, distrust single steps.

A device's capacity is noisy. So a search has ended only when its lower bound was below twice, and
its upper bound above twice where that matters; a bound that fails its repeat gives way, and the
bracket is widened there. A step that is invalid is repeated twice. No search takes more than
`MAX_STEPS` steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING

from wirerate.search.step import Bounds, Ended, Judgement, Outcome, Progress

if TYPE_CHECKING:
    from collections.abc import Generator

    from wirerate.search.step import Measure, Search, Step

MAX_STEPS = 80
"""Bisecting all of the rates there are to 0.01 % takes 60."""
ATTEMPTS = 3
"""An invalid step is repeated twice."""
AGREEING = 2
"""So many steps must agree on a bound: the first one and its repeat."""


class Bracket:
    """Two rates [fps] around the sought one; a bound that is not ``seen`` is only a guess.

    ``least`` and ``most`` are never left. A guess that proves wrong becomes the other bound, and
    the new guess lies ``stride`` (relative) beyond, twice as far each time.
    """

    def __init__(self, bounds: Bounds, tolerance: float) -> None:
        self.least, self.most = bounds.lower_fps, bounds.upper_fps
        self.lower, self.upper = self.least, self.most
        self.lower_seen = self.upper_seen = False
        self.tolerance = self.stride = tolerance

    @property
    def bounds(self) -> Bounds:
        """As they are now."""
        return Bounds(self.lower, self.upper)

    @property
    def tight(self) -> bool:
        """Both bounds are seen, and no further apart than the tolerance."""
        width = self.upper - self.lower
        return self.lower_seen and self.upper_seen and width <= self.tolerance * self.upper

    @property
    def mean(self) -> float:
        """The middle."""
        return (self.lower + self.upper) / 2

    def note(self, fps: float, *, above: bool) -> None:
        """A rate was measured."""
        if above:
            self.upper, self.upper_seen = fps, True
            if self.lower >= fps:
                self._widen_down()
        else:
            self.lower, self.lower_seen = fps, True
            if self.upper <= fps:
                self.widen_up()

    def _widen_down(self) -> None:
        if self.lower_seen:
            self.stride = self.tolerance
        self.lower_seen = False
        self.lower = min(max(self.least, self.upper / (1 + self.stride)), self.upper)
        self.stride *= 2

    def widen_up(self) -> None:
        """Nobody knows an upper bound any more: guess one."""
        if self.upper_seen:
            self.stride = self.tolerance
        self.upper_seen = False
        self.upper = max(min(self.most, self.lower * (1 + self.stride)), self.lower)
        self.stride *= 2

    def step_up(self) -> float:
        """A stride above the lower bound, but no further than the middle."""
        fps = min(self.mean, self.lower * (1 + self.stride))
        self.stride *= 2
        return fps


class EndOfSearchError(Exception):
    """Ends a search from within."""

    def __init__(self, ended: Ended, reason: str) -> None:
        super().__init__(reason)
        self.ended = ended


class Bisection(ABC):
    """A search under way; what is sought is up to who derives from it."""

    what = "the rate"

    def __init__(self, measure: Measure, bracket: Bracket, max_steps: int = MAX_STEPS) -> None:
        self._measure = measure
        self._max_steps = max_steps
        self._steps: dict[float, Step] = {}
        self._below: Counter[float] = Counter()
        self._above: Counter[float] = Counter()
        self.bracket = bracket
        self.number = 0
        self._first = 0

    @abstractmethod
    def judge(self, step: Step) -> bool:
        """Whether a valid step is above."""

    @abstractmethod
    def propose(self) -> float:
        """The next rate while the bracket is not tight."""

    @abstractmethod
    def upper_matters(self, found: Step) -> bool:
        """Whether the upper bound needs a repeat, once ``found`` is to be the result."""

    def run(self) -> Search:
        """Yield each step; return how it ended."""
        try:
            yield from self.converge()
        except EndOfSearchError as end:
            return self.outcome(end.ended, str(end))
        return self.outcome(Ended.CONVERGED, self._converged_text())

    def converge(self) -> Generator[Progress]:
        """Yield the steps until the bracket is tight; raises EndOfSearchError."""
        while (fps := self._next()) is not None:
            yield from self.take(fps)

    def take(self, fps: float) -> Generator[Progress]:
        """Measure at a rate until a step is valid; raises EndOfSearchError when none is."""
        reasons: tuple[str, ...] = ()
        for _ in range(ATTEMPTS):
            if self.number - self._first >= self._max_steps:
                raise EndOfSearchError(Ended.STEPS, f"no end after {self._max_steps} steps")
            step = self._measure(fps)
            self.number += 1
            judgement = Judgement.INVALID
            if step.valid:
                judgement = self._note(step.offered_fps if math.isinf(fps) else fps, step)
            yield Progress(self.number, step, judgement, self.bracket.bounds, self.found)
            if step.valid:
                return
            reasons = step.reasons
        raise EndOfSearchError(
            Ended.INVALID, f"{ATTEMPTS} invalid steps in a row: {'; '.join(reasons)}"
        )

    def begin_anew(self) -> None:
        """Conditions have changed: what was seen before no longer counts."""
        self._below.clear()
        self._above.clear()
        self._first = self.number
        self.bracket.stride = 2 * self.bracket.tolerance

    @property
    def found(self) -> Step | None:
        """The step of the lower bound, when it has been measured."""
        return self._steps.get(self.bracket.lower) if self.bracket.lower_seen else None

    def step_at(self, fps: float) -> Step | None:
        """The last valid step at a rate."""
        return self._steps.get(fps)

    def outcome(self, ended: Ended, reason: str) -> Outcome:
        """What is known now."""
        found = self.found
        fps = None if found is None else self.bracket.lower
        return Outcome(ended, reason, fps, found, self.bracket.bounds)

    def _note(self, fps: float, step: Step) -> Judgement:
        """A rate that was above twice stays above, whatever a further repeat says."""
        above = self.judge(step)
        (self._above if above else self._below)[fps] += 1
        self._steps[fps] = step
        above = above or self._above[fps] >= AGREEING
        self.bracket.note(fps, above=above)
        return Judgement.ABOVE if above else Judgement.BELOW

    def _next(self) -> float | None:
        bracket = self.bracket
        at_most = bracket.lower_seen and bracket.lower >= bracket.most
        at_least = bracket.upper_seen and bracket.upper <= bracket.least
        if at_least:
            if self._above[bracket.upper] < AGREEING:
                return bracket.upper
            raise EndOfSearchError(
                Ended.MINIMUM, f"{self.what} is below {bracket.least:,.0f} frames/s, the least"
            )
        if not at_most and not bracket.tight:
            return self.propose()
        if self._below[bracket.lower] < AGREEING:
            return bracket.lower
        if at_most:
            raise EndOfSearchError(
                Ended.MAXIMUM,
                f"{self.what} is not below {bracket.most:,.0f} frames/s, the most that was allowed",
            )
        if self._above[bracket.upper] < AGREEING and self.upper_matters(self._steps[bracket.lower]):
            return bracket.upper
        return None

    def _converged_text(self) -> str:
        bounds = self.bracket.bounds
        return (
            f"{self.what} lies between {bounds.lower_fps:,.0f} and {bounds.upper_fps:,.0f} frames/s"
        )
