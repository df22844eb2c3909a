# SPDX-License-Identifier: BSD-3-Clause
"""What a search is fed with, and what it tells: steps, bounds, how it ended. Pure data."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Step:
    """One measurement at one rate.

    ``intended_fps`` and ``offered_fps`` are frames per second asked for and really sent (RFC 2285
    sections 3.5.1 and 3.5.2). ``loss_ratio`` (0…1) None = not measured. ``utilisation`` is the sum
    over workers that send, 1.0 = one of them was busy all the time; None = not measured. Not
    ``valid``, for ``reasons``: it says nothing about this rate. ``offered`` False: the sender or
    its device could not send so much, so that no higher rate can be had either.
    """

    intended_fps: float
    offered_fps: float
    loss_ratio: float | None = None
    utilisation: float | None = None
    valid: bool = True
    reasons: tuple[str, ...] = ()
    offered: bool = True

    @property
    def delivered_fps(self) -> float:
        """Frames per second sent that were not lost."""
        return self.offered_fps * (1 - (self.loss_ratio or 0.0))


Measure = Callable[[float], Step]
"""Measure at a rate [fps]; infinity = as fast as the device takes frames."""


@dataclass(frozen=True)
class Bounds:
    """Two rates [fps] between which the sought one lies; the upper one may be infinite."""

    lower_fps: float
    upper_fps: float

    def __post_init__(self) -> None:
        """Raise ValueError for bounds that hold nothing."""
        if not 0 < self.lower_fps <= self.upper_fps:
            raise ValueError(f"bounds {self.lower_fps:g} to {self.upper_fps:g} frames/s")


class Judgement(Enum):
    """Where a step lies: not above the sought rate, above it, or nobody knows."""

    BELOW = "below"
    ABOVE = "above"
    INVALID = "invalid"


class Ended(Enum):
    """Why a search ended."""

    CONVERGED = "converged"
    """The bounds are within the tolerance."""
    MAXIMUM = "maximum"
    """The highest rate that was allowed is still below."""
    MINIMUM = "minimum"
    """The lowest rate that was allowed is above."""
    INVALID = "invalid"
    """The same step was invalid three times."""
    STEPS = "steps"
    """It took too many steps."""
    TIME = "time"
    """The time was up."""
    INTERRUPTED = "interrupted"
    """The user wanted it to end."""
    DIED = "died"
    """Whoever measures is no more."""


class MeasuringStoppedError(Exception):
    """Raised by who measures when there will be no more steps; the text is the reason."""

    def __init__(self, ended: Ended, reason: str) -> None:
        super().__init__(reason)
        self.ended = ended


@dataclass(frozen=True)
class Progress:
    """The step number ``number`` (from 1), and what follows from it.

    ``bounds`` are those after the step; ``found`` is the best step so far that was below.
    """

    number: int
    step: Step
    judgement: Judgement
    bounds: Bounds
    found: Step | None


@dataclass(frozen=True)
class Outcome:
    """How a search ended, and in ``reason`` why in words.

    ``fps`` is the highest rate found that is below, as ``step`` measured it; None: there is none.
    """

    ended: Ended
    reason: str
    fps: float | None = None
    step: Step | None = None
    bounds: Bounds | None = None


Search = Generator[Progress, None, Outcome]
