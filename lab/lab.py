# SPDX-License-Identifier: BSD-3-Clause
"""`python -m lab.lab [JOB…]`: list the lab's jobs, or run some, each in a guest of its own.

Exit codes: 0 all checks passed, 1 a check failed, 2 no such job, 3 the lab cannot be had here, 4 a
guest hung or died. With --or-skip, a lab that cannot be had is said and is no failure.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
import time
from pathlib import Path

from lab.host.boot import run_job
from lab.host.packages import LabUnavailableError
from lab.host.system import prepare
from lab.machine import Machine

_ROOT = Path(__file__).resolve().parent.parent
_JOBS = _ROOT / "lab/jobs"
_BUILD = _ROOT / "build/lab"
_UNAVAILABLE = 3


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
    print("make lab JOB=NAME runs one, JOB='NAME NAME' several")


def main() -> int:
    """List or run; returns the exit code."""
    asked = _arguments()
    jobs = listing()
    if not asked.jobs:
        _print_listing(jobs)
        return 0
    unknown = [name for name in asked.jobs if name not in jobs]
    if unknown:
        print(f"lab: no job {unknown[0]}; there are {', '.join(jobs)}", file=sys.stderr)
        return 2
    try:
        system = prepare(_BUILD)
    except LabUnavailableError as error:
        if asked.or_skip:
            print(f"lab: SKIPPED, there can be no lab here: {error}")
            return 0
        print(f"lab: there can be no lab here: {error}", file=sys.stderr)
        return _UNAVAILABLE
    worst = 0
    for name in asked.jobs:
        print(f"lab: {name}: {jobs[name]}", flush=True)
        started = time.monotonic()
        code = run_job(name, _machine(name), system, _BUILD / "run")
        verdict = "passed" if code == 0 else f"failed (exit code {code})"
        print(f"lab: {name}: {verdict} after {time.monotonic() - started:.0f} s", flush=True)
        worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main())
