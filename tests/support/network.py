# SPDX-License-Identifier: BSD-3-Clause
"""TCP on this machine: free ports, and what a server answers."""

from __future__ import annotations

import socket

TIMEOUT_S = 10.0


def free_port() -> int:
    """One that nobody listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def exchange(port: int, request: bytes, host: str = "127.0.0.1") -> bytes:
    """Send, and read all that comes until the other side closes."""
    with socket.create_connection((host, port), timeout=TIMEOUT_S) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))
