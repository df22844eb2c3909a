# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are run beside a measurement: what they are told and tell, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.program import gone, wait_for
from wirerate.errors import HostSetupError
from wirerate.host.children import child

PATIENCE_S = 30.0


def test_it_is_given_and_tells():
    with child(["sh", "-c", "cat; echo oh >&2; echo no >&2"], given="hello") as running:
        assert running.wait(PATIENCE_S, lambda: None)
        assert running.output() == "hello"
        assert running.complaint() == "oh no"


def test_whoever_waits_can_give_up_and_it_ends():
    def tick():
        raise InterruptedError

    with child(["sleep", "600"]) as running:
        assert not running.wait(0.0, lambda: None)
        with pytest.raises(InterruptedError):
            running.wait(PATIENCE_S, tick)
    assert gone(running.pid)


def test_interrupted_it_can_sum_up():
    words = ["sh", "-c", "trap 'echo sum; exit' INT; echo ready; while :; do sleep 0.01; done"]
    with child(words) as running:
        wait_for("the trap", running.output)
        running.interrupt()
        assert running.wait(PATIENCE_S, lambda: None)
        assert running.output() == "ready\nsum\n"


def test_it_dies_with_its_parent():
    code = (
        "import time; from wirerate.host.children import child\n"
        "with child(['sleep', '600']) as running: print(running.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        line = Path(f"/proc/{pid}/cmdline")
        wait_for("the program itself", lambda: line.read_bytes().startswith(b"sleep"))
        parent.send_signal(signal.SIGKILL)
    wait_for("the end of the child", lambda: gone(pid))


def test_a_program_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setitem(os.environ, "PATH", "/nowhere")
    with pytest.raises(HostSetupError, match="cannot be started"), child(["sleep", "600"]):
        pass
