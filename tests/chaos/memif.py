# SPDX-License-Identifier: BSD-3-Clause
"""The server's end of a memif (version 2.0), enough to take frames and give frames.

Written from the protocol (libmemif's documentation, FD.io), so that the witness at a memif is not
DPDK's driver again. The client (the engine) owns the memory: it sends its regions and rings over
the socket. Only one queue each way.
"""

from __future__ import annotations

import array
import mmap
import os
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path

_ACK, _HELLO, _INIT, _ADD_REGION, _ADD_RING, _CONNECT, _CONNECTED, _DISCONNECT = range(1, 9)
_VERSION = 2 << 8
_MESSAGE_OCTETS = 128
_S2M = 1
_DESCRIPTOR = struct.Struct("=HHIII")
_DESCRIPTORS_AT = 128
_HEAD_AT, _TAIL_AT = 6, 64


class _Ring:
    """A ring in the client's memory; the server moves its tail.

    Head and tail are read and written in one piece, by a view: `struct` writes octet by octet.
    """

    def __init__(self, memory: mmap.mmap, offset: int, log2_size: int) -> None:
        self._words = memoryview(memory).cast("H")
        self._head, self._tail = (offset + _HEAD_AT) // 2, (offset + _TAIL_AT) // 2
        self._base = offset + _DESCRIPTORS_AT
        self._mask = (1 << log2_size) - 1
        self.tail = int(self._words[self._tail])

    def ready(self) -> int:
        """Descriptors between tail and head."""
        return (int(self._words[self._head]) - self.tail) & 0xFFFF

    def at(self) -> int:
        """Where the descriptor at the tail is."""
        return self._base + _DESCRIPTOR.size * (self.tail & self._mask)

    def done(self) -> None:
        """The descriptor at the tail is the client's again."""
        self.tail = (self.tail + 1) & 0xFFFF
        self._words[self._tail] = self.tail


class MemifEnd:
    """Listens at a socket; frames as `wire.End` has them, once a client has connected."""

    def __init__(self, path: str) -> None:
        self.name = path
        with suppress(FileNotFoundError):
            Path(path).unlink()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(path)
        self._listener.listen()
        self._listener.settimeout(0)
        self._client: socket.socket | None = None
        self._regions: list[mmap.mmap] = []
        self._rings: dict[bool, _Ring] = {}
        self._up = False
        self._control_at = 0.0

    def receive(self) -> tuple[int, bytes] | None:
        """A frame, and the time at which it was found here [ns since 1970]."""
        now = time.monotonic()
        if now >= self._control_at:
            self._control_at = now + 0.005
            self._control()
        if not self._up or not (ring := self._rings[True]).ready():
            return None
        _, region, length, offset, _ = _DESCRIPTOR.unpack_from(self._regions[0], ring.at())
        frame = self._regions[region][offset : offset + length]
        ring.done()
        return time.time_ns(), frame

    def send(self, frame: bytes) -> bool:
        """False where the client gives no buffer for 20 ms."""
        deadline = time.monotonic() + 0.02
        while not self._up or not self._rings[False].ready():
            if time.monotonic() > deadline:
                return False
        ring = self._rings[False]
        memory = self._regions[0]
        _, region, _, offset, _ = _DESCRIPTOR.unpack_from(memory, ring.at())
        self._regions[region][offset : offset + len(frame)] = frame
        _DESCRIPTOR.pack_into(memory, ring.at(), 0, region, len(frame), offset, 0)
        ring.done()
        return True

    def drops(self) -> int:
        """None: a full ring is the sender's to see."""
        return 0

    def close(self) -> None:
        """Leave."""
        for one in (self._client, self._listener):
            if one is not None:
                one.close()

    def _control(self) -> None:
        if self._client is None:
            try:
                self._client, _ = self._listener.accept()
            except BlockingIOError:
                return
            self._client.settimeout(0)
            name = b"chaos".ljust(32, b"\0")
            self._say(_HELLO, struct.pack("=32sHHHHHB", name, _VERSION, _VERSION, 0xFF, 0, 0, 14))
        with suppress(BlockingIOError, ConnectionError):
            while self._client is not None:
                self._hear()

    def _hear(self) -> None:
        assert self._client is not None
        fds = array.array("i")
        room = socket.CMSG_SPACE(4 * fds.itemsize)
        data, extra, _, _ = self._client.recvmsg(_MESSAGE_OCTETS, room)
        for _, _, held in extra:
            fds.frombytes(held[: len(held) - len(held) % fds.itemsize])
        kind = int.from_bytes(data[:2], "little")
        if not data or kind == _DISCONNECT:
            self._up = False
            self._client.close()
            self._client = None
            self._regions, self._rings = [], {}
        elif kind == _CONNECT:
            self._up = True
            self._say(_CONNECTED, b"chaos".ljust(32, b"\0"))
        elif kind != _ACK:
            self._take(kind, data, fds)
            self._say(_ACK)
        for fd in fds:
            os.close(fd)

    def _take(self, kind: int, data: bytes, fds: array.array[int]) -> None:
        if kind == _ADD_REGION:
            _, size = struct.unpack_from("=HQ", data, 2)
            self._regions.append(mmap.mmap(fds[0], size))
        elif kind == _ADD_RING:
            flags, _, region, offset, log2_size, _ = struct.unpack_from("=HHHIBH", data, 2)
            self._rings[bool(flags & _S2M)] = _Ring(self._regions[region], offset, log2_size)

    def _say(self, kind: int, body: bytes = b"") -> None:
        assert self._client is not None
        self._client.send((struct.pack("=H", kind) + body).ljust(_MESSAGE_OCTETS, b"\0"))
