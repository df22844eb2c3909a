# SPDX-License-Identifier: BSD-3-Clause
"""One row of `wirerate kernel-path`: ping, the four transfers in rounds, the fast path alone and
beside a transfer, and saturated.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from wirerate.errors import TrialError
from wirerate.host.ping import ping_document, together
from wirerate.methods.kernel_fast_path import fast_document, generator, result_of
from wirerate.methods.kernel_figures import failed_test, figures, test_document
from wirerate.methods.kernel_limits import limits_of
from wirerate.methods.kernel_transfer import (
    pinged,
    request_of,
    started,
    transfer,
    wait_until_reachable,
)
from wirerate.plan.kernel_path_settings import FAST_PATH_FPS, FAST_PATH_SATURATED_FPS, Transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from wirerate.host.ping import PingResult
    from wirerate.methods.kernel_fast_path import Generated
    from wirerate.methods.kernel_figures import Repeat
    from wirerate.methods.kernel_groups import RowName
    from wirerate.methods.kernel_site import Link
    from wirerate.methods.kernel_transfer import Tick
    from wirerate.plan.kernel_path_settings import KernelPathSettings

_IPERF_THREADS = 2
_LCORES = 2
_BESIDE_S = 600
"""A transfer beside something else is ended when that has; so long it may take."""


class Site(Protocol):
    """Where rows are measured."""

    def link(self, row: RowName, work_ns: int = 0) -> AbstractContextManager[Link]:
        """Make what a row needs; ``work_ns`` is what the application spends on its frames."""


class Row:
    """One row being measured; `measure` once, then `document`."""

    def __init__(
        self,
        name: RowName,
        settings: KernelPathSettings,
        stopped: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        """``stopped`` raises when it is time to; ``say`` takes what is being done, for people."""
        self._name = name
        self._settings = settings
        self._stopped = stopped
        self._say = say
        self._pings: dict[str, list[PingResult]] = {}
        self._fast: dict[str, Any] = {}
        self._failures: dict[Transfer, list[str]] = {}
        self._reasons: list[str] = []
        self._steering: dict[str, str] | None = None
        self.repeats: dict[Transfer, list[Repeat]] = {kind: [] for kind in Transfer}

    def measure(self, site: Site) -> None:
        """Do all of it. Raises WirerateError where the row as a whole has failed."""
        settings = self._settings
        with self._linked(site, 0) as (link, tick):
            self._say("ping")
            self._pings["idle"] = [pinged(link, settings.time_s, tick)]
            for number in range(settings.repeats):
                for kind in Transfer:
                    self._say(f"{kind.title}, {number + 1} of {settings.repeats}")
                    self._transfer(link, kind, tick)
            if link.far is not None and link.application is not None:
                self._try("fast path", lambda: self._idle(link, tick))
                self._try("fast path beside TCP read", lambda: self._loaded(link, tick))
        if self._fast:
            with self._linked(site, settings.fast_path_work_ns) as (link, tick):
                self._try("saturation", lambda: self._saturated(link, tick))

    @contextmanager
    def _linked(self, site: Site, work_ns: int) -> Iterator[tuple[Link, Tick]]:
        """Both sides, which answer each other, and what is to be called while waiting."""
        self._say("set up")
        with site.link(self._name, work_ns) as link:
            application = link.application

            def tick() -> None:
                self._stopped()
                if application is not None:
                    application.poll()

            wait_until_reachable(link, tick)
            yield link, tick
            if application is not None:
                steering = application.steering
                self._steering = {"by": steering.by, "reason": steering.reason}

    def _transfer(self, link: Link, kind: Transfer, tick: Tick) -> None:
        """One of them; where it fails, that is its result."""
        try:
            done = transfer(link, self._settings, kind, tick)
        except TrialError as error:
            self._failures.setdefault(kind, []).append(str(error))
            return
        self._pings.setdefault(kind.value, []).append(done.ping)
        self.repeats[kind].append(figures(done, ipv6=self._settings.ipv6))

    def _try(self, what: str, measure: Callable[[], None]) -> None:
        """What fails of the fast path leaves the rest of the row as it is."""
        self._say(what)
        try:
            measure()
        except TrialError as error:
            self._reasons.append(f"{what}: {error}")

    def _generated(self, link: Link, fps: int, tick: Tick) -> Generated:
        seconds = self._settings.time_s
        with generator(link.far or "", fps, seconds) as running:
            return result_of(running, seconds, tick)

    def _idle(self, link: Link, tick: Tick) -> None:
        self._fast["idle"] = fast_document(self._generated(link, FAST_PATH_FPS, tick))

    def _loaded(self, link: Link, tick: Tick) -> None:
        """The transfer begins before and ends after it; its figures are not for the table."""
        request = request_of(link, self._settings, Transfer.TCP_READ, _BESIDE_S)
        with started(link, request, tick) as client:
            found = self._generated(link, FAST_PATH_FPS, tick)
            if not client.running():
                raise TrialError(f"iperf3 ended before it: {client.complaint() or 'no reason'}")
        self._fast["loaded"] = fast_document(found)

    def _saturated(self, link: Link, tick: Tick) -> None:
        """Ping as long as the generator takes, which is more than it sends."""
        seconds = self._settings.time_s
        with generator(link.far or "", FAST_PATH_SATURATED_FPS, seconds) as running:
            began = link.application.look()
            _wait_for_frames(link, began.fast.frames, running.running, tick)
            before = link.application.look()
            self._pings["saturated"] = [pinged(link, seconds / 2, tick)]
            after = link.application.look()
            found = result_of(running, seconds, tick)
        elapsed_s = (after.at_ns - before.at_ns) / 1e9
        self._fast["saturated"] = {
            "offered_fps": found.offered_fps,
            "forwarded_fps": (after.fast.frames - before.fast.frames) / elapsed_s,
        }
