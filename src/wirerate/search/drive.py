# SPDX-License-Identifier: BSD-3-Clause
"""Drive a search to its end, or to the end of the time it has."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wirerate.search.step import Ended, MeasuringStoppedError, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirerate.search.step import Progress, Search


def run_search(
    search: Search,
    show: Callable[[Progress], None],
    max_time_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Take step after step, showing each; the outcome when there are no more.

    No step is begun later than ``max_time_s`` [s] after the call; None = no such end. When who
    measures raises MeasuringStoppedError, what was found until then is the outcome.
    """
    began = clock()
    last: Progress | None = None
    try:
        while max_time_s is None or clock() - began < max_time_s:
            last = next(search)
            show(last)
    except StopIteration as stop:
        outcome: Outcome = stop.value
        return outcome
    except MeasuringStoppedError as stop:
        return _cut_short(stop.ended, str(stop), last)
    search.close()
    return _cut_short(Ended.TIME, f"the time was up after {max_time_s:g} s", last)


def _cut_short(ended: Ended, reason: str, last: Progress | None) -> Outcome:
    if last is None:
        return Outcome(ended, reason)
    found = last.found
    fps = None if found is None else last.bounds.lower_fps
    return Outcome(ended, reason, fps, found, last.bounds)
