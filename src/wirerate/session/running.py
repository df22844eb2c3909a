# SPDX-License-Identifier: BSD-3-Clause
"""One trial of a session: an iterator of snapshots, then the result."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from wirerate.errors import WirerateError
from wirerate.host.environment import environment
from wirerate.session.live import Snapshot
from wirerate.session.result import Result
from wirerate.trial.peer_client import PeerWatch
from wirerate.trial.run_result import run_result
from wirerate.trial.trial import warm_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.session.engine_room import EngineRoom
    from wirerate.session.open_ports import OpenPlan
    from wirerate.trial.trial import Trial

_NS_PER_S = 1_000_000_000


class RunningTrial:
    """One trial: iterate over it for snapshots while frames are sent, then read its `result`.

    `Session.trial` makes it. Traffic starts with the first snapshot that is asked for. A loop that
    is left early leaves the trial running: `stop` ends it, `result` waits for its end.
    """

    def __init__(
        self,
        room: EngineRoom,
        opened: OpenPlan,
        duration_ns: int | None,
        period_ns: int,
        *,
        started: datetime | None = None,
        counted: bool = True,
    ) -> None:
        self._result: Result | None = None
        self._started = datetime.now(timezone.utc) if started is None else started
        self._trial: Trial | None = None
        self._stopped = False
        self._room = room
        settings = opened.prepared.settings
        self._peer: PeerWatch | None = None
        if settings.peer is not None and counted:
            self._peer = PeerWatch(settings.peer, settings.settle_ns)
        program = opened.program if counted else opened.quiet_program
        self._lease = room.take("a trial" if counted else "a warm-up", self.stop)
        try:
            with self._lease.using(harmless=WirerateError):
                trial = opened.load(program, opened.ready, duration_ns)
                self._ready = opened.placed()
        except BaseException:
            self._lease.give_back()
            raise
        trial.period_s = period_ns / _NS_PER_S
        if self._peer is not None:
            trial.settled = self._peer.end
        self._trial = trial
        self._snapshots = self._watch(trial)
        if self._stopped:
            trial.stop()

    def __iter__(self) -> Iterator[Snapshot]:
        return self

    def __next__(self) -> Snapshot:
        """Wait for the next snapshot. Raises SessionError where the session was closed."""
        with self._lease.using():
            snapshot = next(self._snapshots, None)
        if snapshot is None:
            raise StopIteration
        return snapshot

    def _watch(self, trial: Trial) -> Iterator[Snapshot]:
        before = None
        with self._peer or nullcontext():
            for number, now in enumerate(trial.watch()):
                yield Snapshot(number, self._ready, now, before)
                before = now
        self._lease.give_back(trial.death)

    @property
    def whole(self) -> Snapshot:
        """One snapshot of the whole trial, for which it waits: the rates are those of all of it."""
        final = self._ended().final
        assert final is not None
        return Snapshot(0, self._ready, final, None)

    @property
    def result(self) -> Result:
        """All that the trial measured; waits for its end.

        Where the engine died, the result is invalid and says so. Raises SessionError where the
        session was closed before the trial had ended.
        """
        if self._result is None:
            trial = self._ended()
            facts = environment(self._ready.about["dpdk"], self._started)
            measured = run_result(trial, self._ready, facts, self._peer)
            self._result = Result(measured, trial)
        return self._result

    def _ended(self) -> Trial:
        """The trial, once it has ended."""
        assert self._trial is not None
        if self._trial.final is None:
            for _ in self:
                pass
        return self._trial

    def discard(self) -> None:
        """End the trial early, and wait until another one may begin; there is no result."""
        self.stop()
        self._ended()

    def drop(self) -> bool:
        """Run a trial that is not counted; False where it was stopped before its end.

        Raises EngineDiedError where the engine does not live to its end.
        """
        assert self._trial is not None
        with self._lease.using():
            ended = warm_up(self._trial)
        self._lease.give_back()
        return ended

    def stop(self) -> None:
        """End the trial early, in good order, from any thread; its result is still to be read."""
        self._stopped = True
        if self._trial is not None:
            self._trial.stop()

    def end_engine(self) -> None:
        """Wait for the end of the trial, then end the engine, too: there are no more trials.

        That the engine dies of its end is part of the result then.
        """
        trial = self._ended()
        died = self._room.end()
        trial.death = trial.death or died or None
