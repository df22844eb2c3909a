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
from functools import cache, cached_property
from itertools import accumulate, compress
from typing import TYPE_CHECKING, Any

from wirerate.engine.lcore_ids import NONE, LcoreIds
from wirerate.errors import EngineStartError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MAGIC = b"WRCNTRS1"
_HEADER = struct.Struct("=8sQQQ")
_WORD_OCTETS = 8
_PIECE_OCTETS = 1024
_ZEROS = bytes(_PIECE_OCTETS)


@cache
def _numbers(bits: int) -> list[int]:
    """All numbers of so many bits: made once, for thousands of histograms are numbered by them."""
    return list(range(1 << bits))


@dataclass(frozen=True)
class Histogram:
    """A log-linear histogram with 2^``sub_bits`` buckets per octave.

    ``buckets``, ascending, are those in which something was counted, ``counts`` how often: the
    latencies of a flow fill some hundred of 30,000.
    """

    buckets: Sequence[int]
    counts: Sequence[int]
    sub_bits: int

    @classmethod
    def of_words(cls, words: Sequence[int], sub_bits: int) -> Histogram:
        """From the counts of all buckets, the first one first."""
        return cls(list(compress(range(len(words)), words)), list(filter(None, words)), sub_bits)

    @classmethod
    def of_octets(cls, octets: bytes, sub_bits: int, first_bucket: int = 0) -> Histogram:
        """Likewise, from words of 64 bits in host order, the first one that of ``first_bucket``.

        Octets that are all zero cost little.
        """
        buckets: list[int] = []
        counts: list[int] = []
        numbers = _numbers((first_bucket + len(octets) // _WORD_OCTETS).bit_length())
        for at in range(0, len(octets), _PIECE_OCTETS):
            piece = octets[at : at + _PIECE_OCTETS]
            if piece == _ZEROS[: len(piece)]:
                continue
            words = memoryview(piece).cast("Q").tolist()
            first = first_bucket + at // _WORD_OCTETS
            buckets += compress(numbers[first : first + len(words)], words)
            counts += filter(None, words)
        return cls(buckets, counts, sub_bits)

    def bucket_of(self, value: int) -> int:
        """The bucket into which a value falls, as docs/design/0002-engine-interface.md has it."""
        shift = value.bit_length() - 1 - self.sub_bits
        return value if shift < 1 else (shift << self.sub_bits) + (value >> shift)

    def lower_bound(self, bucket: int) -> int:
        """The smallest value that falls into bucket."""
        if bucket < 2 << self.sub_bits:
            return bucket
        shift = (bucket >> self.sub_bits) - 1
        return (bucket - (shift << self.sub_bits)) << shift

    def middle(self, bucket: int) -> float:
        """The middle of a bucket; the value itself where the bucket has only one."""
        low, high = self.lower_bound(bucket), self.lower_bound(bucket + 1)
        return low if high - low == 1 else (low + high) / 2

    @property
    def total(self) -> int:
        """How many values were counted."""
        return sum(self.counts)

    @cached_property
    def _seen(self) -> list[int]:
        """How many values were counted up to each bucket; kept, for every flow asks five times."""
        return list(accumulate(self.counts))

    def percentile(self, percent: float) -> float | None:
        """The middle of the bucket below whose end `percent` of the values lie; None when empty.

        Of the percentage, three decimals count.
        """
        seen = self._seen
        if not seen:
            return None
        rank = max(1, -(-seen[-1] * round(1000 * percent) // 100_000))
        return self.middle(self.buckets[bisect_left(seen, rank)])

    def minus(self, earlier: Histogram) -> Histogram:
        """What has been added since an earlier reading."""
        then = dict(zip(earlier.buckets, earlier.counts, strict=True))
        added = [
            (bucket, count - then.get(bucket, 0))
            for bucket, count in zip(self.buckets, self.counts, strict=True)
        ]
        return Histogram(
            [bucket for bucket, count in added if count],
            [count for _, count in added if count],
            self.sub_bits,
        )


def merge(histograms: Sequence[Histogram]) -> Histogram:
    """The sum of histograms of one shape; at least one."""
    sums = [0] * (1 + max((each.buckets[-1] for each in histograms if each.buckets), default=-1))
    for each in histograms:
        for bucket, count in zip(each.buckets, each.counts, strict=True):
            sums[bucket] += count
    return Histogram.of_words(sums, histograms[0].sub_bits)


class Block:
    """One block of counters: ``block["frames"]``, ``block.histogram("burst_cycles")``."""

    def __init__(self, description: dict[str, Any], segment: mmap.mmap, words: memoryview) -> None:
        self.kind: str = description["kind"]
        self.labels: dict[str, Any] = description["labels"]
        self._segment = segment
        self._words = words
        self._first: int = description["offset"] // _WORD_OCTETS
        self._layout: dict[str, dict[str, Any]] = {w["name"]: w for w in description["words"]}

    def __getitem__(self, name: str) -> int:
        value: int = self._words[self._first + self._layout[name]["word"]]
        return value

    def histogram(self, name: str, least: int = 0, greatest: int | None = None) -> Histogram:
        """A copy of the histogram called name.

        ``least`` and ``greatest`` say that no other values were counted, so that less is read.
        """
        layout = self._layout[name]
        scale = Histogram((), (), layout["histogram"]["sub_bits"])
        last = layout["words"] - 1  # into which all goes that is too large
        first = min(scale.bucket_of(least), last)
        if greatest is not None:
            last = min(scale.bucket_of(greatest), last)
        start = self._first + layout["word"]
        octets = self._segment[_WORD_OCTETS * (start + first) : _WORD_OCTETS * (start + last + 1)]
        return Histogram.of_octets(octets, scale.sub_bits, first)


class Counters:
    """A mapped segment. Stays readable after the engine has died.

    Labels name an lcore by the number of its CPU: ``lcores`` tells it.
    """

    def __init__(self, path: Path, lcores: LcoreIds = NONE) -> None:
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
        self.blocks = tuple(
            Block(block | {"labels": lcores.labels(block["labels"])}, self._map, self._words)
            for block in description["blocks"]
        )
        self._kinds: dict[str, tuple[Block, ...]] = {
            kind: tuple(block for block in self.blocks if block.kind == kind)
            for kind in {block.kind for block in self.blocks}
        }

    def of_kind(self, kind: str) -> tuple[Block, ...]:
        """All blocks of a kind (engine, port, worker, tx, rx, flow, …); empty without any."""
        return self._kinds.get(kind, ())

    @property
    def engine(self) -> Block:
        """The one block of the engine."""
        return self.of_kind("engine")[0]
