# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are run beside a measurement, in a network namespace, and never outlive it.

They are in a session of their own, so that Ctrl-C in a terminal reaches this process only, which
then ends them in good order; and they die with this process, whatever ends it, but for the moment
in which they start.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.host.namespaces import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_POLL_S = 0.02
_END_S = 5.0
_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")


class Child:
    """A running program; what it prints is kept in files, so that it never waits for a reader."""

    def __init__(
        self, process: subprocess.Popen[bytes], said: IO[bytes], complained: IO[bytes]
    ) -> None:
        self._process = process
        self._said = said
        self._complained = complained

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait(self, timeout_s: float, tick: Callable[[], None]) -> bool:
        """Wait until it ends, ``tick`` called meanwhile; False when it has not in time."""
        end = time.monotonic() + timeout_s
        while self.running():
            if time.monotonic() > end:
                return False
            tick()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_S)
        return True

    def interrupt(self) -> None:
        """Ctrl-C, to make it sum up."""
        self._process.send_signal(signal.SIGINT)

    def output(self) -> str:
        """What it has printed."""
        return _text(self._said)

    def complaint(self) -> str:
        """What it has printed on standard error, in one line."""
        return " ".join(_text(self._complained).split())

    def end(self) -> None:
        """Ask it to end, then end it."""
        if not self.running():
            return
        self._process.terminate()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _text(file: IO[bytes]) -> str:
    # pread: the offset is the child's too, and stays where it writes.
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


@contextmanager
def child(command: Sequence[str], namespace: str | None = None, given: str = "") -> Iterator[Child]:
    """Run a program, in a namespace, with ``given`` as its standard input; it ends with the block.

    Raises HostSetupError. The files have no name, so that none of them can be left.
    """
    words = [*_WITH_PARENT, *inside(namespace, command)]
    with TemporaryFile() as said, TemporaryFile() as complained, TemporaryFile() as told:
        told.write(given.encode())
        told.seek(0)
        try:
            process = subprocess.Popen(
                words, stdin=told, stdout=said, stderr=complained, start_new_session=True
            )
        except OSError as error:
            raise HostSetupError(f"{command[0]} cannot be started: {error}") from error
        running = Child(process, said, complained)
        try:
            yield running
        finally:
            running.end()
