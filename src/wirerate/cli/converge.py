# SPDX-License-Identifier: BSD-3-Clause
"""Search for a rate with an engine that is ready: measure, show each step, confirm, report.

Called by `wirerate.cli.execute`; which search, and how it measures, is decided here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from wirerate.cli.engine_session import ending_code, stopping
from wirerate.errors import PlanError
from wirerate.plan.converge_settings import (
    INTERVAL_DEFAULT_NS,
    TRIAL_DEFAULT_NS,
    Converge,
    ConvergeTo,
)
from wirerate.report.parts_json import verdict_document
from wirerate.report.search_json import SCHEMA, search_document
from wirerate.report.search_text import HEADER, outcome_lines, step_row
from wirerate.search.converge_cpu import converge_cpu
from wirerate.search.converge_loss import converge_loss
from wirerate.search.drive import run_search
from wirerate.search.step import Bounds, Ended, MeasuringStoppedError, Outcome
from wirerate.trial.flow_rates import FlowRates
from wirerate.trial.search_trial import LiveMeasurer, TrialMeasurer
from wirerate.trial.verdict import Verdict, death_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wirerate.report.view import View
    from wirerate.search.step import Progress
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult
    from wirerate.trial.search_trial import Load

    Show = Callable[[Progress], None]

LEAST_FPS = 1.0
"""Nobody seeks a lower rate."""
_NS_PER_S = 1_000_000_000


@dataclass
class Found:
    """What a search came to; ``result`` is that of a trial at the rate found, None without one."""

    outcome: Outcome
    steps: list[Progress] = field(default_factory=list)
    result: RunResult | None = None

    def note_death(self, death: str) -> None:
        """The engine that measured has died of being ended, unless ``death`` is empty."""
        if not death or self.outcome.ended is Ended.DIED:
            return
        reason = death_reason(death, counted=True)
        self.outcome = replace(self.outcome, ended=Ended.DIED, reason=reason)
        if self.result is not None:
            verdict = self.result.verdict
            verdict = replace(verdict, reasons=(reason, *verdict.reasons))
            self.result = replace(self.result, verdict=verdict)


def converge(ready: ReadyPlan, program: dict[str, Any], load: Load) -> Found:
    """Search as the settings say, and show each step, unless with --json.

    Ctrl-C ends it; what was found until then is kept. Raises PlanError where flows have no rate
    that could be changed, or a search for loss has nothing to measure.
    """
    asked = ready.settings.converge
    assert asked is not None
    rates = FlowRates.of(ready, program)
    steps: list[Progress] = []

    def show(progress: Progress) -> None:
        steps.append(progress)
        if not ready.settings.json:
            print(step_row(progress), flush=True)

    if asked.to is ConvergeTo.LOSS:
        _check_loss_is_measured(ready)
    if not ready.settings.json:
        print(HEADER, flush=True)
    if asked.to is ConvergeTo.LOSS:
        return _converge_loss(asked, rates, load, steps, show)
    return _converge_cpu(asked, rates, load, steps, show)


def _converge_loss(
    asked: Converge, rates: FlowRates, load: Load, steps: list[Progress], show: Show
) -> Found:
    measurer = TrialMeasurer(load, rates, rates.ready.settings.duration_ns or TRIAL_DEFAULT_NS)
    search = converge_loss(measurer, _bounds(rates), asked.tolerance, asked.max_loss)
    with stopping(measurer):
        outcome = run_search(search, show, _max_time_s(asked))
    result = None if outcome.fps is None else measurer.results.get(outcome.fps)
    return Found(outcome, steps, result)


def _converge_cpu(
    asked: Converge, rates: FlowRates, load: Load, steps: list[Progress], show: Show
) -> Found:
    settings = rates.ready.settings
    interval_s = (settings.duration_ns or INTERVAL_DEFAULT_NS) / _NS_PER_S
    live = LiveMeasurer(load, rates, interval_s)
    senders = {lcore for port in rates.ready.ports for lcore in port.tx_lcores}
    search = converge_cpu(live, len(senders), _bounds(rates), asked.tolerance, follow=asked.follow)
    with stopping(live):
        outcome = run_search(search, show, _max_time_s(asked))
        live.close()
    found = Found(outcome, steps)
    if outcome.fps is not None and outcome.ended not in {Ended.DIED, Ended.INTERRUPTED}:
        last = TrialMeasurer(
            load, rates, settings.duration_ns or TRIAL_DEFAULT_NS, whole_bursts=True, grown=True
        )
        with stopping(last):
            try:
                _, found.result = last.run(outcome.fps)
            except MeasuringStoppedError as stop:
                found.outcome = Outcome(
                    stop.ended, str(stop), outcome.fps, outcome.step, outcome.bounds
                )
    return found


def _bounds(rates: FlowRates) -> Bounds:
    return Bounds(min(LEAST_FPS, rates.total_fps), rates.total_fps)


def _max_time_s(asked: Converge) -> float | None:
    return None if asked.max_time_ns is None else asked.max_time_ns / _NS_PER_S


def _check_loss_is_measured(ready: ReadyPlan) -> None:
    for flow in ready.flows:
        if not flow.measured:
            raise PlanError(
                f"--converge loss: {flow.title} is not measured, so that nobody knows its loss; "
                "measure it (metrics: {enable: true} in its plan, --measure of perf)"
            )


def report(found: Found, ready: ReadyPlan, view: View, facts: Mapping[str, Any]) -> int:
    """Print the result, as text or JSON; the exit code. ``facts`` are those of the environment."""
    outcome, result = found.outcome, found.result
    asked = ready.settings.converge
    assert asked is not None
    if ready.settings.json:
        search = search_document(asked, outcome, found.steps)
        if result is None:
            document = {
                "schema": SCHEMA,
                "verdict": verdict_document(Verdict((outcome.reason,))),
                "environment": dict(facts),
            }
        else:
            document = view.document(replace(result, environment=facts))
        print(json.dumps(document | {"search": search}, indent=2), flush=True)
    else:
        print("\n".join(["", *outcome_lines(outcome), ""]), flush=True)
        if result is not None:
            print(view.summary(result), flush=True)
    return ending_code(outcome.reason if outcome.ended is Ended.DIED else None, None)
