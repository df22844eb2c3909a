# SPDX-License-Identifier: BSD-3-Clause
"""Signals that ask for the end: as exceptions, and never in the middle of what must be whole.

Ctrl-C, SIGTERM and SIGHUP are the same request. Outside of a trial (`wirerate.cli.engine_session`)
each is an exception, so that whatever was made is removed on its way out.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BOUNCE_S = 0.5
"""Signals so soon after the first are the same request: a terminal and a supervisor may each send
one."""

AT_END: set[Callable[[], None]] = set()
"""What is to be called before this process ends, where a signal kept its owner from doing so."""


class Ended(KeyboardInterrupt):
    """A signal asked for the end, and is its exit code: 128 + its number, as shells have it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def _end(number: int, _frame: object) -> None:
    raise Ended(number)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let the signals raise `Ended` in the block, and close what is left open after it.

    Under nohup SIGHUP is ignored, and stays so. Other threads get no signals: nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        for number in ENDING:
            if number == signal.SIGINT or before[number] != signal.SIG_IGN:
                signal.signal(number, _end)
        yield
    finally:
        with signals_later():
            for close in tuple(AT_END):
                close()
        _restore(before)


@contextmanager
def signals_later(impatient: Callable[[], None] | None = None) -> Iterator[None]:
    """Let a signal wait until the block is over.

    ``impatient`` is called at once for one more, later than BOUNCE_S after the first. Signals that
    are ignored stay so, and those that end the process without a word still do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, float]] = []

    def note(number: int, _frame: object) -> None:
        now = time.monotonic()
        if came and impatient is not None and now - came[0][1] > BOUNCE_S:
            impatient()
        came.append((number, now))

    before = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in before.items() if callable(handler)}
    try:
        for number in before:
            signal.signal(number, note)
        yield
    finally:
        _restore(before)
        if came:
            signal.raise_signal(came[0][0])


def _restore(before: Mapping[signal.Signals, object]) -> None:
    """Put handlers back, all of them: a signal may come in between."""
    ended: KeyboardInterrupt | None = None
    for number, handler in before.items():
        for _ in range(2):
            try:
                signal.signal(number, handler)  # type: ignore[arg-type] # as getsignal returned it
                break
            except KeyboardInterrupt as error:
                ended = error
    if ended is not None:
        raise ended
