# SPDX-License-Identifier: BSD-3-Clause
"""One row of `wirerate kernel-path`, all of its measurements.

Ping, the four transfers in rounds, the fast path alone, beside a transfer, and saturated.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from wirerate.errors import HostSetupError, TrialError, WirerateError
from wirerate.host.iperf3 import ServerGoneError
from wirerate.host.ping import ping_document, together
from wirerate.methods.kernel_fast_limits import fast_losses, offered_notes, saturation_notes
from wirerate.methods.kernel_fast_path import fast_document, generator, result_of
from wirerate.methods.kernel_figures import failed_test, figures, transfer_document
from wirerate.methods.kernel_limits import limits_of
from wirerate.methods.kernel_transfer import (
    pinged,
    request_of,
    started,
    transfer,
    wait_until_reachable,
)
from wirerate.plan.kernel_path_settings import (
    FAST_PATH_FPS,
    FAST_PATH_SATURATED_FPS,
    Group,
    Transfer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from wirerate.host.children import Child
    from wirerate.host.ping import PingResult
    from wirerate.methods.kernel_fast_path import Generated
    from wirerate.methods.kernel_figures import Repeat
    from wirerate.methods.kernel_groups import RowName
    from wirerate.methods.kernel_site import Link
    from wirerate.methods.kernel_transfer import Tick
    from wirerate.plan.kernel_path_settings import KernelPathSettings
    from wirerate.trial.bridge import Bridge
    from wirerate.trial.bridge_look import BridgeLook

    _Fast = tuple[Generated, BridgeLook, BridgeLook]  # and looks before and after

_IPERF_THREADS = 2
_LCORES = 2
_POLL_S = 0.1
_FAST = {"idle": "fast path", "loaded": "fast path beside TCP read"}
"""What the application's own frames are measured beside, by the document's word."""
_IDLE_MAX_S = 3
"""Pings with nothing beside them: 300 say enough."""
_NS_PER_S = 1_000_000_000
_WITHIN = 0.7
"""The share of the generator's time in which pings are sent and frames counted."""
_BESIDE_S = 600
"""A transfer beside something else is ended when that has; so long it may take."""


class Site(Protocol):
    """Where rows are measured."""

    def link(self, row: RowName, work_ns: int = 0) -> AbstractContextManager[Link]:
        """Make what a row needs; ``work_ns`` is what the application spends on its frames."""


class Watch:
    """What is looked after while something is waited for."""

    def __init__(self, stopped: Callable[[], None], application: Bridge | None) -> None:
        """``stopped`` raises when it is time to."""
        self._stopped = stopped
        self._application = application
        self._next_s = 0.0

    def look(self) -> None:
        """Raises EngineDiedError, HostSetupError where an interface vanished, and what it must."""
        self._stopped()
        now_s = time.monotonic()
        if self._application is None or now_s < self._next_s:
            return
        self._next_s = now_s + _POLL_S
        self._application.poll()
        if self._application.gone:
            raise HostSetupError(self._application.gone)


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
        self._notes: dict[str, None] = {}
        self._fast_limits: list[str] = []
        self._steering: dict[str, str] | None = None
        self._sleep_ns: int | None = None
        self.repeats: dict[Transfer, list[Repeat]] = {kind: [] for kind in Transfer}

    def measure(self, site: Site) -> None:
        """Do all of it. Raises WirerateError where the row as a whole has failed."""
        settings = self._settings
        with self._linked(site, 0) as (link, tick):
            self._say("ping")
            self._pings["idle"] = [pinged(link, min(settings.time_s, _IDLE_MAX_S), tick)]
            for number in range(settings.repeats):
                for kind in Transfer:
                    self._say(f"{kind.title}, {number + 1} of {settings.repeats}")
                    self._transfer(link, kind, tick)
            if settings.fast_path and link.far is not None and link.application is not None:
                application = link.application
                self._try(_FAST["idle"], lambda: self._idle(link, application, tick))
                self._try(_FAST["loaded"], lambda: self._loaded(link, application, tick))
        if self._fast:
            self._try("saturation", lambda: self._saturation(site))

    @contextmanager
    def _linked(self, site: Site, work_ns: int) -> Iterator[tuple[Link, Tick]]:
        """Both sides, which answer each other, and what is to be called while waiting."""
        self._say("set up")
        with site.link(self._name, work_ns) as link:
            tick = Watch(self._stopped, link.application).look
            wait_until_reachable(link, tick)
            yield link, tick
            if link.application is not None:
                self._sleep_ns = link.application.setup.sleep_ns
                steering = link.application.steering
                self._steering = {"by": steering.by, "reason": steering.reason}
                self._notes.update(dict.fromkeys(link.application.notes))

    def _transfer(self, link: Link, kind: Transfer, tick: Tick) -> None:
        """One of them; where it fails, that is its result."""
        try:
            done = transfer(link, self._settings, kind, tick)
        except TrialError as error:
            if link.far is None and isinstance(error, ServerGoneError):
                raise  # nobody here starts that server, so that all others would say the same
            self._failures.setdefault(kind, []).append(str(error))
            return
        self._pings.setdefault(kind.value, []).append(done.ping)
        self.repeats[kind].append(figures(done, ipv6=self._settings.ipv6))

    def _try(self, what: str, measure: Callable[[], None]) -> None:
        """What fails of the fast path leaves the figures of the row as they are."""
        self._say(what)
        try:
            measure()
        except WirerateError as error:
            self._reasons.append(f"{what}: {error}")

    def _generated(self, link: Link, bridge: Bridge, tick: Tick) -> _Fast:
        seconds = self._settings.time_s
        before = bridge.look()
        with generator(link.far or "", FAST_PATH_FPS, seconds) as running:
            found = result_of(running, seconds, tick)
        return found, before, bridge.look()

    def _told(self, when: str, fast: _Fast) -> None:
        """Keep what was found of the fast path, and what is to be said of it."""
        self._fast[when] = fast_document(fast[0])
        self._fast_limits += fast_losses(_FAST[when], *fast)
        self._notes.update(dict.fromkeys(offered_notes(_FAST[when], fast[0])))

    def _idle(self, link: Link, bridge: Bridge, tick: Tick) -> None:
        self._told("idle", self._generated(link, bridge, tick))

    def _loaded(self, link: Link, bridge: Bridge, tick: Tick) -> None:
        """The transfer begins before and ends after it; its figures are not for the table."""
        request = request_of(link, self._settings, Transfer.TCP_READ, _BESIDE_S)
        with started(link, request, tick) as client:
            found = self._generated(link, bridge, tick)
            if not client.running():
                raise TrialError(f"iperf3 ended before it: {client.complaint() or 'no reason'}")
        self._told("loaded", found)

    def _saturation(self, site: Site) -> None:
        """Another application, which spends time on its own frames."""
        with self._linked(site, self._settings.fast_path_work_ns) as (link, tick):
            if link.application is not None:
                self._saturated(link, link.application, tick)

    def _saturated(self, link: Link, bridge: Bridge, tick: Tick) -> None:
        """Ping, and count, while frames of the fast path come."""
        seconds = self._settings.time_s
        fps = FAST_PATH_SATURATED_FPS
        with generator(link.far or "", fps, seconds) as running:
            before = _when_moving(bridge, running, tick)
            self._pings["saturated"] = [pinged(link, seconds * _WITHIN, tick)]
            after = bridge.look()
            found = result_of(running, seconds, tick)
        frames = after.fast.frames - before.fast.frames
        forwarded_fps = frames * _NS_PER_S / (after.at_ns - before.at_ns)
        self._fast["saturated"] = {
            "offered_fps": found.offered_fps,
            "forwarded_fps": forwarded_fps,
        }
        self._notes.update(dict.fromkeys(saturation_notes(found.offered_fps, forwarded_fps)))

    def document(self, linux: Row | None, cpus: int) -> dict[str, Any]:
        """The row, measured; ``linux``: that row, to compare with."""
        tests = {kind.value: self._test(kind) for kind in Transfer}
        reasons = [*self._reasons]
        for kind, repeats in self.repeats.items():
            reasons += [f"{kind.title}: {text}" for text in self._failures.get(kind, ())]
            reasons += [text for one in repeats for text in one.reasons]
        pings = {key: ping_document(together(some)) for key, some in self._pings.items()}
        return {
            "group": self._name.group.value,
            "mode": self._name.mode,
            "status": "ok",
            "reason": "",
            "hint": "",
            "steering": self._steering,
            "sleep_ns": self._sleep_ns,
            "verdict": verdict(dict.fromkeys(reasons), self._notes),
            "tests": tests,
            "ping": {"saturated": None, **pings},
            "fast_path": self._fast or None,
            "limits": [*self._limits(linux, cpus), *self._fast_limits],
        }

    def _limits(self, linux: Row | None, cpus: int) -> list[str]:
        threads = _IPERF_THREADS if self._settings.real is None else 1
        threads += 0 if self._name.group is Group.LINUX else _LCORES
        return limits_of(
            self.repeats,
            linux.repeats if linux else None,
            cpus=cpus,
            threads=threads,
            udp_length=self._settings.udp_length or 0,
        )

    def _test(self, kind: Transfer) -> dict[str, Any]:
        if self.repeats[kind]:
            return transfer_document(self.repeats[kind])
        return failed_test("; ".join(dict.fromkeys(self._failures.get(kind, ("not run",)))))


def _when_moving(bridge: Bridge, running: Child, tick: Tick) -> BridgeLook:
    """The first look at which the fast path has moved frames. Raises TrialError."""
    first = bridge.look().fast.frames
    while (look := bridge.look()).fast.frames == first:
        if running.wait(_POLL_S, tick):
            raise TrialError(f"no frame of it passed: {running.complaint() or 'no reason'}")
    return look


def verdict(reasons: Iterable[str], notes: Iterable[str] = ()) -> dict[str, Any]:
    """The verdict on a row or on all of them: valid without a reason to the contrary."""
    found = list(reasons)
    return {"valid": not found, "reasons": found, "notes": list(notes)}


def failed_row(row: dict[str, Any], reason: str) -> dict[str, Any]:
    """A row that ended early, with what was measured before."""
    own = row["verdict"]
    judged = verdict([reason, *own["reasons"]], own["notes"])
    return row | {"status": "failed", "reason": reason, "verdict": judged}


def absent_row(name: RowName, status: str, reason: str, hint: str = "") -> dict[str, Any]:
    """A row without figures: `failed`, or `cannot run` where ``hint`` would change that."""
    return {
        "group": name.group.value,
        "mode": name.mode,
        "status": status,
        "reason": reason,
        "hint": hint,
        "steering": None,
        "sleep_ns": None,
        "verdict": verdict([reason]),
        "tests": {},
        "ping": {},
        "fast_path": None,
        "limits": [],
    }
