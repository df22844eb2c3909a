# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's own time stamps of frames on an interface: a witness that shares no clock with ours.

Stamps are of CLOCK_REALTIME, which NTP may steer. Readings of it and of CLOCK_MONOTONIC_RAW, before
and after, turn them into the latter.
"""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 0x0003
_SO_RCVBUFFORCE = 33
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("qq")
_NS_PER_S = 1_000_000_000
_PACKET_OUTGOING = 4
_READINGS = 200


def _enter(namespace_fd: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace_fd, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def _inside(namespace: str) -> Iterator[None]:
    """This thread is in the named network namespace."""
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        _enter(other)
        yield
    finally:
        _enter(own)
        os.close(other)
        os.close(own)


def raw_socket(namespace: str, interface: str) -> socket.socket:
    """A packet socket on the interface that gets all frames, those sent as well, with stamps."""
    with _inside(namespace):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 64 << 20)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    made.bind((interface, _ETH_P_ALL))
    return made


def receive(sock: socket.socket) -> tuple[bytes, int, bool]:
    """A frame, its stamp [ns], and whether it was sent, not received, by the interface."""
    frame, [(_, _, stamp)], _, address = sock.recvmsg(2048, 64)
    seconds, ns = _TIMESPEC.unpack(stamp)
    return frame, seconds * _NS_PER_S + ns, address[2] == _PACKET_OUTGOING


def _pair() -> tuple[int, int]:
    """CLOCK_REALTIME and CLOCK_MONOTONIC_RAW at one moment, as near as can be had."""
    best, found = 1 << 62, (0, 0)
    for _ in range(_READINGS):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        real = time.clock_gettime_ns(time.CLOCK_REALTIME)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        if after - before < best:
            best, found = after - before, (real, (before + after) // 2)
    return found


class Witness:
    """Listens until the block ends; then ``seen`` are frames, raw stamps [ns], and directions."""

    def __init__(self, sock: socket.socket) -> None:
        self.seen: list[tuple[bytes, int, bool]] = []
        self._sock = sock
        self._over = threading.Event()

    def listen(self) -> None:
        """Until told to end; what is queued then is read."""
        while select.select([self._sock], [], [], 0.1)[0] or not self._over.is_set():
            if select.select([self._sock], [], [], 0)[0]:
                self.seen.append(receive(self._sock))

    def end(self) -> None:
        """Let `listen` return."""
        self._over.set()


@contextmanager
def witness(namespace: str, interface: str) -> Iterator[Witness]:
    """See the interface's frames; all of them, and their times, after the block."""
    with raw_socket(namespace, interface) as sock:
        made = Witness(sock)
        thread = threading.Thread(target=made.listen)
        start = _pair()
        thread.start()
        try:
            yield made
        finally:
            made.end()
            thread.join()
        end = _pair()
    slope = (end[1] - start[1]) / (end[0] - start[0])
    made.seen = [
        (frame, start[1] + round((stamp - start[0]) * slope), sent)
        for frame, stamp, sent in made.seen
    ]
