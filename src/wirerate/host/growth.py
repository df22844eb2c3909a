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
    """The regular files that ports write, and how long each was when this was made [octets].

    A port may write one for each queue: what was sent is in all of them together.
    """

    def __init__(self, locations: Mapping[str, Location]) -> None:
        self._before: dict[str, dict[str, int]] = {}
        for name, location in locations.items():
            sizes = {file: _size(file) for file in written_files(location)}
            known = {file: size for file, size in sizes.items() if size is not None}
            if known and len(known) == len(sizes):
                self._before[name] = known

    def reasons(self, name: str, frames: int, octets: int) -> Iterator[str]:
        """What speaks against ``frames`` sent since, with ``octets`` (FCS included), by a port."""
        if name not in self._before or frames == 0:
            return
        before = self._before[name]
        after = {file: _size(file) for file in before}
        gone = [file for file, size in after.items() if size is None]
        if gone:
            yield f"{gone[0]} is there no more: the frames sent are not in it"
            return
        expected = sum(max(size, _HEAD_OCTETS) for size in before.values())
        expected += octets + frames * (_RECORD_OCTETS - _FCS_OCTETS)
        found = sum(size or 0 for size in after.values())
        if found < expected:
            first = next(iter(before))
            yield (
                f"{format_count(expected - found)} octets of the frames sent are not in "
                f"{' and '.join(before)}; its disk has {format_count(_free(first))} octets free: "
                "make room, or write to another"
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
