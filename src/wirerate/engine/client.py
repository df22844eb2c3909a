# SPDX-License-Identifier: BSD-3-Clause
"""JSON-RPC 2.0 client of the engine's control socket (docs/design/0002-engine-interface.md)."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineDiedError, EngineRefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Opening ports waits for their links; a far end that stands still may hold it up for good.
_REPLY_TIMEOUT_S = 120.0


class ControlClient:
    """One connection. Calls block until the reply; not for several threads at once.

    ``waits_for`` is the method that has no reply yet, empty without one. When that call was given
    up (Ctrl-C, or silence), no other may follow it: its reply would be taken for theirs.
    """

    def __init__(self, socket_path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_REPLY_TIMEOUT_S)
        try:
            self._socket.connect(str(socket_path))
        except OSError:
            self._socket.close()
            raise
        self._replies = self._socket.makefile("rb")
        self._id = 0
        self.waits_for = ""

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result of a method.

        Raises EngineRefusedError with the engine's own words, EngineDiedError when the
        connection ends or stays silent for two minutes.
        """
        self._id += 1
        self.waits_for = method
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        try:
            self._socket.sendall(json.dumps(request, separators=(",", ":")).encode() + b"\n")
            line = self._replies.readline()
        except OSError as error:
            text = f"the engine does not answer {method}: {error}"
            raise EngineDiedError(text) from error
        if not line:
            text = f"the engine closed the connection during {method}"
            raise EngineDiedError(text)
        self.waits_for = ""
        return self._result(json.loads(line))

    @staticmethod
    def _result(reply: dict[str, Any]) -> dict[str, Any]:
        error = reply.get("error")
        if error is None:
            result: dict[str, Any] = reply["result"]
            return result
        data = error.get("data") or {}
        path = data.get("path") or None
        text = f"{path}: {error['message']}" if path else error["message"]
        raise EngineRefusedError(text, path=path, errno_name=data.get("errno"))

    def close(self) -> None:
        """Close the connection."""
        self._replies.close()
        self._socket.close()
