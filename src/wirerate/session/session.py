# SPDX-License-Identifier: BSD-3-Clause
"""A session: a plan, its engine and its open ports, for as many trials as wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.host.environment import environment
from wirerate.plan.titles import PlanTitles
from wirerate.session.engine_room import EngineRoom
from wirerate.session.engine_start import Notices, open_engine
from wirerate.session.open_ports import open_ports
from wirerate.session.options import session_settings
from wirerate.session.plans import Unchanged, load_plan
from wirerate.session.prepare import prepare
from wirerate.session.running import RunningTrial
from wirerate.session.values import duration_ns, period_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from types import TracebackType

    from typing_extensions import Unpack

    from wirerate.plan.converge_settings import Converge
    from wirerate.plan.model import Plan
    from wirerate.plan.run_settings import RunSettings
    from wirerate.plan.titles import Titles
    from wirerate.session.live import Snapshot
    from wirerate.session.open_ports import OpenPlan
    from wirerate.session.options import SessionOptions
    from wirerate.session.plans import PlanSource
    from wirerate.session.result import Result
    from wirerate.session.search import RateSearch
    from wirerate.session.values import Time


@dataclass(frozen=True)
class CommandWords:
    """What a command gives a session instead of options: settings, and its own words.

    ``started``: when the command began, None = each trial says when it did.
    """

    settings: RunSettings
    titles: Titles
    notices: Notices
    started: datetime | None = None


class Session:
    """A plan with an engine of its own: opened once, for as many trials as wanted.

    ``plan`` is the path of a YAML or JSON file, its content as a dict, or what `load_plan`
    returned; the options are those of `SessionOptions`. Use it in a ``with`` statement: ports are
    open during the block, and whatever happens, nothing is left behind. One trial runs at a time;
    every method may be called from any thread, and several sessions may be open in one process.

    Raises PlanError for a mistake in the plan or an option, HostSetupError where the host lacks
    something, before anything is started. Opening raises these and EngineError; SessionError
    where another session of this process has one of its devices.
    """

    def __init__(
        self,
        plan: PlanSource,
        *,
        command: CommandWords | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        loaded = load_plan(plan)
        self._warnings: list[str] = []
        if command is None:
            settings = session_settings(len(loaded.ports), options)
            command = CommandWords(settings, PlanTitles(), Notices(self._warnings.append))
        self._notices = command.notices
        self._started = command.started
        self.prepared = prepare(loaded, command.settings, command.titles, command.notices)
        self._unchanged = Unchanged(plan)
        self._room = EngineRoom("session")
        self._opened: OpenPlan | None = None

    @property
    def plan(self) -> Plan:
        """The plan as it was read."""
        return self.prepared.plan

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may spoil a measurement, and was seen so far: a sentence each."""
        return tuple(self._warnings)

    def open(self) -> None:
        """Start the engine and open the ports, as ``with`` does."""
        prepared = self.prepared
        ports = prepared.mapped_ports
        start = partial(
            open_engine,
            prepared.settings,
            ports,
            prepared.lcore_map.lcores,
            prepared.memory,
            self._notices,
            {str(capture.file): capture.path for capture in prepared.plan.captures},
        )
        engine = self._room.open(ports, start)
        with self._room.using():
            self._opened = open_ports(engine, prepared, self._notices)

    def close(self) -> None:
        """End traffic and engine, as the end of ``with`` does; may be called again.

        A trial that runs in another thread is stopped first. Raises EngineDiedError where the
        engine dies of its end.
        """
        self._room.close()

    def __enter__(self) -> Session:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._room.close(quiet=error is not None)

    def run(
        self,
        duration: Time | None = None,
        *,
        period: Time | None = None,
        on_snapshot: Callable[[Snapshot], object] | None = None,
    ) -> Result:
        """Run one trial and wait for its result.

        ``duration`` is how long frames are sent: seconds, or text such as ``"500ms"``; None = until
        all flows have ended. ``on_snapshot`` is called with a `Snapshot` each ``period`` (1 s
        unless given) while frames are sent, in this thread; what it raises ends the trial.

        That the engine dies makes a result invalid; it is no exception. KeyboardInterrupt closes
        the session. Raises SessionError where the session is not open, or another trial runs, or
        the plan's dict was changed, PlanError for a duration that would never end.
        """
        if duration is None:
            self._check_ends()
        trial = self.trial(duration, period=period)
        try:
            for snapshot in trial:
                if on_snapshot is not None:
                    on_snapshot(snapshot)
        except BaseException as error:
            if not isinstance(error, Exception):
                self._room.close("it was interrupted", quiet=True)
            elif not self._room.closed:
                trial.discard()
            raise
        return trial.result

    def trial(self, duration: Time | None = None, *, period: Time | None = None) -> RunningTrial:
        """One trial as an iterator of snapshots, with a result at its end; see `run`.

        Frames are ready when this returns, and leave once the first snapshot is asked for.
        """
        settings = self.prepared.settings
        opened = self._checked()
        return RunningTrial(
            self._room,
            opened,
            settings.duration_ns if duration is None else duration_ns(duration, "duration"),
            settings.period_ns if period is None else period_ns(period),
            started=self._started,
        )

    def warm_up(self, duration: Time) -> None:
        """Send the same as `run` for that time, uncounted and without captures.

        Raises EngineDiedError where the engine does not live to its end.
        """
        self.uncounted_trial(duration_ns(duration, "duration")).drop()

    def uncounted_trial(self, duration_ns: int) -> RunningTrial:
        """A trial to be dropped: a warm-up."""
        opened = self._checked()
        period_ns = self.prepared.settings.period_ns
        return RunningTrial(self._room, opened, duration_ns, period_ns, counted=False)

    def search(self, asked: Converge) -> RateSearch:
        """A search for a rate, which is still to be run. Raises PlanError; see RateSearch."""
        from wirerate.session.search import RateSearch  # noqa: PLC0415 -- few sessions search

        return RateSearch(self._room, self._checked(), asked, self.prepared.settings.duration_ns)

    def stop(self) -> None:
        """Let the trial or search that runs, if any, come to an early end, from any thread."""
        self._room.stop()

    def environment(self, started: datetime) -> Mapping[str, Any]:
        """The machine and the command, which began at ``started``."""
        assert self._opened is not None, "it is known of an open session"
        return environment(self._opened.ready.about["dpdk"], started)

    def _checked(self) -> OpenPlan:
        """The open plan, where a trial may begin."""
        self._room.check_open()
        self._unchanged.check()
        assert self._opened is not None
        return self._opened

    def _check_ends(self) -> None:
        """Raise PlanError where a trial without a duration would go on for ever."""
        flows = self.plan.flows
        endless = [
            flow.name
            for flow in flows
            if flow.duration.frames is None and flow.duration.duration_ns is None
        ]
        if endless or not flows:
            which = f"flow {endless[0]} has no end" if endless else "the plan sends nothing"
            raise PlanError(f"duration: {which}, so that run() would not return; give a duration")
