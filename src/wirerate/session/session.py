# SPDX-License-Identifier: BSD-3-Clause
"""A session: a plan, its engine and its open ports, for as many trials as wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.errors import SessionError
from wirerate.host.environment import environment
from wirerate.plan.titles import PlanTitles
from wirerate.session.engine_room import EngineRoom
from wirerate.session.engine_start import Notices, start_engine
from wirerate.session.open_ports import open_ports
from wirerate.session.prepare import prepare
from wirerate.session.running import RunningTrial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from types import TracebackType

    from wirerate.plan.converge_settings import Converge
    from wirerate.plan.model import Plan
    from wirerate.plan.run_settings import RunSettings
    from wirerate.plan.titles import Titles
    from wirerate.session.open_ports import OpenPlan
    from wirerate.session.prepare import Prepared
    from wirerate.session.search import RateSearch


class Session:
    """A plan with an engine of its own: open it, run trials, close it.

    Use it as a context manager: whatever happens, nothing is left behind. One trial at a time, from
    any thread.
    """

    def __init__(
        self,
        plan: Plan,
        settings: RunSettings,
        *,
        titles: Titles | None = None,
        notices: Notices | None = None,
        started: datetime | None = None,
    ) -> None:
        """Prepare the plan; nothing is started yet. See `wirerate.session.prepare.prepare`."""
        self._notices = notices or Notices()
        self._started = started
        self.prepared: Prepared = prepare(plan, settings, titles or PlanTitles(), self._notices)
        self._room = EngineRoom("session")
        self._opened: OpenPlan | None = None

    def open(self) -> None:
        """Start the engine and open the ports. Raises PlanError, HostSetupError and EngineError."""
        prepared = self.prepared
        ports = prepared.mapped_ports
        engine = self._room.open(
            ports,
            lambda: start_engine(
                prepared.settings,
                ports,
                prepared.lcore_map.lcores,
                prepared.memory,
                self._notices,
            ),
        )
        with self._room.using():
            self._opened = open_ports(engine, prepared, self._notices)

    def close(self) -> None:
        """End traffic and engine; may be called again, from any thread.

        Raises EngineDiedError where the engine dies of it.
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

    def trial(self) -> RunningTrial:
        """One trial as the settings say."""
        settings = self.prepared.settings
        return RunningTrial(
            self._room,
            self._open(),
            settings.duration_ns,
            settings.period_ns,
            started=self._started,
        )

    def uncounted_trial(self, duration_ns: int) -> RunningTrial:
        """A trial to be dropped: a warm-up, without captures."""
        period_ns = self.prepared.settings.period_ns
        return RunningTrial(self._room, self._open(), duration_ns, period_ns, counted=False)

    def search(self, asked: Converge) -> RateSearch:
        """A search for a rate, which is still to be run. Raises PlanError; see RateSearch."""
        from wirerate.session.search import RateSearch  # noqa: PLC0415 -- few sessions search

        return RateSearch(self._room, self._open(), asked, self.prepared.settings.duration_ns)

    def environment(self, started: datetime) -> Mapping[str, Any]:
        """The machine and the command, which began at ``started``."""
        return environment(self._open().ready.about["dpdk"], started)

    def stop(self) -> None:
        """Let the trial or search that runs come to an early end; from any thread."""
        self._room.stop()

    def _open(self) -> OpenPlan:
        if self._opened is None:
            raise SessionError("session: it is not open; use it in a with statement, or open() it")
        return self._opened
