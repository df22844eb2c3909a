# SPDX-License-Identifier: BSD-3-Clause
"""The engine's counters, mapped read-only; the segment describes itself.

Reading costs the engine nothing. A word is read whole; words of one burst may be a burst apart
while workers run and are exact once they have stopped.
"""

from __future__ import annotations

import json
import mmap
import struct
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineStartError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MAGIC = b"WRCNTRS1"
_HEADER = struct.Struct("=8sQQQ")
_WORD_OCTETS = 8


@dataclass(frozen=True)
class Histogram:
    """A log-linear histogram: bucket counts and the bits of sub-buckets per octave."""

    counts: tuple[int, ...]
    sub_bits: int

    def lower_bound(self, bucket: int) -> int:
        """The smallest value that falls into bucket."""
        if bucket < 2 << self.sub_bits:
            return bucket
        shift = (bucket >> self.sub_bits) - 1
        return (bucket - (shift << self.sub_bits)) << shift

    @property
    def total(self) -> int:
        """How many values were counted."""
        return sum(self.counts)

    @cached_property
    def _seen(self) -> tuple[int, ...]:
        """How many values were counted up to each bucket; kept, for every flow asks twice."""
        return tuple(accumulate(self.counts))

    def percentile(self, percent: float) -> float | None:
        """The middle of the bucket below whose end `percent` of the values lie; None when empty."""
        seen = self._seen
        if not seen or seen[-1] == 0:
            return None
        rank = max(1, -(-seen[-1] * percent // 100))
        bucket = bisect_left(seen, rank)
        if bucket == len(seen):
            return None
        low, high = self.lower_bound(bucket), self.lower_bound(bucket + 1)
        return low if high - low == 1 else (low + high) / 2

    def minus(self, earlier: Histogram) -> Histogram:
        """What has been added since an earlier reading."""
        pairs = zip(self.counts, earlier.counts, strict=True)
        return Histogram(tuple(now - then for now, then in pairs), self.sub_bits)


def merge(histograms: Sequence[Histogram]) -> Histogram:
    """The sum of histograms of one shape; at least one."""
    columns = zip(*(histogram.counts for histogram in histograms), strict=True)
    return Histogram(tuple(sum(column) for column in columns), histograms[0].sub_bits)


class Block:
    """One block of counters: ``block["frames"]``, ``block.histogram("burst_cycles")``."""

    def __init__(self, description: dict[str, Any], words: memoryview) -> None:
        self.kind: str = description["kind"]
        self.labels: dict[str, Any] = description["labels"]
        self._words = words
        self._first: int = description["offset"] // _WORD_OCTETS
        self._layout: dict[str, dict[str, Any]] = {w["name"]: w for w in description["words"]}

    def __getitem__(self, name: str) -> int:
        value: int = self._words[self._first + self._layout[name]["word"]]
        return value

    def get(self, name: str) -> int:
        """The word called name; 0 where this engine's blocks have none of that name."""
        return self[name] if name in self._layout else 0

    def histogram(self, name: str) -> Histogram:
        """A copy of the histogram called name."""
        layout = self._layout[name]
        first = self._first + layout["word"]
        counts = tuple(self._words[first : first + layout["words"]])
        return Histogram(counts, layout["histogram"]["sub_bits"])


class Counters:
    """A mapped segment. Stays readable after the engine has died."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        magic, octets, at, length = _HEADER.unpack_from(self._map)
        if magic != _MAGIC or octets > len(self._map):
            text = f"{path} is no counters segment of this version"
            raise EngineStartError(text)
        description = json.loads(self._map[at : at + length])
        self.tsc_hz: int = description["tsc_hz"]
        whole = memoryview(self._map)
        self._words = whole[: at // _WORD_OCTETS * _WORD_OCTETS].cast("Q")
        self.blocks = tuple(Block(block, self._words) for block in description["blocks"])

    def of_kind(self, kind: str) -> tuple[Block, ...]:
        """All blocks of a kind: engine, port, worker, tx or rx."""
        return tuple(block for block in self.blocks if block.kind == kind)

    @property
    def engine(self) -> Block:
        """The one block of the engine."""
        return self.of_kind("engine")[0]
