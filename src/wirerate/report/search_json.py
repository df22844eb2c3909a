# SPDX-License-Identifier: BSD-3-Clause
"""A search for programs: the part ``search`` of a document, described in docs/search.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.converge_settings import Converge
    from wirerate.search.step import Bounds, Outcome, Progress

SCHEMA = "wirerate-search/1"


def search_document(
    converge: Converge, outcome: Outcome, steps: Sequence[Progress]
) -> dict[str, Any]:
    """What was sought, how it ended, and every step; rates are frames/s, null = no limit."""
    return {
        "converge": converge.to.value,
        "max_loss": converge.max_loss,
        "tolerance": converge.tolerance,
        "ended": outcome.ended.value,
        "reason": outcome.reason,
        "fps": outcome.fps,
        "bounds": None if outcome.bounds is None else _bounds(outcome.bounds),
        "steps": [_step(progress) for progress in steps],
    }


def _step(progress: Progress) -> dict[str, Any]:
    step = progress.step
    return {
        "step": progress.number,
        "intended_fps": _finite(step.intended_fps),
        "offered_fps": step.offered_fps,
        "offered": step.offered,
        "loss_ratio": step.loss_ratio,
        "utilisation": step.utilisation,
        "valid": step.valid,
        "reasons": list(step.reasons),
        "judgement": progress.judgement.value,
        "bounds": _bounds(progress.bounds),
    }


def _bounds(bounds: Bounds) -> dict[str, float | None]:
    return {"lower_fps": bounds.lower_fps, "upper_fps": _finite(bounds.upper_fps)}


def _finite(fps: float) -> float | None:
    return None if math.isinf(fps) else fps
