# SPDX-License-Identifier: BSD-3-Clause
"""The program `wirerate`: run it, start it, read its result, and see what it has left behind.

Every test gets run directories of its own, so that what it leaves can be told from what other runs
on this machine are using.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.verdicts import only_for_want_of_cpu
from wirerate.engine.counters import Counters
from wirerate.errors import EngineStartError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COMMAND = (sys.executable, "-m", "wirerate.cli.main")
_HUGEPAGES = Path("/dev/hugepages")
_TRIES = 3
_TIMEOUT_S = 60.0


# Shells without job control start what runs in the background with SIGINT ignored, nohup with
# SIGHUP, and programs inherit that: tests of these signals would wait for good. A handler is not
# inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


@dataclass(frozen=True)
class Run:
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as one JSON document."""
        result: dict[str, Any] = json.loads(self.out)
        return result

    def refused(self, *parts: str, code: int = 2) -> None:
        """Exactly one line on stderr, with these parts in it, and this exit code."""
        assert self.code == code, f"exit code {self.code}: {self.err}"
        lines = self.err.splitlines()
        assert len(lines) == 1, f"not one line: {self.err!r}"
        assert lines[0].startswith("wirerate: error: "), self.err
        assert "Traceback" not in self.out + self.err
        for part in parts:
            assert part in lines[0], f"{part!r} is not in {lines[0]!r}"


def wait_for(what: str, check: Callable[[], Any], timeout_s: float = 60.0) -> Any:
    """Poll until check returns something true, and return that; fail naming what was awaited."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = check()
        if found:
            return found
        time.sleep(0.01)
    text = f"waited {timeout_s:.0f} s in vain for {what}"
    raise AssertionError(text)


def processes_naming(text: str) -> list[int]:
    """Live processes whose command line contains text."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            line = (directory / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in line and int(directory.name) != os.getpid():
            found.append(int(directory.name))
    return found


def gone(pid: int) -> bool:
    """The process has ended, be it that its parent has not noticed yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state in "ZX"


def _hugepage_files() -> set[Path]:
    return set(_HUGEPAGES.glob("wr-*")) if os.access(_HUGEPAGES, os.R_OK) else set()


def _all_begun(directory: Path) -> bool:
    """A program is loaded, and all of its workers poll."""
    try:
        workers = Counters(max(directory.glob("counters-*"))).of_kind("worker")
    except (EngineStartError, OSError, ValueError):
        return False  # not yet, or not yet whole
    return all(worker["began_ns"] > 0 for worker in workers)


def _mapped() -> str:
    """What all processes that may be looked into have mapped."""
    found = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            found.append(maps.read_text())
    return "".join(found)


class Running:
    """A run in progress."""

    def __init__(self, process: subprocess.Popen[str], program: Program) -> None:
        self._process = process
        self._program = program

    @property
    def pid(self) -> int:
        return self._process.pid

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def finish(self, timeout_s: float = _TIMEOUT_S) -> Run:
        """Wait for the end."""
        out, err = self._process.communicate(timeout=timeout_s)
        return Run(self._process.returncode, out, err)

    def over(self) -> bool:
        return self._process.poll() is not None

    def engine_pid(self) -> int:
        """The engine's process, once it is there."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        children: list[str] = wait_for("the engine", lambda: path.read_text().split())
        return int(children[0])

    def directory(self) -> Path:
        """The run directory; the sandbox's only one."""
        directories: list[Path] = wait_for("a run directory", self._program.run_directories)
        return directories[0]

    def sending(self) -> Path:
        """Wait until all workers of a program have begun; the run directory."""
        directory = self.directory()
        wait_for("its workers", lambda: self.over() or _all_begun(directory))
        time.sleep(0.3)
        return directory

    def end(self) -> None:
        """Make sure that nothing runs any more, whatever the test did."""
        if not self.over():
            self._process.terminate()
        try:
            self._process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


@dataclass
class Program:
    """`wirerate` with run directories below ``root``, unless in ``usual_places``.

    ``prefix`` goes before every command.
    """

    root: Path
    prefix: tuple[str, ...] = ()
    command: tuple[str, ...] = COMMAND
    environment: dict[str, str] = field(default_factory=dict)
    usual_places: bool = False
    _hugepages_before: set[Path] = field(default_factory=_hugepage_files)

    @property
    def runs(self) -> Path:
        """Where run directories of this process's user are made."""
        return self.root / "run" / f"wirerate-{os.geteuid()}"

    def environ(self) -> dict[str, str]:
        ours = {"WIRERATE_RUNTIME_DIR": str(self.root / "run"), "RUNTIME_DIRECTORY": str(self.root)}
        outer = {name: value for name, value in os.environ.items() if name not in ours}
        return {**outer, **({} if self.usual_places else ours), **self.environment}

    def words(self, arguments: Sequence[str]) -> list[str]:
        return [*self.prefix, *self.command, *arguments]

    def run(self, *arguments: str, timeout_s: float = _TIMEOUT_S) -> Run:
        """Run to the end."""
        done = subprocess.run(
            self.words(arguments),
            env=self.environ(),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    @contextlib.contextmanager
    def start(self, *arguments: str) -> Iterator[Running]:
        """Start, and at the end of the block make sure that it is gone."""
        process = subprocess.Popen(
            self.words(arguments),
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running = Running(process, self)
        try:
            yield running
        finally:
            running.end()

    def measure(self, *arguments: str) -> dict[str, Any]:
        """`wirerate perf … --json`, valid or not; the document."""
        done = self.run("perf", *arguments, "--json")
        assert (done.code, done.err) == (0, ""), f"exit code {done.code}: {done.err}"
        return done.document

    def valid(self, *arguments: str) -> dict[str, Any]:
        """Like measure, and nothing speaks against it: for runs without a rate.

        Nothing is due at any time in these: on a busy machine lcores lose their CPUs, but no count
        suffers.
        """
        document = self.measure(*arguments)
        assert only_for_want_of_cpu(document["verdict"])
        return document

    def paced(self, *arguments: str) -> dict[str, Any]:
        """Like measure, and valid if this machine lets it: it is tried three times."""
        for _ in range(_TRIES):
            document = self.measure(*arguments)
            verdict = document["verdict"]
            if verdict["valid"]:
                break
            assert only_for_want_of_cpu(verdict)
        return document

    def run_directories(self) -> list[Path]:
        return sorted((self.root / "run").glob("wirerate-*/wr-*"))

    def leftovers(self) -> list[str]:
        """Processes, run directories, DPDK's runtime files and hugepage files of ended runs."""
        left = [f"process {pid}" for pid in processes_naming(str(self.root)) if not gone(pid)]
        left += [str(path) for path in self.run_directories()]
        left += [str(path) for path in (self.root / "dpdk").glob("*")]
        new = _hugepage_files() - self._hugepages_before
        in_use = _mapped() if new else ""  # by another run on this machine
        return left + [str(path) for path in new if str(path) not in in_use]


@contextlib.contextmanager
def sandbox() -> Iterator[Program]:
    """A program with fresh run directories on tmpfs; fails when anything is left in them."""
    root = Path(tempfile.mkdtemp(prefix="wr-test-", dir="/dev/shm"))
    program = Program(root)
    try:
        yield program
        if program.leftovers():
            time.sleep(1)  # a run of somebody else's may have been about to end
        left = program.leftovers()
        assert not left, f"left behind: {left}"
    finally:
        for pid in processes_naming(str(root)):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(root, ignore_errors=True)


def port(document: dict[str, Any], index: int = 0) -> dict[str, Any]:
    """A port's part of the document."""
    found: dict[str, Any] = document["ports"][index]
    return found


def adds_up(figures: dict[str, Any]) -> None:
    """Sum of queues = port = the device's own counters, in frames and octets."""
    for way, own in (("tx", "opackets"), ("rx", "ipackets")):
        frames = sum(queue["frames"] for queue in figures[f"{way}_queues"])
        octets = sum(queue["octets"] for queue in figures[f"{way}_queues"])
        assert frames == figures[f"{way}_frames"] == figures["device"][own], way
        assert octets == figures[f"{way}_octets"], way
        assert octets == frames * figures["frame_size_octets"], way
