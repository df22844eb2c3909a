# SPDX-License-Identifier: BSD-3-Clause
"""The logging relay: takes frames at one end, gives them back at others, and knows what it did.

It is a process of its own, so that it can be stopped and killed. What it does to frames is drawn
from the trial's seed. It writes down every frame, and adds that up when it is asked to end: that is
the truth to which the program's result is compared (`judge.py`).
"""

from __future__ import annotations

import heapq
import random
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos.memif import MemifEnd
from chaos.stamp import TIME_MASK, plain_frame, read_stamp, udp_port, with_stamp
from chaos.truth import Book
from chaos.wire import End

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_QUIET_S = 0.02
_WAIT_S = 20.0
_IFF_UP = 1
_LATE = 66_000
"""More frames late than the engine's window of 65,536."""
_SURELY = 10
"""At least this frame is treated."""


@dataclass(frozen=True)
class Duties:
    """Where the relay works, and what it does to frames.

    ``source`` and ``sinks`` name interfaces, or a memif's socket by an absolute path; a sink equal
    to the source sends back. ``share``: that part of the measured frames is treated [ratio].
    """

    source: str
    sinks: tuple[str, ...]
    seed: int
    fault: str = "none"
    share: float = 0.02
    delay_ns: int = 0
    flood: int = 0


class _Worker:
    """Inside of the process."""

    def __init__(self, duties: Duties) -> None:
        self.duties = duties
        self.random = random.Random(duties.seed)
        self.book = Book()
        self.after: list[tuple[int, int, int, bytes]] = []
        self.until: deque[tuple[int, int, bytes]] = deque()
        """Frames to be delivered later: behind so many others, or at a time."""
        self.count = 0
        self.source = _open(duties.source)
        self.sinks = [
            self.source if name == duties.source else End(name, listen=False)
            for name in duties.sinks
        ]
        """Without any, frames are only written down."""

    def step(self) -> bool:
        """Take one frame, if there is one, and deliver what is due; False where nothing was."""
        taken = self.source.receive()
        if taken is not None:
            self._take(*taken)
        until = self.until
        now = time.time_ns()
        busy = taken is not None
        while until and until[0][0] <= now:
            _, at, frame = until.popleft()
            self._give(at, frame, 0)
            busy = True
        return busy

    def _take(self, at: int, frame: bytes) -> None:
        port = udp_port(frame)
        self.book.came(at, frame, port)
        if read_stamp(frame) is None:  # of an unmeasured flow, or nobody's
            self._pass(at, frame)
            return
        self.count += 1
        self._treat(at, frame)
        while self.after and self.after[0][0] <= self.count:
            _, _, came, held = heapq.heappop(self.after)
            self._give(came, held, 0)

    def _pass(self, at: int, frame: bytes, sink: int = 0) -> None:
        if self.duties.delay_ns:
            self.until.append((at + self.duties.delay_ns, at, frame))
        else:
            self._give(at, frame, sink)

    def _treat(self, at: int, frame: bytes) -> None:
        fault, hit = self.duties.fault, self.random.random() < self.duties.share
        hit = hit or self.count == _SURELY
        if fault == "two ports":  # dropped, delivered to one, to the other, to both
            for sink in self.random.choice(((), (0,), (1,), (0, 1))):
                self._pass(at, frame, sink)
        elif not hit or fault == "none":
            self._pass(at, frame)
        elif fault == "dropped":
            self.book.did("dropped")
        elif fault == "copied":
            self._pass(at, frame)
            self._pass(at, frame)
        elif fault in {"copied late", "reordered"}:
            late = fault == "copied late"
            if late:
                self._pass(at, frame)
            after = self.count + (_LATE if late else self.random.randint(2, 40))
            heapq.heappush(self.after, (after, self.count, at, frame))
        else:
            self._pass(at, self._altered(frame))

    def _altered(self, frame: bytes) -> bytes:
        stamp = read_stamp(frame)
        assert stamp is not None
        fault = self.duties.fault
        if fault == "forged sequence":
            made = stamp._replace(sequence=(stamp.sequence + (1 << 30)) & 0xFFFFFFFF)
        elif fault == "forged future":
            ahead = 1 << self.random.randint(24, 38)  # 6 ms to 100 s
            made = stamp._replace(departure=(stamp.departure + ahead) & TIME_MASK)
        elif fault == "forged stale":
            ago = 1 << 37  # some 50 s
            made = stamp._replace(departure=(stamp.departure - ago) & TIME_MASK)
        else:  # damaged, in the stamp or before it
            assert fault == "damaged", fault
            at = len(frame) - self.random.choice((3, 20))
            return frame[:at] + bytes((frame[at] ^ 0x55,)) + frame[at + 1 :]
        return with_stamp(frame, made)

    def _give(self, at: int, frame: bytes, sink: int) -> None:
        if not self.sinks:
            return
        before = time.time_ns()
        if self.sinks[sink].send(frame):
            self.book.gave(at, before, time.time_ns(), frame, sink)
        else:
            self.book.did("refused")

    def flood(self) -> None:
        """Fill the receiver with frames that are nobody's."""
        for number in range(self.duties.flood):
            self.sinks[0].send(plain_frame(number, 60))
            self.book.did("flooded")

    def flush(self) -> None:
        """Deliver what was to come behind others, of which there are no more."""
        while self.after:
            _, _, came, held = heapq.heappop(self.after)
            self._give(came, held, 0)

    def end(self) -> dict[str, Any]:
        """What was done."""
        return {**self.book.sums(), "relay_drops": self.source.drops()}


def _open(name: str) -> End | MemifEnd:
    if name.startswith("/"):
        return MemifEnd(name)
    deadline = time.monotonic() + _WAIT_S  # a tap is made by the engine
    flags = Path(f"/sys/class/net/{name}/flags")
    while not flags.exists() or not int(flags.read_text(), 16) & _IFF_UP:
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    return End(name)


def serve(duties: Duties, pipe: Connection) -> None:
    """The process (`side.Side`): until the other side says something."""
    worker = _Worker(duties)
    pipe.send("ready")
    idle_at = time.monotonic()
    flooded = False
    while not pipe.poll():
        if worker.step():
            for _ in range(64):
                if not worker.step():
                    break
            idle_at = time.monotonic()
        elif duties.fault == "reordered" and time.monotonic() - idle_at > _QUIET_S:
            worker.flush()
            time.sleep(0.0001)
        else:
            time.sleep(0.0001)
        if duties.flood and not flooded and worker.book.arrived > 50:
            flooded = True
            worker.flood()
    while worker.step():
        pass
    pipe.send(worker.end())
