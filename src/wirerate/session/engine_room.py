# SPDX-License-Identifier: BSD-3-Clause
"""An engine, and who may use it now: one trial at a time, from any thread, until it is closed."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING

from wirerate.errors import EngineDiedError, SessionError
from wirerate.session.claims import claim, release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wirerate.engine.process import Engine
    from wirerate.plan.location import Location


class EngineRoom:
    """Holds the engine of a session, which ``what`` names in messages: ``session of plan.yaml``."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._engine: Engine | None = None
        self._while_open = ExitStack()
        self._state = threading.RLock()
        self._use = threading.RLock()
        self._running: Lease | None = None
        self._opened = False
        self._closed = ""
        self._death_seen = False

    @property
    def closed(self) -> bool:
        """It was opened, and is not any more."""
        return bool(self._closed)

    def open(
        self,
        ports: Sequence[tuple[str, Location, int]],
        start: Callable[[], AbstractContextManager[Engine]],
    ) -> Engine:
        """Have the devices, and the engine of the block that ``start`` makes, until `close`.

        Raises SessionError.
        """
        with self._state:
            self._check_not_closed()
            if self._opened:
                raise SessionError(f"{self.what}: it is open already; open it once")
            claim(self, [(title, location) for title, location, _ in ports])
            try:
                self._engine = self._while_open.enter_context(start())
            except BaseException:
                release(self)
                raise
            self._opened = True
            return self._engine

    def take(self, doing: str, stop: Callable[[], None]) -> Lease:
        """Have the engine for a trial or a search; ``stop`` ends it, from any thread.

        Raises SessionError while another one runs, and where the session is not open.
        """
        with self._state:
            self.check_open()
            if self._running is not None:
                raise SessionError(
                    f"{self.what}: {self._running.doing} is still running; read its result, or "
                    f"stop() it, before {doing} begins"
                )
            self._running = Lease(self, doing, stop)
            return self._running

    def stop(self) -> None:
        """Let the trial or search that runs, if any, come to an early end."""
        running = self._running
        if running is not None:
            running.stop()

    def close(self, why: str = "it was closed", *, quiet: bool = False) -> None:
        """End traffic and engine; nothing is left behind. May be called again, from any thread.

        Raises EngineDiedError where the engine dies of that and nobody has seen it yet, unless
        ``quiet``.
        """
        with self._state:
            self._closed = self._closed or why
        self.stop()
        with self._use:
            engine, self._engine = self._engine, None
            if engine is None:
                return
            try:
                died = engine.end()
            except BaseException:
                engine.kill()
                raise
            finally:
                self._while_open.close()
                release(self)
            if died and not self._death_seen and not quiet:
                raise EngineDiedError(died)

    def check_open(self) -> None:
        """Raise SessionError where there is no engine any more, or not yet."""
        self._check_not_closed()
        if not self._opened:
            raise SessionError(
                f"{self.what}: it is not open; use it in a with statement, or call open()"
            )

    def end(self) -> str:
        """End the engine between trials, for good; how it died of that, in words, else empty.

        `close` is still to come.
        """
        with self.using():
            assert self._engine is not None
            died = self._engine.end()
        with self._state:
            self._death_seen = True
            self._closed = self._closed or "its engine was ended"
        return died

    def _check_not_closed(self) -> None:
        if self._closed:
            raise SessionError(f"{self.what}: {self._closed}; open a new one")

    @contextmanager
    def using(self, harmless: type[Exception] | None = None) -> Iterator[None]:
        """Nobody else uses or ends the engine during the block.

        What is raised in it ends the engine, too, unless it is ``harmless``: nobody knows what the
        engine is doing then.
        """
        with self._use:
            if self._engine is None:
                self._check_not_closed()
            try:
                yield
            except BaseException as error:
                if harmless is not None and isinstance(error, harmless):
                    raise
                why = f"it was closed because of an error: {str(error) or type(error).__name__}"
                if not isinstance(error, Exception):
                    why = "it was interrupted"
                self.close(why, quiet=True)
                raise

    def give_back(self, lease: Lease, death: str | None) -> None:
        """``lease`` runs no more; ``death``: how the engine died meanwhile, as its result says."""
        with self._state:
            self._death_seen = self._death_seen or bool(death)
            if self._running is lease:
                self._running = None


class Lease:
    """The right to use an engine, of one trial or search."""

    def __init__(self, room: EngineRoom, doing: str, stop: Callable[[], None]) -> None:
        self.doing = doing
        self.stop = stop
        self._room = room

    def using(self, harmless: type[Exception] | None = None) -> AbstractContextManager[None]:
        """See `EngineRoom.using`."""
        return self._room.using(harmless)

    def give_back(self, death: str | None = None) -> None:
        """See `EngineRoom.give_back`."""
        self._room.give_back(self, death)
