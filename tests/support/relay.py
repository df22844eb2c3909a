# SPDX-License-Identifier: BSD-3-Clause
"""A relay between interfaces that forges, copies and drops stamped frames, and counts what it did.

Run as a program in the namespace of its interfaces, it shares no code with the engine. It reads
frames from the first one and sends them on the others until SIGTERM, then prints what it did.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.host import Wire

_STAMP = 16
_BUFFER = 16 << 20
_SO_RCVBUFFORCE = 33
_LATE_AFTER = 66_000
"""More than the 65,536 frames behind the highest of which the engine knows whether they came."""
_REPEATS = 10
_KEPT: dict[str, bytes] = {}


class Stamped:
    """A frame and what its stamp says (docs/design/0005-measurement.md)."""

    def __init__(self, frame: bytes) -> None:
        self.head: bytes = frame[:-_STAMP]
        words: tuple[int, ...] = struct.unpack("!HHHI", frame[-_STAMP:-6])
        self.magic, self.stream, self.sequence = words[1:]
        self.departure = int.from_bytes(frame[-6:], "big")

    def forged(self, *, ahead: int = 0, later: int = 0) -> bytes:
        """The frame with another sequence number, or departure [cycles], and a right sum."""
        sequence = (self.sequence + ahead) % (1 << 32)
        departure = (self.departure + later) % (1 << 48)
        stamp = struct.pack("!HHI", self.magic, self.stream, sequence) + departure.to_bytes(
            6, "big"
        )
        rest: int = -sum(struct.unpack("!7H", stamp)) % 65535
        return self.head + rest.to_bytes(2, "big") + stamp


def split(frame: bytes, outs: list[socket.socket], done: Counter[str]) -> None:
    """Drop every second frame, send the others on all interfaces."""
    if Stamped(frame).sequence % 2:
        done["dropped"] += 1
        return
    for out in outs:
        out.send(frame)
    done["delivered"] += 1


def forge(frame: bytes, outs: list[socket.socket], done: Counter[str]) -> None:
    """Send all, and after some frames a second one with another stamp."""
    stamped = Stamped(frame)
    outs[0].send(frame)
    done["delivered"] += 1
    for number, changes in (
        (500, {"ahead": 1 << 30}),
        (600, {"later": 1 << 40}),
        (700, {"ahead": 1, "later": -(1 << 40)}),
        (800, {"ahead": 1, "later": -1}),
    ):
        if done["delivered"] == number:
            outs[0].send(stamped.forged(**changes))
            done["forged"] += 1


def late(frame: bytes, outs: list[socket.socket], done: Counter[str]) -> None:
    """Send all, and the first frame again, much later."""
    outs[0].send(frame)
    done["delivered"] += 1
    first = _KEPT.setdefault("first", frame)
    behind = Stamped(frame).sequence - Stamped(first).sequence
    if behind >= _LATE_AFTER and done["repeated"] < _REPEATS:
        outs[0].send(first)
        done["repeated"] += 1


MODES: dict[str, Callable[[bytes, list[socket.socket], Counter[str]], None]] = {
    "split": split,
    "forge": forge,
    "late": late,
}


def _opened(interface: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
    made.bind((interface, 0))
    return made


def main() -> None:
    """Relay until SIGTERM."""
    mode, *names = sys.argv[1:]
    ports = {name: _opened(name) for name in names}
    outs = [ports[name] for name in names[1:]]
    done: Counter[str] = Counter()
    over: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    source = ports[names[0]]
    source.settimeout(0.05)
    print("ready", flush=True)
    while not over:
        try:
            frame, place = source.recvfrom(16384)
        except TimeoutError:
            continue
        if place[2] != socket.PACKET_OUTGOING:
            MODES[mode](frame, outs, done)
    print(json.dumps(done))


@contextmanager
def relay(veth: Wire, mode: str, *interfaces: str) -> Iterator[Counter[str]]:
    """Run it; what it did is there once the block has ended."""
    words = [*veth.inside, sys.executable, __file__, mode, *interfaces]
    done: Counter[str] = Counter()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            yield done
        finally:
            running.terminate()
            out, _ = running.communicate(timeout=30)
        done.update(json.loads(out))


if __name__ == "__main__":
    main()
