# SPDX-License-Identifier: BSD-3-Clause
"""Frames to and from interfaces of the kernel, with its receive times; its counters.

The harness runs in a network namespace of its own (``inside.py``), so names of interfaces are free.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import time
from pathlib import Path

_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_PACKET_IGNORE_OUTGOING = 23
_PACKET_QDISC_BYPASS = 20
_ETH_P_ALL = 3
_ROOM = 256 << 20
_TIMES = struct.Struct("qq")
_NS = 1_000_000_000


def ip(*words: str) -> None:
    """Run ip(8); it must succeed."""
    subprocess.run(("ip", *words), check=True, capture_output=True, timeout=20)


def add_wire(near: str, far: str) -> None:
    """A silent veth pair: neither IPv6 nor ARP."""
    ip("link", "add", near, "type", "veth", "peer", far)
    for name in (near, far):
        quiet(name)


def quiet(name: str) -> None:
    """Let the kernel send nothing of its own on an interface, and take it up."""
    Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
    ip("link", "set", name, "arp", "off", "up")


def counter(name: str, what: str) -> int:
    """One of the kernel's counters of an interface (`ip -s link`); 0 where it is gone."""
    try:
        return int(Path(f"/sys/class/net/{name}/statistics/{what}").read_text())
    except OSError:
        return 0


class End:
    """A packet socket at an interface: what arrives there, and a way to send."""

    def __init__(self, name: str, *, listen: bool = True) -> None:
        self.name = name
        self.dropped = 0
        protocol = _ETH_P_ALL if listen else 0
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_QDISC_BYPASS, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _ROOM)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.bind((name, protocol))
        self._socket.settimeout(0)

    def receive(self) -> tuple[int, bytes] | None:
        """A frame and when the kernel took it [ns since 1970]; None where there is none."""
        try:
            frame, extra, _, _ = self._socket.recvmsg(16384, 64)
        except BlockingIOError:
            return None
        except OSError:  # the interface went down
            return None
        at = time.time_ns()
        for _, kind, data in extra:
            if kind == _SO_TIMESTAMPNS:
                seconds, nanoseconds = _TIMES.unpack(data[:16])
                at = seconds * _NS + nanoseconds
        return at, frame

    def send(self, frame: bytes) -> bool:
        """False where the kernel did not take it (the link is down, no room)."""
        for _ in range(100):
            try:
                self._socket.send(frame)
            except BlockingIOError:
                time.sleep(0.0002)
            except OSError:
                return False
            else:
                return True
        return False

    def drops(self) -> int:
        """Frames that this socket had no room for since it was opened."""
        answer = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        self.dropped += struct.unpack("II", answer)[1]
        return self.dropped

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()
