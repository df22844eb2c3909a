# SPDX-License-Identifier: BSD-3-Clause
"""OTG's ``size`` to the sequence of frame sizes that a flow sends over and over.

Sizes count the FCS. With weights, one period holds each size exactly as often as its weight says,
and every beginning of it is less than one frame away from that. Called by
`wirerate.plan.decode_flow`; pure.
"""

from __future__ import annotations

import functools
import heapq
import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING

from wirerate.plan.model import Sizes
from wirerate.units import FRAME_SIZE_MAX, FRAME_SIZE_MIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.reader import Reader

SEQUENCE_MAX = 1_048_576
"""Longest sequence that the engine takes [frames]."""

RANDOM_SIZES = 4096
"""Entries of a ``random`` sequence: its mean is about 1 % off the middle at most."""

RANDOM_SEED = 4096
"""Any fixed number: a plan sends the same sizes in every run."""

_FIXED_DEFAULT = 64
_ORDINARY_MAX = 1518
_WEIGHT_MAX = 1e9

# Size [octets], weight: as the OTG model lists them (FlowSize.WeightPairs.predefined). Some of its
# sizes are below Ethernet's least frame; they are sent as 64 octets, which is what a device makes
# of them by padding (IEEE 802.3 clause 4.2.3.3).
PREDEFINED: dict[str, tuple[tuple[int, str], ...]] = {
    "imix": ((64, "7"), (570, "4"), (1518, "1")),
    "ipsec_imix": ((90, "58.67"), (92, "2"), (594, "23.66"), (1418, "15.67")),
    "ipv6_imix": ((60, "58.67"), (496, "2"), (594, "23.66"), (1518, "15.67")),
    "standard_imix": ((58, "58.67"), (62, "2"), (594, "23.66"), (1518, "15.67")),
    "tcp_imix": ((90, "58.67"), (92, "2"), (594, "23.66"), (1518, "15.67")),
}


def decode_sizes(reader: Reader) -> Sizes:
    """Read a flow's ``size`` (an empty object: the default, 64 octets). Raises PlanError."""
    kind = reader.choice(("fixed", "increment", "random", "weight_pairs"), "fixed")
    if kind == "fixed":
        sequence: tuple[int, ...] = (_frame_size(reader, "fixed", _FIXED_DEFAULT),)
    elif kind == "increment":
        sequence = _increment(reader.branch("increment"))
    elif kind == "random":
        sequence = _random(reader.branch("random"))
    else:
        sequence = _weight_pairs(reader.branch("weight_pairs"))
    reader.done()
    return Sizes(sequence, reader.path)


def weighted_sequence(counts: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Spread values evenly over one period; ``counts``: (value, how often in a period).

    The j-th of c equal values has a place from j * n / c to (j + 1) * n / c in a period of n.
    Whichever must be placed first is (earliest deadline first), which always succeeds: no beginning
    of the sequence is a whole frame away from the weights (Baruah and others, "Proportionate
    progress", 1996).
    """
    period = sum(count for _, count in counts)
    waiting = [(0, index, 0) for index in range(len(counts))]
    ready: list[tuple[int, int, int]] = []
    sequence = []
    for place in range(period):
        while waiting and waiting[0][0] <= place:
            _, index, turn = heapq.heappop(waiting)
            deadline = -(-(turn + 1) * period // counts[index][1])
            heapq.heappush(ready, (deadline, index, turn + 1))
        _, index, turn = heapq.heappop(ready)
        value, count = counts[index]
        sequence.append(value)
        if turn < count:
            heapq.heappush(waiting, (turn * period // count, index, turn))
    return tuple(sequence)


_cached_sequence = functools.lru_cache(maxsize=16)(weighted_sequence)


def _frame_size(reader: Reader, key: str, default: int) -> int:
    size: int = reader.integer(key, FRAME_SIZE_MIN, FRAME_SIZE_MAX, default)
    return size


def _increment(reader: Reader) -> tuple[int, ...]:
    start = _frame_size(reader, "start", FRAME_SIZE_MIN)
    end = _frame_size(reader, "end", _ORDINARY_MAX)
    step = reader.integer("step", 1, FRAME_SIZE_MAX, 1)
    if start > end:
        reader.fail("start", f"{start} is above end, {end}; exchange them")
    reader.done()
    return tuple(range(start, end + 1, step))


def _random(reader: Reader) -> tuple[int, ...]:
    least = _frame_size(reader, "min", FRAME_SIZE_MIN)
    most = _frame_size(reader, "max", _ORDINARY_MAX)
    if least > most:
        reader.fail("min", f"{least} is above max, {most}; exchange them")
    reader.done()
    generator = random.Random(RANDOM_SEED)  # noqa: S311 -- repeatable sizes, no secret
    return tuple(generator.randint(least, most) for _ in range(RANDOM_SIZES))


def _weight_pairs(reader: Reader) -> tuple[int, ...]:
    if reader.choice(("predefined", "custom"), "predefined") == "predefined":
        name = reader.one_of("predefined", PREDEFINED, "imix")
        pairs = [(max(size, FRAME_SIZE_MIN), Fraction(weight)) for size, weight in PREDEFINED[name]]
    else:
        pairs = [_custom_pair(pair) for pair in reader.children("custom")]
        if not pairs:
            reader.fail("custom", "it has no pairs; give one or more of size and weight")
    reader.done()
    return _sequence_of(reader, pairs)


def _custom_pair(reader: Reader) -> tuple[int, Fraction]:
    """Read a pair. The weight is what its decimal figures say, not the float next to it."""
    size = _frame_size(reader, "size", FRAME_SIZE_MIN)
    weight = Fraction(repr(reader.number("weight", 0, _WEIGHT_MAX, 1.0)))
    if weight == 0:
        reader.fail("weight", "0 means that the size is never sent; leave the pair out")
    reader.done()
    return size, weight


def _sequence_of(reader: Reader, pairs: Sequence[tuple[int, Fraction]]) -> tuple[int, ...]:
    """Find the smallest whole numbers in the ratio of the weights, and spread them."""
    weights: dict[int, Fraction] = {}
    for size, weight in pairs:
        weights[size] = weights.get(size, Fraction(0)) + weight
    scale = math.lcm(*(weight.denominator for weight in weights.values()))
    counts = {size: int(weight * scale) for size, weight in weights.items()}
    common = math.gcd(*counts.values())
    period = sum(counts.values()) // common
    if period > SEQUENCE_MAX:
        reader.fail(
            None,
            f"these weights come out even only after more than {SEQUENCE_MAX:,} frames, the most "
            "that a flow can hold; round them",
        )
    return _cached_sequence(tuple((size, count // common) for size, count in counts.items()))
