# SPDX-License-Identifier: BSD-3-Clause
"""What every command that runs an engine does around it: signals, warnings, the exit code."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from wirerate.errors import ExitCode
from wirerate.interrupts import BOUNCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.session.engine_start import Notices


class Stoppable(Protocol):
    """What a signal is to end."""

    def stop(self) -> None:
        """Ask for an early, orderly end; may be called from a signal handler."""


def warn(text: str) -> None:
    """Say something on standard error that does not keep the run from starting."""
    print(f"wirerate: warning: {text}", file=sys.stderr)


def notices(*, verbose: bool) -> Notices:
    """Warnings and, with -v, details on standard error."""
    from wirerate.session.engine_start import Notices  # noqa: PLC0415 -- as `cli.execute` does

    def detail(text: str) -> None:
        if verbose:
            print(text, file=sys.stderr)

    return Notices(warn, detail)


@contextmanager
def stopping(what: Stoppable) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end it in good order instead of this process.

    One more, later than BOUNCE_S, ends engines and command at once: the good order may wait for a
    reader of standard output, or for an engine that was stopped. The next ends this process.
    Under nohup SIGHUP is ignored, and stays so.
    """
    from wirerate.engine.process import kill_engines  # noqa: PLC0415 -- it is loaded by now

    first: list[float] = []

    def stop(_number: int, _frame: object) -> None:
        now = time.monotonic()
        if not first:
            first.append(now)
            what.stop()
        elif now - first[0] > BOUNCE_S:
            give_up()

    def give_up() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        kill_engines()
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 -- what is buffered must not block
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending_code(death: str | None, unwritten: str | None) -> ExitCode:
    """The exit code of a trial that was reported, and one line for what went wrong at its end.

    ``death``: how the engine died; ``unwritten``: which capture could not be written, and why.
    """
    if death is None and unwritten is None:
        return ExitCode.PASS
    print(f"wirerate: error: {death or unwritten}", file=sys.stderr)
    return ExitCode.HOST_SETUP if death is None else ExitCode.ENGINE_DIED
