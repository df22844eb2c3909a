# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs are run, how each ended, and the table of that. Pure: no files, no processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALL = "all"
"""In place of a job's name: every job."""
PASSED, FAILED, NO_SUCH_JOB, UNAVAILABLE, DIED = range(5)
"""Exit codes, of one job and of `make lab`."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell has it."""
_RESULTS = {
    PASSED: "passed",
    UNAVAILABLE: "cannot run",
    FAILED: "failed",
    DIED: "died",
    INTERRUPTED: "not run",
}
"""In words; what comes later counts more for the exit code of several jobs."""
_REASON_CHARACTERS = 160
_HEAD = ("job", "result", "seconds", "checks", "failed", "reasons")
_NUMBERS = (2, 3, 4)
"""Columns of these are aligned to the right."""


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    code: int
    """PASSED, FAILED, UNAVAILABLE, DIED or INTERRUPTED."""
    checks: int = 0
    """Made by the job; 0 where the guest did not get so far."""
    failed: tuple[str, ...] = ()
    """The checks that did not hold."""
    reason: str = ""
    """Why the job cannot run here, or how the guest died."""
    again: bool = False
    """QEMU's known fault ended the first try: this is the second."""
    seconds: float = 0.0
    """From the job's begin on the host to its end."""

    @property
    def result(self) -> str:
        """In a word or two."""
        return _RESULTS[self.code]


def selected(asked: Iterable[str], jobs: Iterable[str]) -> list[str]:
    """Jobs in the order asked for, each once; "all" stands for those not yet named.

    Raises LookupError, which names it, for a job that is none of `jobs`.
    """
    jobs = list(jobs)
    chosen: dict[str, None] = {}
    for name in asked:
        if name != ALL and name not in jobs:
            raise LookupError(f"no job {name}; there are {', '.join(jobs)}, and {ALL}")
        chosen |= dict.fromkeys(jobs if name == ALL else [name])
    return list(chosen)


def worst(outcomes: Iterable[Outcome]) -> int:
    """The exit code for several jobs: a failure counts more than a job that cannot run here."""
    return max((outcome.code for outcome in outcomes), key=list(_RESULTS).index)


def _reasons(outcome: Outcome) -> list[str]:
    """One a line; only a first line of each, since a check may print a whole document."""
    again = ["a second try, after a known fault of QEMU's"] if outcome.again else []
    found = [text.partition("\n")[0] for text in (outcome.reason, *outcome.failed) if text]
    return [*again, *(text[:_REASON_CHARACTERS] for text in found)]


def _cells(name: str, outcome: Outcome) -> list[list[str]]:
    """A row, and a row more for each further reason."""
    first, *rest = _reasons(outcome) or [""]
    numbers = [f"{outcome.seconds:,.0f}", f"{outcome.checks:,}", f"{len(outcome.failed):,}"]
    head = [name, outcome.result, *numbers, first]
    return [head, *(["", "", "", "", "", reason] for reason in rest)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at in _NUMBERS else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def table(outcomes: dict[str, Outcome]) -> str:
    """A row for each job, with its reasons; then how many there are of each result."""
    rows = [list(_HEAD)]
    for name, outcome in outcomes.items():
        rows += _cells(name, outcome)
    results = [outcome.result for outcome in outcomes.values()]
    counted = ", ".join(f"{results.count(result)} {result}" for result in dict.fromkeys(results))
    checks = sum(outcome.checks for outcome in outcomes.values())
    seconds = sum(outcome.seconds for outcome in outcomes.values())
    jobs = f"{len(outcomes)} job{'' if len(outcomes) == 1 else 's'}"
    return "\n".join([*_aligned(rows), f"{jobs}: {counted}; {checks:,} checks, {seconds:,.0f} s"])
