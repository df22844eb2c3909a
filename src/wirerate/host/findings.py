# SPDX-License-Identifier: BSD-3-Clause
"""A finding: one fact about the host, judged. Every probe returns a list of them, none prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

Level = Literal["ok", "warning", "error"]
# In the order in which people read them: what runs, what it may use, what disturbs it, what to do.
Area = Literal[
    "versions",
    "user",
    "hugepages",
    "memlock",
    "iommu",
    "nics",
    "numa",
    "cpus",
    "isolation",
    "smt",
    "cstates",
    "governor",
    "clock",
    "noise",
    "lcores",
]

LEVELS: tuple[Level, ...] = ("ok", "warning", "error")
AREAS: tuple[Area, ...] = get_args(Area)


@dataclass(frozen=True)
class Finding:
    """One judged fact.

    `warning`: measurements run, but results are lower or noisier than the hardware allows.
    `error`: something wirerate needs, or that was set up for it, will certainly fail.
    """

    area: Area
    level: Level
    text: str
    fix: str | None = None  # a shell command, or one sentence where no command can do it


def ok(area: Area, text: str) -> Finding:
    """Return a finding that needs nothing done."""
    return Finding(area, "ok", text)


def warning(area: Area, text: str, fix: str | None = None) -> Finding:
    """Return a finding that lessens what can be measured."""
    return Finding(area, "warning", text, fix)


def error(area: Area, text: str, fix: str | None = None) -> Finding:
    """Return a finding that will make a measurement fail."""
    return Finding(area, "error", text, fix)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings by area in the fixed order; within an area, the probe's order stays."""
    return sorted(findings, key=lambda finding: AREAS.index(finding.area))


def summary(findings: Iterable[Finding]) -> dict[Level, int]:
    """Return how many findings each level has; every level is a key."""
    counted: dict[Level, int] = dict.fromkeys(LEVELS, 0)
    for finding in findings:
        counted[finding.level] += 1
    return counted
