# SPDX-License-Identifier: BSD-3-Clause
"""What searches measure with: a trial for each step, or one trial whose rate is changed.

`TrialMeasurer` counts loss exactly: each step is loaded, sent, left to settle and unloaded.
`LiveMeasurer` looks at counters while frames move, which is enough for utilisation. Both are the
``measure`` of a search (wirerate.search), and may be told to stop from a signal handler.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError
from wirerate.search.step import Ended, MeasuringStoppedError, Step
from wirerate.trial.live_step import live_step
from wirerate.trial.run_result import run_result
from wirerate.trial.snapshot import take
from wirerate.trial.utilisation import utilisation
from wirerate.trial.verdict import not_offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirerate.trial.flow_rates import FlowRates
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult
    from wirerate.trial.snapshot import Snapshot
    from wirerate.trial.trial import Trial

    Load = Callable[[dict[str, Any], ReadyPlan, int | None], Trial]
    """Loads a program and makes a trial of it, which lasts so long [ns]."""

_NS_PER_S = 1_000_000_000
_TAKE_EFFECT_S = 0.05
"""A changed rate holds after 1 ms; what was late of the one before is then sent or given up."""
STOPPED = "stopped by the user"


class TrialMeasurer:
    """Measures each step by a trial of ``trial_ns``.

    ``results`` has what the last trial at each rate came to. Ramps of flows grow in the first
    trial, unless they have ``grown`` already, and begin with all of their flows in later ones.
    """

    def __init__(
        self,
        load: Load,
        rates: FlowRates,
        trial_ns: int,
        *,
        whole_bursts: bool = False,
        grown: bool = False,
    ) -> None:
        self._grown = grown
        self.results: dict[float, RunResult] = {}
        self._load = load
        self._rates = rates
        self._trial_ns = trial_ns
        self._whole_bursts = whole_bursts
        self._trial: Trial | None = None
        self._stopped = False

    def stop(self) -> None:
        """Let there be no more steps; what is being measured is not used."""
        self._stopped = True
        if self._trial is not None:
            self._trial.stop()

    def __call__(self, fps: float) -> Step:
        """Measure at a rate [fps]; see wirerate.search.step.Measure."""
        trial, result = self.run(fps)
        lacking = not_offered(result.flows)
        reasons = tuple(r for r in result.verdict.reasons if r not in lacking)
        offered = sum(flow.offered_fps for flow in result.flows)
        if math.isinf(fps):
            self.results[offered] = result
        assert trial.began is not None, "it has been sent"
        assert trial.sent is not None
        return Step(
            intended_fps=fps,
            offered_fps=offered,
            loss_ratio=None if result.total is None else result.total.loss_ratio,
            utilisation=utilisation(trial.began, trial.sent).sending,
            valid=not reasons,
            reasons=reasons,
            offered=not lacking,
        )

    def run(self, fps: float) -> tuple[Trial, RunResult]:
        """One trial at a rate; raises MeasuringStoppedError when it did not come to its end."""
        program = self._rates.program_at(fps, whole_bursts=self._whole_bursts, grown=self._grown)
        ready = self._rates.ready_at(fps)
        self._check_stopped()
        self._trial = trial = self._load(program, ready, self._trial_ns)
        if self._stopped:
            trial.stop()
        for _ in trial.watch():
            pass
        if trial.death is not None:
            raise MeasuringStoppedError(Ended.DIED, trial.death)
        self._check_stopped()
        self._grown = True
        result = run_result(trial, ready, {})
        self.results[fps] = result
        return trial, result

    def _check_stopped(self) -> None:
        if self._stopped:
            raise MeasuringStoppedError(Ended.INTERRUPTED, STOPPED)


class LiveMeasurer:
    """Measures each step over ``interval_s`` [s] of one trial, which begins with the first step.

    Whole bursts are sent, so that the time spent on a frame does not depend on the rate. Rates have
    to be finite. `close` ends the trial.
    """

    def __init__(self, load: Load, rates: FlowRates, interval_s: float) -> None:
        self._load = load
        self._rates = rates
        self._interval_s = interval_s
        self._trial: Trial | None = None
        self._looks: Iterator[Snapshot] = iter(())
        self._stopped = False

    def stop(self) -> None:
        """Let there be no more steps; what is being measured is not used."""
        self._stopped = True
        if self._trial is not None:
            self._trial.stop()

    def __call__(self, fps: float) -> Step:
        """Measure at a rate [fps]; see wirerate.search.step.Measure."""
        if self._stopped:
            raise MeasuringStoppedError(Ended.INTERRUPTED, STOPPED)
        trial = self._trial
        if trial is None:
            trial = self._begin(fps)
        else:
            self._set_rates(trial, fps)
        time.sleep(_TAKE_EFFECT_S)
        before = after = take(trial.counters)
        while after.seconds_since(before) < self._interval_s / 2:  # looks that come late come close
            after = self._look(trial)
        return live_step(before, after, self._rates.ready_at(fps), fps)

    def close(self) -> None:
        """End the trial, if it has begun."""
        if self._trial is not None:
            self._trial.stop()
            for _ in self._looks:
                pass

    def _begin(self, fps: float) -> Trial:
        program = self._rates.program_at(fps, whole_bursts=True, grown=False)
        trial = self._load(program, self._rates.ready_at(fps), None)
        trial.period_s = self._interval_s
        self._trial, self._looks = trial, trial.watch()
        if self._stopped:
            trial.stop()
        self._look(trial)
        return trial

    def _set_rates(self, trial: Trial, fps: float) -> None:
        flows = self._rates.ready.flows
        try:
            for flow, rate in zip(flows, self._rates.at(fps), strict=True):
                assert rate is not None, "a live rate is finite"
                trial.engine.set_rate(flow.name, rate)
        except EngineDiedError as error:
            raise MeasuringStoppedError(Ended.DIED, str(error)) from error

    def _look(self, trial: Trial) -> Snapshot:
        look = next(self._looks, None)
        if trial.death is not None:
            raise MeasuringStoppedError(Ended.DIED, trial.death)
        if look is None or self._stopped:
            raise MeasuringStoppedError(Ended.INTERRUPTED, STOPPED)
        return look
