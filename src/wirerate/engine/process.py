# SPDX-License-Identifier: BSD-3-Clause
"""The engine as a child process: found, started, watched, ended.

The engine's standard input is a pipe that nobody writes to: when this process dies, whatever the
cause, the pipe closes and the engine stops sending and exits. It runs in a session of its own, so
that Ctrl-C in a terminal reaches this process only, which then ends the trial in good order.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sysconfig
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.engine.client import ControlClient
from wirerate.engine.counters import Counters
from wirerate.engine.lcore_ids import LcoreIds
from wirerate.engine.run_dir import RunDirectory, dpdk_environment
from wirerate.errors import (
    EngineDiedError,
    EngineError,
    EngineRefusedError,
    EngineStartError,
    HostSetupError,
    PlanError,
    WirerateError,
)
from wirerate.interrupts import AT_END, signals_later
from wirerate.plan.eal_args import unknown_options

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType

_ENGINE = "wirerate-engine"
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 30.0
_STUCK_TIMEOUT_S = 3.0
"""An engine that has not answered a call that was given up is not waited for any longer."""
_POLL_S = 0.005
_BAD_COMMAND_LINE = "Invalid 'command line' arguments"
"""What EAL says of an option, whichever it is (lib/eal/linux/eal.c, rte_eal_init)."""
_NOT_LOCKED = "DMA remapping, error 12"
"""What EAL says when vfio may not lock memory (lib/eal/linux/eal_vfio.c); 12 is ENOMEM."""


def find_engine() -> Path:
    """WIRERATE_ENGINE, else the engine installed with this package, else one on PATH."""
    asked = os.environ.get("WIRERATE_ENGINE")
    if asked:
        if os.access(asked, os.X_OK):
            return Path(asked)
        text = f"WIRERATE_ENGINE={asked}: no such program"
        raise HostSetupError(text)
    installed = Path(sysconfig.get_path("scripts")) / _ENGINE
    if installed.exists():
        return installed
    found = shutil.which(_ENGINE)
    if found is None:
        text = f"{_ENGINE} is not installed; `make build` in wirerate's source builds it"
        raise HostSetupError(text)
    return Path(found)


def about_locked_memory(refusal: str, said: str) -> str:
    """The words for a device that DPDK dropped at its start because memory could not be locked.

    ``refusal`` is the engine's, ``said`` its log. Empty where the reason is another one.
    """
    device, found, _ = refusal.partition(" is no device that DPDK may use")
    if not found or _NOT_LOCKED not in said:
        return ""
    return (
        f"{device} cannot be used: this user may not lock the memory that its DMA needs; "
        "`ulimit -l unlimited`, or raise memlock in /etc/security/limits.conf"
    )


_STARTED: weakref.WeakSet[Engine] = weakref.WeakSet()


def kill_engines() -> None:
    """End every engine of this process at once; for signal handlers."""
    for engine in tuple(_STARTED):
        engine.kill()


class Engine:
    """A running engine. Use as a context manager: whatever happens, nothing is left behind.

    Lcores are named by their CPUs here, whatever ids EAL has for them.
    """

    def __init__(
        self,
        eal_arguments: Sequence[str],
        lcores: Collection[int] = (),
        passthrough: Sequence[str] = (),
        memory_node: int | None = None,
        namespace: str | None = None,
        *,
        files: Collection[int] = (),
    ) -> None:
        """Start the engine and wait until it answers.

        ``eal_arguments`` lack ``--file-prefix``: it is the run directory's name. ``lcores`` are
        the ones that will poll, for other runs to know. ``passthrough`` are those of the arguments
        that the user gave. Raises EngineStartError with the engine's own complaint, PlanError where
        EAL refuses its command line and the user gave options that may be why. ``memory_node``: see
        `wirerate.engine.eal.Memory`. ``namespace``: the named network namespace that it runs in,
        None = that of this process; its sockets and files are reached from here all the same.
        ``files``: open ones that it is to have, by the same numbers.
        """
        self._passthrough = passthrough
        self._memory_node = memory_node
        self._namespace = namespace
        self._files = files
        self._lcores = LcoreIds.read(eal_arguments)
        self._process: subprocess.Popen[bytes] | None = None
        self._client: ControlClient | None = None
        self._ending: str | None = None
        with signals_later():
            self._directory = RunDirectory()
            _STARTED.add(self)
            AT_END.add(self.close)
        try:
            self._directory.note_lcores(lcores)
            self._launch(find_engine(), eal_arguments)
            self._connect()
        except BaseException:
            self.close()
            raise

    @property
    def log_path(self) -> Path:
        """What the engine and DPDK print."""
        return self._directory.path / "engine.log"

    @property
    def file_prefix(self) -> str:
        """DPDK's file prefix, for ``dpdk-telemetry.py -f``."""
        return self._directory.file_prefix

    @property
    def pid(self) -> int:
        """The engine's process id."""
        return self._running().pid

    def _launch(self, program: Path, eal_arguments: Sequence[str]) -> None:
        # ip replaces itself by the engine: pid, standard input and signals are the engine's.
        inside = () if self._namespace is None else ("ip", "netns", "exec", self._namespace)
        command = [
            *inside,
            str(program),
            "--run-dir",
            str(self._directory.path),
            "--exit-on-stdin-eof",
        ]
        if self._memory_node is not None:
            command += ["--memory-node", str(self._memory_node)]
        command.append("--")
        command += [*eal_arguments, "--file-prefix", self.file_prefix]
        with self.log_path.open("wb") as log, signals_later():
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | dpdk_environment(),
                pass_fds=tuple(self._files),
            )

    def _connect(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        path = self._directory.path / "control.sock"
        while True:
            try:
                self._client = ControlClient(path)
            except OSError:
                pass
            else:
                return
            if self._running().poll() is not None:
                raise self._start_failure()
            if time.monotonic() > deadline:
                text = f"the engine did not answer within {_START_TIMEOUT_S:.0f} s"
                raise EngineStartError(text)
            time.sleep(_POLL_S)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            text = "the engine is not running"
            raise EngineDiedError(text)
        return self._process

    def _start_failure(self) -> WirerateError:
        complaints = self.complaints()
        unknown = unknown_options(self._passthrough)
        if unknown and _BAD_COMMAND_LINE in self._said():
            return PlanError(
                f"EAL option {' and '.join(unknown)}: EAL refused its command line, and wirerate "
                "does not know this either; leave it out, or correct it"
            )
        return EngineStartError(
            f"the engine did not start: {'; '.join(complaints) or 'it said nothing'}"
        )

    def _log_octets(self) -> int:
        try:
            return self.log_path.stat().st_size
        except OSError:
            return 0

    def _said(self, since: int = 0) -> str:
        """The engine's log from octet `since` on."""
        try:
            return self.log_path.read_bytes()[since:].decode(errors="replace")
        except OSError:
            return ""

    def complaints(self, most: int = 3, since: int = 0) -> list[str]:
        """The last lines of the engine's log, from octet `since` on, that sound like trouble."""
        lines = self._said(since).splitlines()
        words = ("error", "cannot", "fail", "invalid", "no free", "not ", "unable", "denied")
        return [line for line in lines if any(word in line.lower() for word in words)][-most:]

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a control method; see ControlClient.call. A dead engine is described in full."""
        if self._client is None:
            raise EngineDiedError(self.death())
        logged = self._log_octets()
        try:
            return self._client.call(method, self._lcores.for_engine(params or {}))
        except EngineDiedError as error:
            raise EngineDiedError(self.death() or str(error)) from error
        except EngineRefusedError as error:
            raise self._explained(error, logged) from error

    def _explained(self, error: EngineRefusedError, logged: int) -> EngineRefusedError:
        """The refusal with what DPDK said meanwhile, or at its start, where that is the reason."""
        unlocked = about_locked_memory(str(error), self._said())
        text = unlocked or self._lcores.for_people(str(error))
        if not unlocked and "engine's log" in text:
            text = text.replace("; its reason is in the engine's log", "")
            text = "; ".join([text, *self.complaints(since=logged)])
        return EngineRefusedError(text, path=error.path, errno_name=error.errno_name)

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._running().poll() is None

    def death(self) -> str:
        """How the engine ended, in words; empty while it lives."""
        try:
            code = self._running().wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return ""
        if code < 0:
            return f"the engine was killed by {signal.Signals(-code).name} ({-code})"
        if code == 0:
            return "the engine was told to exit"
        complaint = "; ".join(self.complaints(1))
        return f"the engine exited with status {code}" + (f": {complaint}" if complaint else "")

    def load(self, program: dict[str, Any]) -> Counters:
        """Load a program and map its counters."""
        return Counters(Path(self.call("program.load", program)["counters"]), self._lcores)

    def set_rate(self, stream: str, fps: float) -> None:
        """Let a stream of the loaded program be sent at another rate [fps] from now on.

        See `traffic.rate` in docs/design/0007-flows.md.
        """
        self.call("traffic.rate", {"stream": stream, "fps": fps})

    def end_traffic(self) -> None:
        """Let no more frames leave, whatever this thread waits for; for signal handlers.

        The program stays loaded and its counters readable. Nothing happens where the engine died.
        """
        if self._process is not None:
            self._process.send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the engine at once, whatever it does; `close` is still to come."""
        if self._process is not None:
            self._process.kill()

    def end(self) -> str:
        """End the engine, gently if it can; how it died, in words, empty where it ended as told.

        An engine may die of closing its ports, when all figures are known: a command calls this
        before it says what they are worth. May be called again.
        """
        if self._ending is None:
            self._ending = "" if self._process is None else self._ended(self._process)
        return self._ending

    def _ended(self, process: subprocess.Popen[bytes]) -> str:
        lived = process.poll() is None
        stuck = "" if self._client is None else self._client.waits_for
        limit_s = _STUCK_TIMEOUT_S if stuck else _STOP_TIMEOUT_S
        if self._client is not None:
            try:
                if lived and not stuck:
                    self._client.call("engine.shutdown")
            except EngineError:
                pass
            self._client.close()
            self._client = None
        if process.stdin is not None:
            process.stdin.close()
        try:
            code = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            held = f" (it was busy with {stuck})" if stuck else ""
            return f"the engine had not ended {limit_s:.0f} s after it was to, and was killed{held}"
        return "" if lived and code == 0 else self.death()

    def close(self) -> None:
        """End the engine, if `end` has not, and remove the run directory. May be called again.

        A signal waits until that is done; one more, half a second later, kills the engine.
        """
        with signals_later(self.kill):
            self.end()
            self._directory.close()
            AT_END.discard(self.close)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it; raises EngineDiedError where it dies of that, and nobody has seen it yet."""
        seen = self._ending is not None
        self.close()
        if error is None and self._ending and not seen:
            raise EngineDiedError(self._ending)
