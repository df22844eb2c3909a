# SPDX-License-Identifier: BSD-3-Clause
"""Would a port write a capture file that somebody reads? Asked before any port opens.

libpcap empties the file of a ``pcap:IN,OUT`` port as it opens it, so a trace that is sent onto its
own file is lost. Files are compared by device and inode, not by name: symbolic and hard links,
``./`` and the like lead to the same one. Called by the commands.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.location import Location, LocationKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.plan.model import Plan

_PCAP_VDEVS = ("net_pcap", "eth_pcap")
_READ_KEYS = frozenset({"rx_pcap"})
_WRITTEN_KEYS = frozenset({"tx_pcap", "rx_pcap_tee"})


@dataclass(frozen=True)
class _Use:
    """A file and what it is for: ``flow web sends``, ``port east writes``."""

    file: str
    user: str


def check_capture_files(plan: Plan, titles: Sequence[str]) -> None:
    """Raise PlanError, naming both, where a port writes what a flow or port reads or writes.

    ``titles`` are what messages call the plan's ports.
    """
    written: dict[tuple[object, ...], _Use] = {}
    for port, title in zip(plan.ports, titles, strict=True):
        for file in written_files(port.location):
            use = _Use(file, f"{title} ({port.location})")
            identity = file_identity(file)
            if identity in written:
                other = written[identity]
                raise PlanError(
                    f"{use.user} writes {file}, but {other.user} writes the same file"
                    f"{_spelt(other.file, file)}; give each port a file of its own"
                )
            if identity is not None:
                written[identity] = use
    for use in _reads(plan, titles):
        writer = written.get(file_identity(use.file) or ())
        if writer is not None:
            raise PlanError(
                f"{writer.user} would overwrite {writer.file}, which {use.user} reads"
                f"{_spelt(use.file, writer.file)}; write another file"
            )


def check_output(output: Path, option: str, plan: Plan) -> None:
    """Raise PlanError where ``option`` names a file to be written that a flow sends."""
    identity = file_identity(os.fspath(output))
    for use in _reads(plan, ()):
        if identity is not None and identity == file_identity(use.file):
            raise PlanError(
                f"{option}: it is the file that {use.user} reads"
                f"{_spelt(use.file, os.fspath(output))}; write another file"
            )


def file_identity(file: str) -> tuple[object, ...] | None:
    """What is the same for all names of a file: device and inode.

    A file that is not there yet is known by its directory and name; None for what is no regular
    file (/dev/null, a pipe), which loses nothing, and for what cannot be looked at.
    """
    try:
        found = Path(file).stat()
    except FileNotFoundError:
        place = Path(os.path.realpath(file))
        try:
            found = place.parent.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino, place.name)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def written_files(location: Location) -> list[str]:
    """The capture files that a port writes."""
    return _files(location, _WRITTEN_KEYS, 1)


def _reads(plan: Plan, titles: Sequence[str]) -> Iterator[_Use]:
    for flow in plan.flows:
        if flow.trace is not None:
            yield _Use(os.fspath(flow.trace.file), f"flow {flow.name}")
    for port, title in zip(plan.ports, titles, strict=False):
        for file in _files(port.location, _READ_KEYS, 0):
            yield _Use(file, f"{title} ({port.location})")


def _files(location: Location, keys: frozenset[str], place: int) -> list[str]:
    """The files of a pcap port, by place, or by key where it is written as a vdev."""
    if location.kind is LocationKind.PCAP:
        file = location.value.split(",")[place]
        return [file] if file else []
    if location.kind is not LocationKind.VDEV or not location.value.startswith(_PCAP_VDEVS):
        return []
    pairs = [word.partition("=") for word in location.value.split(",")[1:]]
    return [value for key, _, value in pairs if key in keys and value]


def _spelt(other: str, file: str) -> str:
    """How the other user calls it, where that is not the same."""
    return "" if other == file else f" as {other}"
