# SPDX-License-Identifier: BSD-3-Clause
"""The sweep of `wirerate rss`: measure every cell, show it as it is done, report all of them."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from wirerate.cli.engine_session import ending_code, notices, stopping, warn
from wirerate.cli.report import write_csv, write_report
from wirerate.errors import ExitCode
from wirerate.host.environment import environment
from wirerate.methods.rss_figures import CellFigures, fits, with_speed_ups
from wirerate.methods.rss_placement import placement_document
from wirerate.methods.rss_resume import append, begin, read_done
from wirerate.methods.rss_sweep import Sweep, cells_of
from wirerate.report.parts_json import verdict_document
from wirerate.report.parts_text import time_text
from wirerate.report.rss_csv import csv_text
from wirerate.report.rss_setup_text import setup_text
from wirerate.report.rss_sweep_text import progress, tables
from wirerate.session.engine_start import warn_of_shared
from wirerate.trial.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirerate.methods.rss_figures import Cell
    from wirerate.methods.rss_placement import Placement
    from wirerate.methods.rss_settings import SweepSettings

SCHEMA = "wirerate-rss/1"


@dataclass(frozen=True)
class Outputs:
    """Where results go besides standard output; None: nowhere."""

    json: bool
    csv: Path | None
    resume: Path | None
    report: Path | None
    plots: Path | None


class _Stopper:
    """Ctrl-C, as something to ask."""

    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        """Ask for an early, orderly end."""
        self.stopped = True


def run_sweep(settings: SweepSettings, outputs: Outputs) -> int:
    """Sweep and report; 0 when all cells were measured, 1 when one failed, 130 after Ctrl-C.

    Raises WirerateError for what keeps the sweep from starting.
    """
    started = datetime.now(timezone.utc)
    cells = cells_of(settings)
    done = _begun(settings, outputs)
    left = [cell for cell in cells if cell not in done]
    warn_of_shared(settings.lcores, notices(verbose=False))
    stopper = _Stopper()
    with stopping(stopper), Sweep(settings, lambda: stopper.stopped) as sweep:
        sweep.prepare()
        placements = [sweep.placements[queues] for queues in settings.queues]
        if not outputs.json:
            print(setup_text(settings, placements, len(cells), len(done)), flush=True)
        _measure(settings, sweep, outputs, left, done)
        about = sweep.about
    facts = environment(about.get("dpdk", ""), started)
    figures = with_speed_ups([done[cell] for cell in cells if cell in done])
    document = _document(
        settings, placements, _verdict(cells, figures, sweep.deaths), figures, facts
    )
    _write(document, outputs)
    if sweep.deaths:
        return ending_code(sweep.deaths[0], None)
    if stopper.stopped:
        return ExitCode.INTERRUPTED
    failed = any(not one.ok for one in done.values())
    return ExitCode.CRITERION_FAILED if failed else ExitCode.PASS


def _begun(settings: SweepSettings, outputs: Outputs) -> dict[Cell, CellFigures]:
    if outputs.resume is None:
        return {}
    done = read_done(outputs.resume, settings.document())
    begin(outputs.resume, settings.document(), done)
    return done


def _measure(
    settings: SweepSettings,
    sweep: Sweep,
    outputs: Outputs,
    left: list[Cell],
    done: dict[Cell, CellFigures],
) -> None:
    """Measure what is left; ``done`` grows."""
    began = time.monotonic()
    for number, figures in enumerate(sweep.run(left), start=1):
        done[figures.cell] = figures
        if outputs.resume is not None:
            append(outputs.resume, figures)
        if not outputs.json:
            each = (time.monotonic() - began) / number
            text = time_text(each * (len(left) - number))
            place = len(done)
            total = len(left) + len(done) - number
            said = progress(figures.document(), place, total, text, elsewhere=settings.foreign)
            print(said, flush=True)


def _document(
    settings: SweepSettings,
    placements: list[Placement],
    verdict: Verdict,
    figures: list[CellFigures],
    facts: dict[str, Any],
) -> dict[str, Any]:
    """The JSON document; nothing is fitted where the forwarder's CPU is not known."""
    return {
        "schema": SCHEMA,
        "verdict": verdict_document(verdict),
        "environment": facts,
        "settings": settings.document(),
        "rss": placement_document(settings, placements, figures),
        "cells": [one.document() for one in figures],
        "fits": [] if settings.foreign else [asdict(fit) for fit in fits(figures)],
    }


def _verdict(cells: list[Cell], figures: list[CellFigures], deaths: list[str]) -> Verdict:
    reasons = [f"{death}: what it had counted is not to be trusted" for death in deaths]
    reasons += [
        f"{one.cell.queues} queues, work {one.cell.work or 'none'}, {one.cell.size} octets: "
        f"{one.reason}"
        for one in figures
        if not one.ok
    ]
    if len(figures) < len(cells):
        reasons.append(f"stopped after {len(figures)} of {len(cells)} cells")
    shared = sorted({one.cell.queues for one in figures if one.shared_cores})
    notes = [
        f"with {queues} queues lcores shared CPUs: those cells say nothing about scaling"
        for queues in shared
    ]
    return Verdict(tuple(reasons), tuple(notes))


def _write(document: dict[str, Any], outputs: Outputs) -> None:
    if outputs.json:
        print(json.dumps(document, indent=2), flush=True)
    else:
        print()
        print(tables(document))
        verdict = document["verdict"]
        print(f"Verdict: {'valid' if verdict['valid'] else 'invalid'}")
        for reason in verdict["reasons"]:
            print(f"  - {reason}")
        for note in verdict["notes"]:
            print(f"  note: {note}")
    if outputs.csv is not None:
        write_csv(csv_text(document), outputs.csv)
    if document["cells"]:
        write_report(document, outputs.report, outputs.plots)
    elif outputs.report is not None or outputs.plots is not None:
        warn("no cell was measured, so there is no report")
