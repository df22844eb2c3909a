# SPDX-License-Identifier: BSD-3-Clause
"""Devices that one session or forwarder of this process has open: another one is refused.

Rings, null ports and capture files that are only read belong to their engine, or to everybody.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from wirerate.errors import SessionError
from wirerate.host.capture_files import file_identity, written_files
from wirerate.plan.location import LocationKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wirerate.plan.location import Location

    Device = tuple[object, ...]

_PRIVATE = frozenset({LocationKind.RING, LocationKind.NULL})
_lock = threading.Lock()
_taken: dict[Device, tuple[object, str]] = {}


def claim(owner: object, ports: Iterable[tuple[str, Location]]) -> None:
    """Have all devices of ``ports`` (title, location), or none and raise SessionError."""
    with _lock:
        wanted: dict[Device, tuple[object, str]] = {}
        for title, location in ports:
            for device in _devices(location):
                other = _taken.get(device)
                if other is not None and other[0] is not owner:
                    raise SessionError(
                        f"{title}: {location}: another session of this process has it open "
                        f"({other[1]}); close that one first, or use another device"
                    )
                wanted[device] = (owner, f"its {title}")
        _taken.update(wanted)


def release(owner: object) -> None:
    """Give back what ``owner`` has; nothing where it has nothing."""
    with _lock:
        for device in [device for device, (who, _) in _taken.items() if who is owner]:
            del _taken[device]


def _devices(location: Location) -> Iterator[Device]:
    """What nobody else may have while this location is open."""
    if location.kind in _PRIVATE:
        return
    for file in written_files(location):
        yield ("file", file_identity(file))
    if location.kind is LocationKind.PCAP:
        return
    if location.interface:
        yield ("interface", location.interface)
    elif location.listens_at:
        yield ("socket", os.path.realpath(location.listens_at))
    elif location.kind is LocationKind.PCI:
        yield ("pci", location.value)
    else:
        yield ("location", location.text)
