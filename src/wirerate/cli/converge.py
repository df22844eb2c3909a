# SPDX-License-Identifier: BSD-3-Clause
"""Show a session's search for a rate: each step, how it ended, the trial at the rate found."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from wirerate.cli.engine_session import ending_code, stopping
from wirerate.report.parts_json import verdict_document
from wirerate.report.search_json import SCHEMA, search_document
from wirerate.report.search_text import HEADER, outcome_lines, step_row
from wirerate.search.step import Ended
from wirerate.trial.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from wirerate.plan.converge_settings import Converge
    from wirerate.report.view import View
    from wirerate.search.step import Progress
    from wirerate.session.search import Found
    from wirerate.session.session import Session


def converge(session: Session, asked: Converge, view: View, started: datetime) -> int:
    """Search and report; the exit code. Ctrl-C ends the search, what was found is kept.

    Raises PlanError where flows have no rate that could be changed, or a search for loss has
    nothing to measure.
    """
    quiet = session.prepared.settings.json

    def show(progress: Progress) -> None:
        if not quiet:
            print(step_row(progress), flush=True)

    search = session.search(asked)
    if not quiet:
        print(HEADER, flush=True)
    with stopping(search):
        found = search.run(show)
    search.end_engine(found)
    facts = session.environment(started)
    if quiet:
        print(json.dumps(_document(found, asked, view, facts), indent=2), flush=True)
    else:
        print("\n".join(["", *outcome_lines(found.outcome), ""]), flush=True)
        if found.result is not None:
            print(view.summary(found.result), flush=True)
    outcome = found.outcome
    return ending_code(outcome.reason if outcome.ended is Ended.DIED else None, None)


def _document(
    found: Found, asked: Converge, view: View, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """The document of the trial at the rate found, else one of the search alone."""
    if found.result is None:
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "verdict": verdict_document(Verdict((found.outcome.reason,))),
            "environment": dict(facts),
        }
    else:
        document = view.document(replace(found.result, environment=facts))
    return document | {"search": search_document(asked, found.outcome, found.steps)}
