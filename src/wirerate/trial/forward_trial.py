# SPDX-License-Identifier: BSD-3-Clause
"""Run a forwarder: from the loading of its program, which starts it, to its last count.

A generator of snapshots, as `wirerate.trial.trial.Trial` is one for senders.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError, EngineRefusedError
from wirerate.trial.forward_snapshot import ForwardSnapshot, take_forward

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.engine.counters import Counters
    from wirerate.engine.process import Engine
    from wirerate.plan.forward_lanes import Lane

_POLL_S = 0.02
_NS_PER_S = 1_000_000_000


@dataclass
class ForwardTrial:
    """A forwarder at work.

    ``duration_ns`` None = until `stop` is called. After `watch` has ended, ``final`` holds the
    counts, ``captured`` the frames written by file, and ``death`` is None or says how the engine
    died on the way.
    """

    engine: Engine
    counters: Counters
    lanes: Sequence[Lane]
    duration_ns: int | None
    period_s: float
    final: ForwardSnapshot = field(init=False)
    captured: dict[str, int] = field(default_factory=dict)
    death: str | None = None
    unwritten: str | None = None
    interrupted: bool = False

    def __post_init__(self) -> None:
        """Have counts, whatever happens."""
        self.final = self._look()

    def stop(self) -> None:
        """Ask for an orderly end; may be called from a signal handler."""
        self.interrupted = True

    def watch(self) -> Iterator[ForwardSnapshot]:
        """Watch it work; a snapshot every period, none at the end."""
        try:
            yield from self._forward()
            self._note_captures(self.engine.call("program.unload"))
        except EngineDiedError as error:
            self.death = str(error)
        except EngineRefusedError as error:
            self.unwritten = str(error)
        self.final = self._look()

    def _forward(self) -> Iterator[ForwardSnapshot]:
        started = shown = time.monotonic()
        while not self._over(started):
            time.sleep(min(_POLL_S, self.period_s))
            if not self.engine.alive():
                raise EngineDiedError(self.engine.death())
            if time.monotonic() - shown >= self.period_s:
                shown += self.period_s
                yield self._look()

    def _over(self, started: float) -> bool:
        if self.interrupted or self.duration_ns is None:
            return self.interrupted
        return time.monotonic() - started >= self.duration_ns / _NS_PER_S

    def _look(self) -> ForwardSnapshot:
        return take_forward(self.counters, self.lanes)

    def _note_captures(self, result: dict[str, Any]) -> None:
        for capture in result.get("captures", []):
            self.captured[capture["path"]] = capture["frames"]
