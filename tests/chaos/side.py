# SPDX-License-Identifier: BSD-3-Clause
"""A process of the harness beside the program: forked, on a CPU of its own, stopped and killed."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from multiprocessing import Pipe
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WAIT_S = 20.0


class Side:
    """Runs ``serve(duties, pipe)``, which says "ready", works until it is sent a word, and answers
    with what it knows."""

    def __init__(self, serve: Callable[[Any, Any], None], duties: object, cpu: int) -> None:
        self._serve = serve
        self._duties = duties
        self._cpu = cpu
        self._start()

    def _start(self) -> None:
        self._pipe, far = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._work(far)
        far.close()

    def _work(self, pipe: Any) -> None:
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.sched_setaffinity(0, {self._cpu})
            self._serve(self._duties, pipe)
            code = 0
        except Exception:  # noqa: BLE001  # a fork must not go on with the parent's work
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def say(self, word: str) -> None:
        """Send a word."""
        self._pipe.send(word)

    def ready(self) -> None:
        """Wait until it listens."""
        if not self._pipe.poll(_WAIT_S) or self._pipe.recv() != "ready":
            text = f"{self._duties} did not start"
            raise RuntimeError(text)

    def idle(self) -> bool:
        """It has sent a word since."""
        return bool(self._pipe.poll(0))

    def signal(self, number: signal.Signals) -> None:
        """Stop it, let it go on, kill it."""
        os.kill(self.pid, number)

    def restart(self) -> None:
        """A new one in place of one that was killed."""
        os.waitpid(self.pid, 0)
        self._pipe.close()
        self._start()

    def finish(self) -> dict[str, Any] | None:
        """End it; what it knows, None where it was killed."""
        found = None
        try:
            self._pipe.send("end")
            while self._pipe.poll(_WAIT_S):
                found = self._pipe.recv()
                if isinstance(found, dict):
                    break
        except (EOFError, OSError):
            found = None
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self._pipe.close()
        return found if isinstance(found, dict) else None
