# SPDX-License-Identifier: BSD-3-Clause
"""`python -m lab.guest.main JOB FILE`, run by the guest's first process: the job, a closing line.

Exit code 0 when checks were made and all held, else 1. A job that breaks off has failed. The checks
are counted in FILE, too, for the host's table, and the seconds by the guest's clock.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
from pathlib import Path

from lab.guest.guest import Guest


def main() -> int:
    """Run the job; returns the exit code."""
    name, counted = sys.argv[1:]
    started = time.monotonic()
    job = importlib.import_module(f"lab.jobs.{name}")
    guest = Guest(job.MACHINE)
    checks = guest.checks
    try:
        guest.set_up()
        job.run(guest)
    except Exception:  # noqa: BLE001 whatever it is, it is the result
        checks.that(condition=False, text="the job ran to its end", seen=traceback.format_exc())
    if checks.made == 0:
        print("FAIL the job made no check")
    took = time.monotonic() - started
    print(f"{name}: {checks.made} checks, {checks.failed} failed, {took:.0f} s in the guest")
    found = {"made": checks.made, "failures": checks.failures, "seconds": took}
    Path(counted).write_text(json.dumps(found))
    return 1 if checks.failed or not checks.made else 0


if __name__ == "__main__":
    sys.exit(main())
