# SPDX-License-Identifier: BSD-3-Clause
"""What people see of a search: a row for each step, and how it ended. Pure text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wirerate.search.step import Judgement

if TYPE_CHECKING:
    from wirerate.search.step import Outcome, Progress

HEADER = (
    f"Step {'asked fps':>15} {'offered fps':>15} {'loss':>10} {'CPU':>6} "
    f"{'lower fps':>15} {'upper fps':>15}  judgement"
)


def step_row(progress: Progress) -> str:
    """One step; below it, why it is invalid."""
    step = progress.step
    cells = [
        f"{progress.number:4}",
        _rate(step.intended_fps),
        f"{step.offered_fps:15,.0f}",
        "         -" if step.loss_ratio is None else f"{100 * step.loss_ratio:9.4g}%",
        "     -" if step.utilisation is None else f"{step.utilisation:6.3f}",
        _rate(progress.bounds.lower_fps),
        _rate(progress.bounds.upper_fps),
        f" {_judgement(progress)}",
    ]
    row = " ".join(cells)
    if progress.judgement is Judgement.INVALID:
        row = "\n".join([row, *(f"       - {reason}" for reason in step.reasons)])
    return row


def outcome_lines(outcome: Outcome) -> list[str]:
    """The result first."""
    found = "no rate" if outcome.fps is None else f"{outcome.fps:,.0f} frames/s"
    lines = [f"Found: {found} ({outcome.ended.value}: {outcome.reason})"]
    if outcome.fps is not None and outcome.bounds is not None:
        upper = outcome.bounds.upper_fps
        if math.isfinite(upper) and upper > outcome.fps:
            lines.append(f"  too high, or not tried: {upper:,.0f} frames/s")
    return lines


def _judgement(progress: Progress) -> str:
    if progress.judgement is Judgement.ABOVE and not progress.step.offered:
        return "above: could not be sent"
    if progress.judgement is Judgement.ABOVE and math.isinf(progress.step.intended_fps):
        return "above: all that can be sent"
    return progress.judgement.value


def _rate(fps: float) -> str:
    return f"{'all':>15}" if math.isinf(fps) else f"{fps:15,.0f}"
