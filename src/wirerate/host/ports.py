# SPDX-License-Identifier: BSD-3-Clause
"""May this process open a port, and does the host have it? Asked before the engine is started.

Drivers answer these questions with an errno that explains nothing; here they get words.
"""

from __future__ import annotations

import os
from pathlib import Path

from wirerate.errors import HostSetupError, PlanError
from wirerate.host.tree import read_text
from wirerate.plan.location import Location, LocationKind

ROOT = Path("/")
_CAPABILITIES = {
    LocationKind.TAP: {"CAP_NET_ADMIN": 12},
    LocationKind.AF_PACKET: {"CAP_NET_RAW": 13},
    LocationKind.AF_XDP: {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21},
}
_SOCKETS = {LocationKind.MEMIF, LocationKind.VHOST}


def check_port(index: int, location: Location, queues: int, root: Path = ROOT) -> None:
    """Raise HostSetupError or PlanError, with the cure, when the port cannot be opened for sure."""
    _check_capabilities(index, location, root)
    if location.kind in _SOCKETS and "socket-abstract=yes" not in location.devargs:
        _check_directory(index, location)
    if location.kind is LocationKind.AF_XDP:
        _check_queues(index, location, queues, root)


def _effective(root: Path) -> int:
    """The effective capabilities of this process as a bit mask (capabilities(7))."""
    for line in (read_text(root / "proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return -1  # not to be known: let the driver find out


def _check_capabilities(index: int, location: Location, root: Path) -> None:
    needed = _CAPABILITIES.get(location.kind, {})
    mask = _effective(root)
    missing = [name for name, bit in needed.items() if not mask >> bit & 1]
    if missing:
        raise HostSetupError(
            f"port {index}: {location} needs {', '.join(missing)}, which this user lacks; "
            "run as root, or see wirerate doctor",
        )


def _check_directory(index: int, location: Location) -> None:
    socket = Path(location.value)
    if not socket.parent.is_dir():
        raise HostSetupError(
            f"port {index}: {location}: there is no directory {socket.parent}; make it first",
        )
    if not socket.exists() and not os.access(socket.parent, os.W_OK):
        raise HostSetupError(
            f"port {index}: {location}: this user may not make a socket in {socket.parent}; "
            "choose another place",
        )


def _check_queues(index: int, location: Location, queues: int, root: Path) -> None:
    directory = root / "sys/class/net" / location.value / "queues"
    there = len(list(directory.glob("rx-*")))
    if 0 < there < queues:
        raise PlanError(
            f"port {index}: {queues} queues asked, interface {location.value} has {there}; use "
            f"fewer lcores in its map, or ethtool -L {location.value} combined {queues}",
        )
