# SPDX-License-Identifier: BSD-3-Clause
"""examples/test_dut: the suite that a network team would copy passes against a forwarder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wirerate
from support.verdicts import may_want_cpu

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "test_dut"


def run_suite(tmp_path, *words):
    """A copy of it, as a team would have one; how it ended, and all that it printed."""
    copy = tmp_path / "test_dut"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(copy), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "COLUMNS": "2000"},  # what failed, and why, in one line
        check=False,
    )
    print(done.stdout)
    return done


def failures(text):
    """What failed, in pytest's summary, but for measurements that a busy machine spoilt."""
    lines = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return [line for line in lines if not ("invalid measurements" in line and may_want_cpu(line))]


def test_it_passes_against_a_forwarder(tmp_path):
    done = run_suite(tmp_path)
    assert done.returncode in {0, 1}
    assert failures(done.stdout) == []
    assert "4 passed" in done.stdout or "invalid measurements" in done.stdout


@pytest.mark.slow
def test_it_fails_with_a_device_that_loses_frames(tmp_path):
    west, east = f"memif:{tmp_path}/west.sock", f"memif:{tmp_path}/east.sock"
    words = ("--port-a", west, "--port-b", east, "-k", "lost")
    with wirerate.forward(f"{west},role=server", f"{east},role=server", drop=0.5) as dut:
        done = run_suite(tmp_path, *words)
        assert dut.result().dropped > 0
    assert done.returncode == 1
    assert all("assert " in line for line in failures(done.stdout))
