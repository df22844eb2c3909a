# SPDX-License-Identifier: BSD-3-Clause
"""What a busy machine may make of a verdict, in one place.

A test that moves frames cannot ask for a valid trial: other programs may take an lcore's CPU. It
asks that nothing *else* speaks against the trial, and then checks what holds either way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

LOST_CPU = "lost its CPU"
"""What the verdict says of an lcore that this machine was too busy for."""
_FOLLOWS = (
    "no frame was sent: the device took none",
    "the device stood still",
    "clock unsteady: the TSC and",
    "frames were still arriving",
    "load not offered",
    "offered load",
    "schedule not kept",
    "time overrun",
)
"""Reasons that losing a CPU explains, if only the verdict also says that one was lost."""
_GAP_MS = 0.1
"""Gaps in a worker's loop longer than this are noted, and can keep a frame from leaving in time."""


def only_for_want_of_cpu(verdict: dict[str, Any]) -> bool:
    """Valid, or invalid (printed) because lcores lost their CPUs, and for no other reason."""
    reasons = verdict["reasons"]
    if reasons:
        print("invalid:", *reasons, *verdict["notes"], sep="\n  ")
    lost = (
        any(LOST_CPU in reason for reason in reasons) or _longest_gap_ms(verdict["notes"]) > _GAP_MS
    )
    return all(lost and may_want_cpu(reason) for reason in reasons)


def skip_where_busy(verdict: dict[str, Any]) -> None:
    """Skip, with the reason, where a CPU was lost: this machine cannot show what is asked of it."""
    if not verdict["valid"] and only_for_want_of_cpu(verdict):
        pytest.skip(f"the machine is busy: {verdict['reasons'][0]}")


def may_want_cpu(reason: str) -> bool:
    """For a reason alone, without its verdict: a lost CPU may be behind it."""
    return LOST_CPU in reason or any(part in reason for part in _FOLLOWS)


def _longest_gap_ms(notes: Sequence[str]) -> float:
    """The longest time that a worker was kept from its loop, as the verdict notes it."""
    found = [re.search(r"was interrupted .* \(longest ([0-9.]+) ms", note) for note in notes]
    return max((float(match[1]) for match in found if match), default=0.0)
