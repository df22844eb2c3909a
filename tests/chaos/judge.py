# SPDX-License-Identifier: BSD-3-Clause
"""A trial's place in the table: valid or not, right or wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chaos.causes import misnamed
from chaos.claims import contradictions

if TYPE_CHECKING:
    from chaos.trials import Trial

COLUMNS = (
    "valid, right",
    "valid, wrong",
    "invalid, true cause",
    "invalid, other cause",
    "no result",
)
GOOD = frozenset({"valid, right", "invalid, true cause"})
_DIED, _INTERRUPTED = 4, 130
_REFUSED = (2, 3)


@dataclass(frozen=True)
class Judgement:
    """The column, and why."""

    column: str
    why: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """As it has to be."""
        return self.column in GOOD


def judge(trial: Trial, outcome: dict[str, Any]) -> Judgement:
    """Where an outcome belongs."""
    code, facts = outcome["facts"]["code"], outcome["facts"]
    if facts.get("hung"):
        return Judgement("no result", ("it did not end within the limit",))
    if "Traceback" in outcome["err"]:
        return Judgement("no result", (outcome["err"][-400:],))
    if not outcome["out"].strip():
        return _without(trial, outcome)
    document = json.loads(outcome["out"])
    verdict = document["verdict"]
    if verdict["valid"]:
        why = tuple(contradictions(trial, outcome, document))
        if code != 0:
            why = (*why, f"valid, and exit code {code}")
        return Judgement("valid, wrong" if why else "valid, right", why)
    why = tuple(misnamed(trial, outcome, verdict["reasons"]))
    if facts.get("killed") and code != _DIED:
        why = (*why, f"the engine was killed, and exit code {code}")
    return Judgement(
        "invalid, other cause" if why else "invalid, true cause", why or verdict["reasons"]
    )


def _without(trial: Trial, outcome: dict[str, Any]) -> Judgement:
    """No document: refused, interrupted before the start, or dead."""
    code, said = outcome["facts"]["code"], outcome["err"].strip()
    if code == _INTERRUPTED and trial.fault == "interrupted":
        return Judgement("invalid, true cause", ("interrupted before the start",))
    if code in {_DIED, *_REFUSED} and said:
        why = tuple(misnamed(trial, outcome, [said.splitlines()[-1]]))
        if not why:
            return Judgement("invalid, true cause", (said,))
    return Judgement("no result", (f"exit code {code}: {said[-400:]}",))
