# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate run`: read a plan, run it, show each flow and each port."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.cli import run_args
from wirerate.cli.capture_args import capture_words, with_captures
from wirerate.cli.common_args import plan_text
from wirerate.cli.execute import execute
from wirerate.errors import ExitCode
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import load_document
from wirerate.plan.titles import PlanTitles
from wirerate.report import run_json, run_text

if TYPE_CHECKING:
    import argparse

    from wirerate.report.view import Setup
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult
    from wirerate.trial.snapshot import Snapshot


def add_parser(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command and what it runs."""
    parser = run_args.add_parser(subparsers)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Run the plan and report; see `wirerate.cli.execute`."""
    base = Path.cwd() if args.plan == "-" else Path(args.plan).absolute().parent
    document = load_document(Path(args.plan))
    plan = decode_plan(document, base=base)
    settings = run_args.settings_from_args(args, len(plan.ports))
    if args.show_plan:
        whole = _traces_absolute(document, base)
        sys.stdout.write(plan_text(whole, args, settings.eal, more=capture_words(args)))
        return ExitCode.PASS
    return execute(with_captures(plan, args), settings, RunView())


def _traces_absolute(document: dict[str, Any], base: Path) -> dict[str, Any]:
    """The document with whole paths of traces, so that it means the same wherever it is put."""
    for flow in document.get("flows") or []:
        trace = (flow.get("x-wirerate") or {}).get("trace")
        if trace:
            trace["file"] = str(base / trace["file"])
    return document


class RunView(PlanTitles):
    """What `wirerate run` shows: flows and ports by the plan's names."""

    def setup(self, setup: Setup) -> str:
        """Ports, lcore map, memory."""
        return run_text.setup_text(setup)

    def tick(self, ready: ReadyPlan, now: Snapshot, before: Snapshot | None, number: int) -> str:
        """A row per flow and per port."""
        del number
        return run_text.table(ready, now, before)

    def summary(self, result: RunResult) -> str:
        """All flows and ports, and the verdict."""
        return run_text.summary(result)

    def document(self, result: RunResult) -> dict[str, Any]:
        """Schema wirerate-run/1."""
        return run_json.document(result)
