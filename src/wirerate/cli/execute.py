# SPDX-License-Identifier: BSD-3-Clause
"""Show a session on the terminal: of `run`, `perf`, `flows` and `replay`.

What happens is `wirerate.session`'s; what is shown is the View's. A session is half of all modules:
they are imported when there is something to run, not for --help or a mistake in a plan.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from wirerate.cli.engine_session import ending_code, notices, stopping
from wirerate.errors import HostSetupError
from wirerate.report.screen import open_screen
from wirerate.report.view import Setup
from wirerate.units import format_duration_ns

if TYPE_CHECKING:
    from pathlib import Path

    from wirerate.plan.model import Plan
    from wirerate.plan.run_settings import RunSettings
    from wirerate.report.view import View
    from wirerate.session.result import Result
    from wirerate.session.running import RunningTrial
    from wirerate.session.session import Session


def execute(plan: Plan, settings: RunSettings, view: View) -> int:
    """Run a plan and report; 0 whenever something was measured, 4 when the engine died.

    Raises PlanError, HostSetupError and EngineError for what keeps it from starting.
    """
    from wirerate.session.session import CommandWords, Session  # noqa: PLC0415 -- see above

    started = datetime.now(timezone.utc)
    words = CommandWords(settings, view, notices(verbose=settings.verbose), started)
    session = Session(plan, command=words)
    if not settings.json:
        print(view.setup(Setup.of(session.prepared)), flush=True)
    with session:
        if settings.warm_up_ns:
            _warm_up(session, settings)
        if settings.converge is not None:
            from wirerate.cli.converge import converge  # noqa: PLC0415 -- see above

            return converge(session, settings.converge, view, started)
        trial = session.trial()
        with stopping(trial):
            _watch(trial, view, quiet=settings.json)
            trial.end_engine()
        return _report(trial.result, settings, view, started)


def _warm_up(session: Session, settings: RunSettings) -> None:
    """The same before, which nobody counts."""
    if not settings.json:
        print(f"Warming up for {format_duration_ns(settings.warm_up_ns)}.", flush=True)
    trial = session.uncounted_trial(settings.warm_up_ns)
    with stopping(trial):
        ended = trial.drop()
    if not ended:
        raise KeyboardInterrupt


def _watch(trial: RunningTrial, view: View, *, quiet: bool) -> None:
    """Show progress; a run shorter than a period shows its one block at the end."""
    shown = False
    with open_screen(quiet=quiet) as screen:
        for now in trial:
            screen.show(view.tick(now.ready, now.counts, now.counts_before, now.number))
            shown = True
        if not shown:
            whole = trial.whole
            screen.show(view.tick(whole.ready, whole.counts, None, 0))


def _report(result: Result, settings: RunSettings, view: View, started: datetime) -> int:
    if settings.json:
        print(json.dumps(view.document(result.run), indent=2), flush=True)
    else:
        print(view.summary(result.run), flush=True)
    if settings.histogram is not None:
        _write_histograms(settings.histogram, result, started)
    return ending_code(result.engine_death, result.capture_failure)


def _write_histograms(path: Path, result: Result, started: datetime) -> None:
    # Imported here: hdrhistogram takes longer to load than all the rest.
    from wirerate.report.histogram_log import log_lines  # noqa: PLC0415

    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in log_lines(result.run, started))
    except OSError as error:
        raise HostSetupError(f"--histogram {path}: {error.strerror}") from error
