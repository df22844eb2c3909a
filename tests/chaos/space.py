# SPDX-License-Identifier: BSD-3-Clause
"""Starts `inside.py` in namespaces that end with it; asks it for trials."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parent.parent
_UNSHARE = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")


def missing() -> str | None:
    """Why there can be no trial here; None where there can."""
    if os.geteuid() != 0:
        return "needs root, for namespaces with wires and mounts"
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "needs unshare (util-linux) and ip (iproute2)"
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two CPUs: one for the worker, one for the witness"
    return None


class Space:
    """Namespaces with a process that runs one trial after the other."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(_TESTS), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self._process = subprocess.Popen(
            (*_UNSHARE, sys.executable, "-m", "chaos.inside"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def run(self, seed: int, fault: str | None) -> dict[str, Any]:
        """The outcome of a trial. Raises RuntimeError when the process inside has failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"seed": seed, "fault": fault}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            text = f"the harness itself failed at SEED={seed}; its words are above"
            raise RuntimeError(text)
        outcome: dict[str, Any] = json.loads(line)
        return outcome

    def close(self) -> None:
        """End it, and with it all that it has started or made."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)
        self._process.stdout.close()
