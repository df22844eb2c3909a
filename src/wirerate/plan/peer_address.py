# SPDX-License-Identifier: BSD-3-Clause
"""Where a forwarder tells its counters: HOST:PORT, with brackets around an IPv6 address."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from wirerate.errors import PlanError

LOOPBACK = "127.0.0.1"
_PORT_MAX = 65535
_FORM = re.compile(r"(?:(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<host>[^:\[\]/\s]+)):)?(?P<port>[0-9]{1,6})")


@dataclass(frozen=True)
class PeerAddress:
    """A host's name or address, without brackets, and its TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_listen(text: str) -> PeerAddress:
    """Read ``[HOST:]PORT``; port 0: one that is free. Raises PlanError."""
    return _parse(text, "--listen", "write PORT or HOST:PORT", first=0)


def parse_peer(text: str) -> PeerAddress:
    """Read ``[HOST:]PORT`` of a forwarder that runs with --listen. Raises PlanError."""
    return _parse(text, "--peer", "write HOST:PORT as the peer's --listen has it", first=1)


def _parse(text: str, option: str, advice: str, first: int) -> PeerAddress:
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise PlanError(f"{option} {text!r}: {advice}, an IPv6 address in brackets: [::1]:8080")
    port = int(match["port"])
    if not first <= port <= _PORT_MAX:
        raise PlanError(f"{option} {text!r}: TCP ports are {first} to {_PORT_MAX:,}")
    if match["ipv6"] is not None:
        try:
            ipaddress.IPv6Address(match["ipv6"])
        except ValueError as error:
            raise PlanError(f"{option} {text!r}: {match['ipv6']!r} is no IPv6 address") from error
    return PeerAddress(match["ipv6"] or match["host"] or LOOPBACK, port)
