# SPDX-License-Identifier: BSD-3-Clause
"""Ask a forwarder that runs with --listen for its counters, before and after a trial.

An answer takes a tenth of a second or so: the peer waits until its devices' counters are fresh.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wirerate.errors import PeerError
from wirerate.trial.peer import PeerDocumentError, PeerLook, PeerResult, look_of, peer_result

if TYPE_CHECKING:
    from types import TracebackType

    from wirerate.plan.peer_address import PeerAddress
    from wirerate.trial.peer import OwnCounts

TIMEOUT_S = 2.0
"""A peer that has not answered in full by then does not answer."""
_DOCUMENT_MAX = 64 << 20
_OK = 200
_PAUSE_S = 0.05
_NS_PER_S = 1_000_000_000


def ask(address: PeerAddress) -> PeerLook:
    """One look at a peer, within TIMEOUT_S. Raises PeerError."""
    answers: list[bytes | Exception] = []
    # In a thread, because neither looking a name up nor a slow answer has a time limit of its own.
    thread = threading.Thread(target=_ask_into, args=(address, answers), daemon=True)
    thread.start()
    thread.join(TIMEOUT_S)
    answer = answers[0] if answers else TimeoutError()
    try:
        if isinstance(answer, Exception):
            raise answer
        return look_of(json.loads(answer))
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        raise PeerError(f"--peer {address}: {_why(error)}") from error


def _ask_into(address: PeerAddress, answers: list[bytes | Exception]) -> None:
    try:
        answers.append(_answer(address))
    except (OSError, ValueError, http.client.HTTPException) as error:
        answers.append(error)


def _answer(address: PeerAddress) -> bytes:
    """What it sends. Raises OSError, ValueError (of the host's name) or HTTPException."""
    connection = http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/counters")
        response = connection.getresponse()
        body = response.read(_DOCUMENT_MAX)
        if response.status != _OK:
            text = f"it answers {response.status} instead of its counters"
            raise PeerDocumentError(text)
        return body
    finally:
        connection.close()


def _why(error: Exception) -> str:
    """Say it in words, and what to do."""
    if isinstance(error, TimeoutError):
        return f"no answer within {TIMEOUT_S:g} s; start wirerate reflect --listen there"
    if isinstance(error, PeerDocumentError):
        return f"{error}; give the address of wirerate reflect --listen"
    if isinstance(error, (ValueError, RecursionError, http.client.HTTPException)):
        return "what answers there is no wirerate; give the address of wirerate reflect --listen"
    reason = getattr(error, "strerror", None) or str(error)
    return f"{reason.lower()}; start wirerate reflect --listen there"


@dataclass
class PeerWatch:
    """A peer during one trial: a context manager around it, and its `Trial.settled` is `end`.

    ``settle_ns``: frames may still be on their way before and after, and that long is waited until
    two looks are alike. Receiving goes on meanwhile.
    """

    address: PeerAddress
    settle_ns: int
    _before: PeerLook = field(init=False)
    _after: PeerLook | None = field(init=False, default=None)
    _gap: str | None = field(init=False, default=None)
    _note: str | None = field(init=False, default=None)

    def __enter__(self) -> None:
        """See `begin`."""
        self.begin()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Look at last, where the trial ended before it had settled."""
        if kind is None and self._after is None and self._gap is None:
            self.end()

    def begin(self) -> None:
        """Look before the trial. Raises PeerError."""
        self._before, _ = self._settled()

    def end(self) -> None:
        """Look after the trial; that the peer is gone is part of the result."""
        try:
            self._after, quiet = self._settled()
        except PeerError as error:
            reason = str(error).partition(": ")[2].partition(";")[0]
            self._gap = f"its counters are missing, for it is gone: {reason}"
            return
        if not quiet:
            self._note = "it was still counting when the time to settle was over"

    def result(self, own: OwnCounts) -> PeerResult:
        """What became of the frames; ``own`` counts are those of the whole trial."""
        if self._after is None:
            gap = self._gap or "it was not asked after the trial"
            return PeerResult(str(self.address), None, gap)
        notes = () if self._note is None else (self._note,)
        return peer_result(str(self.address), self._before, self._after, own, notes)

    def _settled(self) -> tuple[PeerLook, bool]:
        """Look until two looks are alike, and whether they were in time."""
        ends = time.monotonic() + self.settle_ns / _NS_PER_S
        look = ask(self.address)
        while True:
            time.sleep(_PAUSE_S)
            before, look = look, ask(self.address)
            if look == before:
                return look, True
            if time.monotonic() >= ends:
                return look, False
