# SPDX-License-Identifier: BSD-3-Clause
"""Traffic for a forwarder or reflector, and a count of what comes out of it."""

from __future__ import annotations

import struct
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chaos.stamp import damaged, plain_frame, udp_port
from chaos.truth import spread
from chaos.wire import End

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_NUMBER_AT = 42
_PORTS = (7, 4000)
_QUIET_S = 0.25


@dataclass(frozen=True)
class Errand:
    """Frames into one interface at a rate; ``flood``: frames at once in their midst."""

    source: str
    sink: str
    octets: int
    frames: int
    pps: int
    flood: int = 0


class _Driver:
    def __init__(self, errand: Errand) -> None:
        self.errand = errand
        self.source = End(errand.source, listen=errand.source == errand.sink)
        same = errand.source == errand.sink
        self.sink = self.source if same else End(errand.sink)
        self.sent: dict[int, int] = {}
        self.copies: Counter[int] = Counter()
        self.delays: list[int] = []
        self.bad = 0
        self.strange = 0

    def send(self, number: int) -> None:
        at = time.time_ns()
        if self.source.send(plain_frame(number, self.errand.octets)):
            self.sent[number] = at

    def take(self) -> bool:
        taken = self.sink.receive()
        if taken is None:
            return False
        at, frame = taken
        number = struct.unpack_from(">I", frame, _NUMBER_AT)[0] if len(frame) > 46 else -1
        if udp_port(frame) not in _PORTS or number not in self.sent:
            self.strange += 1
            return True
        self.bad += damaged(frame)
        self.copies[number] += 1
        if self.copies[number] == 1:
            self.delays.append(at - self.sent[number])
        return True

    def sums(self) -> dict[str, Any]:
        return {
            "sent": len(self.sent),
            "out": sum(self.copies.values()),
            "distinct": len(self.copies),
            "copies": sum(self.copies.values()) - len(self.copies),
            "damaged": self.bad,
            "strange": self.strange,
            "delay_ns": spread(self.delays),
            "drops": self.sink.drops(),
        }


def serve(errand: Errand, pipe: Connection) -> None:
    """The process (`side.Side`): begins at the word "go", says "quiet" when nothing comes more."""
    driver = _Driver(errand)
    pipe.send("ready")
    pipe.recv()
    start = time.monotonic()
    number = 0
    quiet_at = start
    said = False
    while not pipe.poll():
        now = time.monotonic()
        busy = False
        if number < errand.frames and now >= start + number / errand.pps:
            for _ in range(errand.flood if number == errand.frames // 3 else 0):
                driver.send(errand.frames + len(driver.sent))
            driver.send(number)
            number += 1
            busy = True
        busy |= driver.take()
        if busy:
            quiet_at = now
        elif number >= errand.frames and now - quiet_at > _QUIET_S and not said:
            said = True
            pipe.send("quiet")
        elif not busy:
            time.sleep(0.0001)
    while driver.take():
        pass
    pipe.send(driver.sums())
