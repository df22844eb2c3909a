# SPDX-License-Identifier: BSD-3-Clause
"""`python -m lab.lab [JOB…]`: list the lab's jobs, or run some, each in a guest of its own.

Several end in a table, a row for each; "all" stands for every job. Exit codes: 0 all checks passed,
1 a check failed, 2 no such job, 3 the lab, or a job, cannot be had here, 4 a guest hung or died.
With --or-skip, a lab that cannot be had is said and is no failure.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from pathlib import Path

from lab.host.boot import run_job
from lab.host.packages import LabUnavailableError
from lab.host.system import System, prepare
from lab.machine import Machine
from lab.table import INTERRUPTED, NO_SUCH_JOB, UNAVAILABLE, Outcome, selected, table, worst

_ROOT = Path(__file__).resolve().parent.parent
_JOBS = _ROOT / "lab/jobs"
_BUILD = _ROOT / "build/lab"


def listing() -> dict[str, str]:
    """The jobs, and the first line of what each says of itself."""
    jobs = {}
    for path in sorted(_JOBS.glob("*.py")):
        if not path.stem.startswith("_"):
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            jobs[path.stem] = text.partition("\n")[0]
    return jobs


def _machine(job: str) -> Machine:
    machine = importlib.import_module(f"lab.jobs.{job}").MACHINE
    if not isinstance(machine, Machine):
        raise TypeError(f"lab/jobs/{job}.py: MACHINE is no Machine")
    return machine


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make lab JOB=…", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    parser.add_argument(
        "--or-skip", action="store_true", help="a lab that cannot be had here is no failure"
    )
    return parser.parse_args()


def _print_listing(jobs: dict[str, str]) -> None:
    width = max(map(len, jobs))
    for name, text in jobs.items():
        print(f"  {name:{width}}  {text}")
    print("make lab JOB=NAME runs one, JOB='NAME NAME' several, JOB=all every one")


def _run(names: list[str], system: System) -> dict[str, Outcome]:
    """One job after the other; Ctrl-C leaves out the rest."""
    jobs, outcomes = listing(), {}
    try:
        for name in names:
            print(f"lab: {name}: {jobs[name]}", flush=True)
            outcomes[name] = outcome = run_job(name, _machine(name), system, _BUILD / "run")
            code = f" (exit code {outcome.code})" if outcome.code else ""
            print(f"lab: {name}: {outcome.result}{code} after {outcome.seconds:.0f} s", flush=True)
    except KeyboardInterrupt:
        for name in names[len(outcomes) :]:
            outcomes[name] = Outcome(INTERRUPTED, reason="ended by Ctrl-C")
    return outcomes


def main() -> int:
    """List or run; returns the exit code."""
    asked = _arguments()
    jobs = listing()
    if not asked.jobs:
        _print_listing(jobs)
        return 0
    try:
        names = selected(asked.jobs, jobs)
    except LookupError as error:
        print(f"lab: {error.args[0]}", file=sys.stderr)
        return NO_SUCH_JOB
    try:
        system = prepare(_BUILD)
    except LabUnavailableError as error:
        if asked.or_skip:
            print(f"lab: SKIPPED, there can be no lab here: {error}")
            return 0
        print(f"lab: there can be no lab here: {error}", file=sys.stderr)
        return UNAVAILABLE
    outcomes = _run(names, system)
    if len(outcomes) > 1:
        print(table(outcomes))
    return worst(outcomes.values())


if __name__ == "__main__":
    sys.exit(main())
