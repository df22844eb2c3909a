# SPDX-License-Identifier: BSD-3-Clause
"""Search for a rate with a session's engine: measure step after step, confirm, say what was found.

Which search, and how it measures, is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wirerate.errors import PlanError, WirerateError
from wirerate.plan.converge_settings import (
    INTERVAL_DEFAULT_NS,
    TRIAL_DEFAULT_NS,
    ConvergeTo,
)
from wirerate.search.converge_cpu import converge_cpu
from wirerate.search.converge_loss import converge_loss
from wirerate.search.drive import run_search
from wirerate.search.step import Bounds, Ended, MeasuringStoppedError, Outcome
from wirerate.trial.flow_rates import FlowRates
from wirerate.trial.search_trial import LiveMeasurer, TrialMeasurer
from wirerate.trial.verdict import death_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirerate.plan.converge_settings import Converge
    from wirerate.search.step import Progress
    from wirerate.session.engine_room import EngineRoom
    from wirerate.session.open_ports import OpenPlan
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult

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


class RateSearch:
    """A search that can be stopped from a signal handler or another thread."""

    def __init__(
        self, room: EngineRoom, opened: OpenPlan, asked: Converge, duration_ns: int | None
    ) -> None:
        """Raise PlanError where flows have no rate to change, or loss is sought and not measured.

        ``duration_ns`` is that of each trial or interval, None = the default.
        """
        self._room = room
        self._opened = opened
        self._asked = asked
        self._duration_ns = duration_ns
        self._rates = FlowRates.of(opened.ready, opened.program)
        self._measurer: TrialMeasurer | LiveMeasurer | None = None
        self._stopped = False
        if asked.to is ConvergeTo.LOSS:
            _check_loss_is_measured(opened.ready)

    def stop(self) -> None:
        """Take no more steps; what was found until then is kept."""
        self._stopped = True
        if self._measurer is not None:
            self._measurer.stop()

    def run(self, show: Callable[[Progress], None]) -> Found:
        """Search, and ``show`` each step."""
        steps: list[Progress] = []

        def note(progress: Progress) -> None:
            steps.append(progress)
            show(progress)

        lease = self._room.take("a search", self.stop)
        try:
            with lease.using(harmless=WirerateError):
                if self._asked.to is ConvergeTo.LOSS:
                    outcome, result = self._converge_loss(note)
                else:
                    outcome, result = self._converge_cpu(note)
        finally:
            lease.give_back()
        if outcome.ended is Ended.DIED:
            lease.give_back(outcome.reason)
        return Found(outcome, steps, result)

    def end_engine(self, found: Found) -> None:
        """End the engine: that it dies of it belongs to what was found."""
        found.note_death(self._room.end())

    def _converge_loss(self, show: Callable[[Progress], None]) -> tuple[Outcome, RunResult | None]:
        measurer = TrialMeasurer(
            self._opened.load, self._rates, self._duration_ns or TRIAL_DEFAULT_NS
        )
        bounds = _bounds(self._rates)
        search = converge_loss(measurer, bounds, self._asked.tolerance, self._asked.max_loss)
        self._begin(measurer)
        outcome = run_search(search, show, _max_time_s(self._asked))
        result = None if outcome.fps is None else measurer.results.get(outcome.fps)
        return outcome, result

    def _converge_cpu(self, show: Callable[[Progress], None]) -> tuple[Outcome, RunResult | None]:
        asked, rates, load = self._asked, self._rates, self._opened.load
        live = LiveMeasurer(load, rates, (self._duration_ns or INTERVAL_DEFAULT_NS) / _NS_PER_S)
        senders = {lcore for port in rates.ready.ports for lcore in port.tx_lcores}
        search = converge_cpu(
            live, len(senders), _bounds(rates), asked.tolerance, follow=asked.follow
        )
        self._begin(live)
        outcome = run_search(search, show, _max_time_s(asked))
        live.close()
        if outcome.fps is None or outcome.ended in {Ended.DIED, Ended.INTERRUPTED}:
            return outcome, None
        trial_ns = self._duration_ns or TRIAL_DEFAULT_NS
        last = TrialMeasurer(load, rates, trial_ns, whole_bursts=True, grown=True)
        self._begin(last)
        try:
            _, result = last.run(outcome.fps)
        except MeasuringStoppedError as stop:
            return Outcome(stop.ended, str(stop), outcome.fps, outcome.step, outcome.bounds), None
        return outcome, result

    def _begin(self, measurer: TrialMeasurer | LiveMeasurer) -> None:
        """Measure with it from now on."""
        self._measurer = measurer
        if self._stopped:
            measurer.stop()


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
