# SPDX-License-Identifier: BSD-3-Clause
"""Did the files that pcap ports write get all the frames that were sent?

DPDK's net_pcap does not look at what becomes of its writes: on a full disk it counts every frame as
sent. It flushes the file with each burst, so a file that is shorter than its frames tells.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from wirerate.host.capture_files import written_files
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirerate.plan.location import Location

_HEAD_OCTETS = 24
_RECORD_OCTETS = 16
_FCS_OCTETS = 4
"""Of a pcap file, of each frame in it (draft-ietf-opsawg-pcap); files have no FCS."""


class Growth:
    """The regular files that ports write, and how long each was when this was made [octets]."""

    def __init__(self, locations: Mapping[str, Location]) -> None:
        sizes = (
            (name, file, _size(file))
            for name, location in locations.items()
            for file in written_files(location)
        )
        self._files = {name: (file, size) for name, file, size in sizes if size is not None}

    def reasons(self, name: str, frames: int, octets: int) -> Iterator[str]:
        """What speaks against ``frames`` sent since, of so many ``octets`` with FCS, by a port."""
        if name not in self._files or frames == 0:
            return
        file, before = self._files[name]
        after = _size(file)
        if after is None:
            yield f"{file} is there no more: the frames sent are not in it"
            return
        expected = max(before, _HEAD_OCTETS) + octets + frames * (_RECORD_OCTETS - _FCS_OCTETS)
        if after < expected:
            lacks, free = format_count(expected - after), format_count(_free(file))
            yield (
                f"{lacks} octets of the frames sent are not in {file}; its disk has {free} octets "
                "free: make room, or write to another"
            )


def _size(file: str) -> int | None:
    """None of what is no regular file (a FIFO, a device), which does not tell."""
    try:
        found = os.stat(file)  # noqa: PTH116  # its caller writes to the same name
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _free(file: str) -> int:
    found = os.statvfs(file)
    return found.f_bavail * found.f_frsize
