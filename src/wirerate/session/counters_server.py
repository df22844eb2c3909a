# SPDX-License-Identifier: BSD-3-Clause
"""Tell whoever asks what this forwarder has counted: GET /counters, by HTTP/1.0.

Served by threads of this process, which only read the mapped counters: the engine does not notice.
Whoever connects may be slow, broken or hostile: a connection gets one answer, few are served at a
time, and none lasts long. Where all places are taken, the client that has had its place longest
loses it: slow ones do not shut out one that asks and reads at once.
"""

from __future__ import annotations

import http.server
import json
import os
import socket
import socketserver
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from wirerate.errors import HostSetupError
from wirerate.plan.peer_address import PeerAddress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PATH = "/counters"
CLIENTS_MAX = 16
"""Served at a time."""
ROOM_S = 0.2
"""After this a client may lose its place to a new one [s]; it asks and reads in milliseconds."""
_TOO_MANY = (
    b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"too many connections; try again in some seconds\n"
)
CLIENT_S = 5.0
"""The longest that a client may take for asking and for reading the answer [s]."""
_POLL_S = 0.1
_METHODS = "GET, HEAD"
_UNSUPPORTED = 501
_NOT_ALLOWED = 405


class _Handler(http.server.BaseHTTPRequestHandler):
    """One request; the base class reads it, within its own limits of length."""

    server: CountersServer
    timeout = CLIENT_S
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n%(explain)s\n"

    def do_GET(self) -> None:
        """Answer with the document as of now."""
        body = self._start()
        if body is not None:
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        """Answer without it."""
        self._start()

    def _start(self) -> bytes | None:
        if self.path.partition("?")[0] != PATH:
            self.send_error(404, explain=f"There is {PATH} only.")
            return None
        body = f"{json.dumps(self.server.document())}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        return body

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse; of other methods say so, instead of that they are not implemented."""
        if code == _UNSUPPORTED:
            code, message, explain = _NOT_ALLOWED, None, f"Only {_METHODS} {PATH}."
        super().send_error(code, message, explain)

    def end_headers(self) -> None:
        """Say what is allowed, with every answer."""
        self.send_header("Allow", _METHODS)
        super().end_headers()

    def version_string(self) -> str:
        """Name the program, and no version."""
        return "wirerate"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Write no log."""


class CountersServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server that is bound to its address, and answers once `serving` is entered."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: PeerAddress) -> None:
        """Take the address, port 0 being a free one. Raises HostSetupError when it cannot."""
        self.document: Callable[[], Mapping[str, Any]] = dict
        self._since: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        try:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            self.address_family = found[0][0]
            super().__init__((address.host, address.port), _Handler)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
            raise HostSetupError(
                f"--listen {address}: {str(reason).lower()}; choose another address or port, 0 "
                "being a free one"
            ) from error
        self.address = PeerAddress(address.host, self.server_address[1])

    @contextmanager
    def serving(self, document: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
        """Answer with what ``document`` makes, in any thread, until the end of the block."""
        self.document = document
        thread = threading.Thread(target=self.serve_forever, args=(_POLL_S,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take a client, if there is room for it or can be made."""
        del client_address
        with self._lock:
            if len(self._since) >= CLIENTS_MAX and not self._make_room():
                with suppress(OSError):
                    request.sendall(_TOO_MANY)
                return False
            self._since[request] = time.monotonic()
            return True

    def _make_room(self) -> bool:
        """Cut off the client that has been here longest, if that is long; the lock is held."""
        oldest = next(iter(self._since))
        if time.monotonic() - self._since[oldest] < ROOM_S:
            return False
        del self._since[oldest]
        _cut_off(oldest)
        return True

    def shutdown_request(self, request: Any) -> None:
        """Forget a client; called once for each, turned away or not."""
        with self._lock:
            self._since.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Cut off who takes too long; its thread then ends by itself."""
        limit = time.monotonic() - CLIENT_S
        with self._lock:
            for request, since in self._since.items():
                if since < limit:
                    _cut_off(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away or were cut off."""


def _cut_off(request: socket.socket) -> None:
    with suppress(OSError):  # it may have gone already
        request.shutdown(socket.SHUT_RDWR)
