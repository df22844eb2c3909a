# SPDX-License-Identifier: BSD-3-Clause
"""Run one trial: start, watch, let what is under way arrive, stop, count.

A generator of snapshots, so that whoever shows progress does not have to know how a trial runs, and
interrupting it (Ctrl-C) still ends in an exact final count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError, EngineRefusedError
from wirerate.host.cpu_time import StealWatch
from wirerate.plan.run_settings import SETTLE_DEFAULT_NS
from wirerate.trial.result import LATENESS_PROMISED_S
from wirerate.trial.snapshot import Snapshot, take, transmission_done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wirerate.engine.counters import Counters
    from wirerate.engine.process import Engine
    from wirerate.host.growth import Growth

_POLL_S = 0.02
_NS_PER_S = 1_000_000_000
#: Quiet for this long: everything that was under way has arrived.
_SETTLE_QUIET_S = 0.05
#: Likewise while measured frames are missing: one that stands still for a moment has not lost them.
_SETTLE_MISSING_S = 0.5
#: A transmission that should have ended by itself and has not, is ended; the engine offers what is
#: late for LATENESS_PROMISED_S more.
_OVERRUN_LIMIT_S = LATENESS_PROMISED_S + 0.5


@dataclass
class Trial:
    """One run of a loaded program.

    ``duration_ns`` None = until all frames are sent or `stop` is called. ``settle_ns`` is how long
    what is under way may take to arrive; ``measured`` says that all that is to come back is found
    again, so that foreign frames need not be waited for; ``live_latencies`` that the snapshots of
    every period have the histograms of latencies. ``settled`` is called when all that is to
    arrive has arrived; what does meanwhile is counted. ``growth``: of the files that its ports
    write, since before the trial. After `watch` has ended, ``final`` holds the counts, ``began``
    and ``sent`` those at the start and the end of sending, ``stopped`` those when the engine knew
    of the end (None when it came to neither), ``arriving_s`` how long after that measured frames
    still arrived, None when none did, ``death`` None or how the engine died, on the way or in
    `end`, ``counted`` whether the counts were final before, ``unloaded`` its reply to
    `program.unload`, ``unwritten`` None or which capture could not be written, and ``stolen_s``
    what a hypervisor took of each CPU while frames were sent [s].
    """

    engine: Engine
    counters: Counters
    duration_ns: int | None
    period_s: float
    settle_ns: int = SETTLE_DEFAULT_NS
    measured: bool = False
    live_latencies: bool = False
    settled: Callable[[], None] = lambda: None
    growth: Growth | None = None
    final: Snapshot | None = None
    began: Snapshot | None = None
    sent: Snapshot | None = None
    stopped: Snapshot | None = None
    arriving_s: float | None = None
    death: str | None = None
    counted: bool = False
    interrupted: bool = False
    unloaded: Mapping[str, Any] = field(default_factory=dict)
    unwritten: str | None = None
    stolen_s: Mapping[int, float] = field(default_factory=dict)

    def stop(self) -> None:
        """Ask for an early, orderly end; may be called from a signal handler."""
        self.interrupted = True
        self.engine.end_traffic()  # now: this thread may be waiting for a screen that stands still

    def watch(self) -> Iterator[Snapshot]:
        """Run the trial; a snapshot every period while frames are sent, none at the end."""
        try:
            yield from self._transmit()
            self._settle()
            self.settled()
            self.unloaded = self.engine.call("program.unload")
            self.counted = True
        except EngineDiedError as error:
            self.death = str(error)
        except EngineRefusedError as error:
            self.unwritten = str(error)
            self.counted = True
        self.final = take(self.counters, latencies=True)

    def end(self) -> None:
        """End the engine, after `watch`: that it dies of it belongs to the result."""
        died = self.engine.end()
        self.death = self.death or died or None

    def _transmit(self) -> Iterator[Snapshot]:
        params = {} if self.duration_ns is None else {"duration_ns": self.duration_ns}
        self.engine.call("traffic.start", params)
        started = time.monotonic()
        steal = StealWatch()
        self.began = take(self.counters)
        shown = started
        while not self._over(started):
            time.sleep(min(_POLL_S, self.period_s))
            self._check_alive()
            if time.monotonic() - shown >= self.period_s:
                shown += self.period_s
                yield take(self.counters, latencies=self.live_latencies)
        self.sent = take(self.counters)
        self.engine.call("traffic.stop")
        self.stopped = take(self.counters)
        self.stolen_s = steal.since()

    def _check_alive(self) -> None:
        if not self.engine.alive():
            raise EngineDiedError(self.engine.death())

    def _over(self, started: float) -> bool:
        elapsed = time.monotonic() - started
        if self.interrupted:
            return True
        sends = bool(self.counters.of_kind("tx"))
        if sends and transmission_done(self.counters):
            return True
        if self.duration_ns is None:
            return False
        limit = self.duration_ns / _NS_PER_S
        return elapsed >= limit + (_OVERRUN_LIMIT_S if sends else 0.0)

    def _settle(self) -> None:
        """Wait until no more frames arrive, within the limit; who only receives stops at once."""
        if not self.counters.of_kind("tx"):
            return
        kind = "flow" if self.measured else "rx"
        ended = busy = now = time.monotonic()
        before, arrived = -1, ended - _SETTLE_QUIET_S
        while (now := time.monotonic()) - ended < self.settle_ns / _NS_PER_S:
            received = sum(block["frames"] for block in self.counters.of_kind(kind))
            if before not in {-1, received}:
                arrived = now
            if received != before or not transmission_done(self.counters):
                before, busy = received, now
            elif now - busy >= self._quiet_s():
                return
            self._check_alive()
            time.sleep(_POLL_S / 4)
        if self.measured and now - arrived < _SETTLE_QUIET_S:
            self.arriving_s = now - ended

    def _quiet_s(self) -> float:
        """How long nothing must arrive: longer when frames are missing, which a device may hold."""
        flows = self.counters.of_kind("flow")
        received = sum(block["frames"] - block["duplicates"] - block["copies"] for block in flows)
        if self.measured and received >= sum(
            block["frames"] for block in self.counters.of_kind("tx")
        ):
            return _SETTLE_QUIET_S
        if self.measured and received == 0:
            return self.settle_ns / _NS_PER_S  # nobody knows how slow frames are
        longest = max((block["latency_max_cycles"] for block in flows), default=0)
        return max(_SETTLE_MISSING_S, 2 * longest / self.counters.tsc_hz)


def warm_up(trial: Trial) -> bool:
    """Run a trial of which nothing is kept; False where it was stopped before its end.

    Raises EngineDiedError when the engine does not live to its end.
    """
    for _ in trial.watch():
        pass
    if trial.death is not None:
        raise EngineDiedError(trial.death)
    return not trial.interrupted
