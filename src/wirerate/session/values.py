# SPDX-License-Identifier: BSD-3-Clause
"""Values that scripts give, checked: times, whole numbers, and text as the command line has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from wirerate.errors import PlanError
from wirerate.plan.run_settings import PERIOD_MAX_NS, PERIOD_MIN_NS
from wirerate.units import parse_duration_ns, parse_small_time_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

Time: TypeAlias = "float | str"
"""A time: a number of seconds, or text with a unit: ``"5s"``, ``"500ms"``, ``"2m"``."""

NS_PER_S = 1_000_000_000
_MAX_S = 366 * 86400


def duration_ns(value: Time, name: str) -> int:
    """A time that is not 0 [ns]. Raises PlanError, which calls it by ``name``."""
    if isinstance(value, str):
        return parse_duration_ns(value, name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PlanError(f"{name}={value!r}: not a time; give seconds, or text such as '500ms'")
    if not math.isfinite(value) or not 0 < value <= _MAX_S or round(value * NS_PER_S) < 1:
        raise PlanError(f"{name}={value!r}: not between 1 ns and 366 days; give seconds, as in 0.5")
    return round(value * NS_PER_S)


def period_ns(value: Time) -> int:
    """The time between two snapshots [ns]. Raises PlanError."""
    found = duration_ns(value, "period")
    if not PERIOD_MIN_NS <= found <= PERIOD_MAX_NS:
        raise PlanError(f"period={value!r}: not between 10 ms and 1 h; give the time in seconds")
    return found


def optional_ns(value: Time | None, name: str) -> int:
    """Likewise, where None and 0 mean none [ns]."""
    if value is None or (not isinstance(value, bool) and value in {0, "0"}):
        return 0
    return duration_ns(value, name)


def small_time_ns(value: Time, name: str, most_ns: int) -> float:
    """A time of 0 to ``most_ns`` [ns]: seconds, or text with its unit. Raises PlanError."""
    if isinstance(value, str):
        return parse_small_time_ns(value, name, most_ns)
    found = float(optional_ns(value, name))
    if found > most_ns:
        raise PlanError(f"{name}={value!r}: more than {most_ns / NS_PER_S:g} s; lower it")
    return found


def whole(value: Any, name: str, low: int, high: int) -> int:
    """A whole number in a range. Raises PlanError."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PlanError(f"{name}={value!r}: give a whole number, {low:,} to {high:,}")
    return int(value)


def ratio(value: Any, name: str) -> float:
    """A share of frames, 0 to 1. Raises PlanError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise PlanError(f"{name}={value!r}: give a share of frames, 0 to 1, as in 0.001")
    return float(value)


def words(value: Sequence[str], name: str) -> list[str]:
    """A list of words, as of a command line. Raises PlanError."""
    if isinstance(value, str) or not all(isinstance(word, str) for word in value):
        raise PlanError(f"{name}={value!r}: give a list of words, as in ['-l', '1-3']")
    return list(value)
