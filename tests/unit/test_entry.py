# SPDX-License-Identifier: BSD-3-Clause
"""How the program begins and ends: Ctrl-C while it is imported, output that cannot be written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wirerate.cli import main as main_module
from wirerate.cli.main import main

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
INTERRUPT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *rest):
        if name == {when!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv = ["wirerate", "doctor"]
from wirerate.__main__ import main
sys.exit(main())
"""
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


def run(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **environment):
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONUNBUFFERED": "", **environment},
        stdout=stdout,
        stderr=stderr,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("when", ["wirerate.cli.main", "wirerate.errors", "wirerate.cli.doctor"])
def test_ctrl_c_while_modules_are_imported_is_quiet(when):
    done = run("-c", INTERRUPT.format(when=when))
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_nothing_slow_is_imported_before_that():
    code = "import sys, signal; before = set(sys.modules); import wirerate.__main__; "
    code += "print(*sorted(set(sys.modules) - before))"
    assert run("-c", code).stdout.split() == ["wirerate", "wirerate.__main__"]


def test_the_program_begins_there():
    assert 'wirerate = "wirerate.__main__:main"' in PYPROJECT.read_text()
    for module in ("wirerate", "wirerate.cli.main"):
        done = run("-m", module, "--version")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("wirerate ")


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["perf", "ring:x", "--show-plan"], ["doctor"]])
def test_standard_output_that_is_full(words, unbuffered):
    with FULL.open("w") as full:
        done = run("-m", "wirerate", *words, stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert done.stderr == "wirerate: error: standard output: No space left on device\n"
    assert done.returncode == 3


@needs_full
def test_standard_error_that_is_full():
    with FULL.open("w") as full:
        done = run("-m", "wirerate", "perform", stderr=full)
    assert (done.returncode, done.stdout) == (2, "")


def test_standard_output_that_is_closed():
    close = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    done = run("-c", close, sys.executable, "-m", "wirerate", "doctor")
    assert done.stderr.startswith("wirerate: error: standard output is closed; ")
    assert done.stderr.count("\n") == 1
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (PermissionError(13, "Permission denied", "/a/b"), "/a/b: Permission denied\n"),
        (OSError(24, "Too many open files"), "Too many open files; run it again with --debug"),
    ],
)
def test_what_the_system_refuses_is_one_line(monkeypatch, capsys, error, says):
    def fail(_arguments):
        raise error

    monkeypatch.setattr(main_module, "_run", fail)
    stdout = sys.stdout
    assert main(["doctor"]) == 3
    assert sys.stdout is stdout
    err = capsys.readouterr().err
    assert err.startswith(f"wirerate: error: {says}")
    assert err.count("\n") == 1


def test_ctrl_c_is_as_it_was_afterwards():
    before = signal.getsignal(signal.SIGINT)
    assert main(["--version"]) == 0
    assert main(["perf", "ring:x", "--show-plan"]) == 0
    assert signal.getsignal(signal.SIGINT) is before
