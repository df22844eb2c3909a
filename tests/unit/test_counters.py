# SPDX-License-Identifier: BSD-3-Clause
"""Counters: the self-describing segment and what is read off histograms."""

from __future__ import annotations

import struct

import pytest

from support.made_up import HZ, histogram, segment
from wirerate.engine.counters import Counters, Histogram, merge
from wirerate.errors import EngineStartError

BLOCKS = [
    {
        "kind": "engine",
        "labels": {},
        "offset": 128,
        "words": [{"name": "start_tsc", "unit": "cycles", "word": 1, "words": 1}],
    },
    {
        "kind": "tx",
        "labels": {"port": "p0", "queue": 1},
        "offset": 256,
        "words": [
            {"name": "frames", "unit": "frames", "word": 0, "words": 1},
            {"name": "cycles", "word": 2, "words": 6, "histogram": {"sub_bits": 1}},
        ],
    },
]
WORDS = {128: [7, 8], 256: [2**64 - 1, 0, 1, 2, 3, 4, 5, 6]}


def test_a_segment_is_read_by_its_own_description(tmp_path):
    segment(tmp_path / "counters-1", BLOCKS, WORDS)
    counters = Counters(tmp_path / "counters-1")
    assert counters.tsc_hz == HZ
    assert counters.engine["start_tsc"] == 8
    [queue] = counters.of_kind("tx")
    assert queue.labels == {"port": "p0", "queue": 1}
    assert queue["frames"] == 2**64 - 1
    assert queue.histogram("cycles") == Histogram.of_words((1, 2, 3, 4, 5, 6), 1)
    assert counters.of_kind("rx") == ()
    with pytest.raises(KeyError):
        queue["nothing"]


def test_a_segment_is_alive(tmp_path):
    path = tmp_path / "counters-1"
    segment(path, BLOCKS, WORDS)
    counters = Counters(path)
    with path.open("r+b") as file:
        file.seek(256)
        file.write((41).to_bytes(8, "little"))
    assert counters.of_kind("tx")[0]["frames"] == 41


@pytest.mark.parametrize("spoil", [b"WRCNTRS2", b"\0" * 8])
def test_another_segment_is_refused(tmp_path, spoil):
    path = tmp_path / "counters-1"
    segment(path, BLOCKS, WORDS)
    path.write_bytes(spoil + path.read_bytes()[8:])
    with pytest.raises(EngineStartError, match="counters-1"):
        Counters(path)


def test_a_cut_segment_is_refused(tmp_path):
    path = tmp_path / "counters-1"
    segment(path, BLOCKS, WORDS)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(EngineStartError):
        Counters(path)


def test_small_values_are_exact():
    counted = histogram(*range(1, 51))
    assert counted.total == 50
    assert [counted.percentile(percent) for percent in (2, 50, 99, 100)] == [1, 25, 50, 50]


def test_an_empty_histogram_has_no_percentile():
    assert Histogram.of_words((0, 0, 0), 5).percentile(50) is None


def test_of_a_large_value_the_middle_of_its_bucket_is_told():
    # 1000 = 0b1111101000 with 5 sub-bits: 16 wide, from 992.
    assert histogram(1000).percentile(50) == 992 + 16 / 2


def test_differences_and_sums():
    before, after = Histogram.of_words((1, 2, 3), 5), Histogram.of_words((1, 4, 9), 5)
    assert after.minus(before) == Histogram([1, 2], [2, 6], 5)
    assert merge([before, after]) == Histogram.of_words((2, 6, 12), 5)
    assert merge([before]) == before


def test_empty_buckets_take_no_room():
    words = [0] * 30_000
    words[7], words[8], words[29_999] = 1, 2, 3
    octets = struct.pack("=30000Q", *words)
    counted = Histogram.of_octets(octets, 10)
    assert counted == Histogram([7, 8, 29_999], [1, 2, 3], 10) == Histogram.of_words(words, 10)
    assert merge([counted, Histogram([], [], 10)]) == counted
    assert Histogram.of_octets(octets[8 * 8 :], 10, 8) == Histogram([8, 29_999], [2, 3], 10)


def test_only_what_can_have_been_counted_is_read(tmp_path):
    segment(tmp_path / "counters-1", BLOCKS, WORDS)
    [queue] = Counters(tmp_path / "counters-1").of_kind("tx")
    # Of one sub-bit, 4 and 5 share bucket 4; what is too large is in the last one, 5.
    assert queue.histogram("cycles", 2, 5) == Histogram([2, 3, 4], [3, 4, 5], 1)
    assert queue.histogram("cycles", 3, 1000) == Histogram([3, 4, 5], [4, 5, 6], 1)


@pytest.mark.parametrize(("percent", "rank"), [(99.9, 999), (99.99, 1000), (0.1, 1), (50, 500)])
def test_percentages_are_exact(percent, rank):
    assert Histogram(range(1, 1001), [1] * 1000, 10).percentile(percent) == rank
