# SPDX-License-Identifier: BSD-3-Clause
"""Run a forwarder: from the loading of its program, which starts it, to its last count.

A generator of snapshots, as `wirerate.trial.trial.Trial` is one for senders.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError, EngineRefusedError
from wirerate.host.cpu_time import StealWatch
from wirerate.trial.forward_snapshot import ForwardSnapshot, take_forward

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.engine.counters import Counters
    from wirerate.engine.process import Engine
    from wirerate.host.growth import Growth
    from wirerate.plan.forward_lanes import Lane

_POLL_S = 0.02
_FRESH_S = 0.3
"""The engine reads its devices' counters every 0.1 s; it stands still if it has not by then."""
_NS_PER_S = 1_000_000_000


@dataclass
class ForwardTrial:
    """A forwarder at work.

    ``duration_ns`` None = until `stop` is called; ``growth``: of the files that its ports write,
    since before the start. After `watch` has ended, ``final`` holds the
    counts, ``captured`` the frames written by file, and ``death`` is None or says how the engine
    died, on the way or in `end`; ``counted``: the counts were final before; ``over``: `watch` has
    ended; ``stolen_s`` is what a hypervisor took of each CPU [s].
    """

    engine: Engine
    counters: Counters
    lanes: Sequence[Lane]
    duration_ns: int | None
    period_s: float
    growth: Growth | None = None
    final: ForwardSnapshot = field(init=False)
    captured: dict[str, int] = field(default_factory=dict)
    death: str | None = None
    counted: bool = False
    unwritten: str | None = None
    interrupted: bool = False
    over: bool = False
    stolen_s: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Have counts, whatever happens."""
        self._steal = StealWatch()
        self.final = self.look()

    def stop(self) -> None:
        """Ask for an orderly end; may be called from a signal handler."""
        self.interrupted = True

    def watch(self) -> Iterator[ForwardSnapshot]:
        """Watch it work; a snapshot every period, none at the end."""
        try:
            yield from self._forward()
            self._note_captures(self.engine.call("program.unload"))
            self.counted = True
        except EngineDiedError as error:
            self.death = str(error)
        except EngineRefusedError as error:
            self.unwritten = str(error)
            self.counted = True
        self.final = self.look()
        self.stolen_s = self._steal.since()
        self.over = True

    def end(self) -> None:
        """End the engine, after `watch`: that it dies of it belongs to the result."""
        died = self.engine.end()
        self.death = self.death or died or None

    def _forward(self) -> Iterator[ForwardSnapshot]:
        started = shown = time.monotonic()
        while not self._over(started):
            time.sleep(min(_POLL_S, self.period_s))
            if not self.engine.alive():
                raise EngineDiedError(self.engine.death())
            if time.monotonic() - shown >= self.period_s:
                shown += self.period_s
                yield self.look()

    def _over(self, started: float) -> bool:
        if self.interrupted or self.duration_ns is None:
            return self.interrupted
        return time.monotonic() - started >= self.duration_ns / _NS_PER_S

    def look(self) -> ForwardSnapshot:
        """One look at the counters; may be taken in any thread."""
        return take_forward(self.counters, self.lanes)

    def fresh_look(self) -> ForwardSnapshot:
        """Likewise, once the devices' own counters have been read anew."""
        beat = self.counters.engine["heartbeat_tsc"]
        limit = time.monotonic() + _FRESH_S
        while self.counters.engine["heartbeat_tsc"] == beat and time.monotonic() < limit:
            time.sleep(_POLL_S / 4)
        return self.look()

    def _note_captures(self, result: dict[str, Any]) -> None:
        for capture in result.get("captures", []):
            self.captured[capture["path"]] = capture["frames"]
