# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of a field to the engine's FIELDs: windows of at most 8 octets in lock-step.

The engine writes values of 64 bits at most (docs/design/0002-engine-interface.md, STREAM). A wider
field, an IPv6 address say, or one that lies across 9 octets is cut on octet boundaries into pieces,
each with a pattern of its own, so that all pieces of frame i together carry the field's value of
frame i. What never changes becomes a constant. Used by `wirerate.plan.layout`; pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.fields import Fixed, Random, Steps, Values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.plan.fields import Pattern

VALUES_MAX = 65_536
"""Most entries of a FIELD's list of values."""

_WINDOW_OCTETS = 8
_WORD = 1 << 64
_GAMMA = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Piece:
    """A part of a field that fits a window: ``bits`` (1…64) from bit ``bit`` of the frame."""

    bit: int
    bits: int
    pattern: Pattern

    @property
    def field(self) -> dict[str, Any]:
        """The engine's FIELD; the pattern must not be Fixed."""
        first = self.bit // 8
        octets = (self.bit + self.bits - 1) // 8 - first + 1
        field: dict[str, Any] = {"offset": first, "octets": octets}
        if self.bits != 8 * octets:
            field["shift"] = 8 * (first + octets) - self.bit - self.bits
            field["bits"] = self.bits
        assert not isinstance(self.pattern, Fixed)
        every = {} if self.pattern.every == 1 else {"every": self.pattern.every}
        return field | _values(self.pattern, self.bits) | every


def cut(pattern: Pattern, bit: int, bits: int, path: str) -> Iterator[Piece]:
    """Cut a field of ``bits`` at ``bit`` into pieces, the least significant one first.

    Patterns of one value come out as Fixed. Raises PlanError at ``path`` where the pieces cannot
    be told one by one.
    """
    while True:
        last = (bit + bits - 1) // 8
        start = max(bit, (last + 1 - _WINDOW_OCTETS) * 8)
        low = bit + bits - start
        if low == bits:
            yield Piece(bit, bits, _simplest(pattern, bits))
            return
        low_pattern, pattern = _split(pattern, low, bits, path)
        yield Piece(start, low, _simplest(low_pattern, low))
        bits -= low


def value_at(pattern: Pattern, bits: int, i: int) -> int:
    """What frame ``i`` carries in a field of ``bits`` (Random: at most 64)."""
    if isinstance(pattern, Fixed):
        return pattern.value
    k = i // pattern.every
    if isinstance(pattern, Steps):
        return (pattern.first + pattern.step * (k % pattern.count)) % (1 << bits)
    if isinstance(pattern, Values):
        return pattern.values[k % len(pattern.values)]
    return random_value(pattern, k)


def random_value(pattern: Random, k: int) -> int:
    """The k-th value of a random pattern whose greatest value is below 2^64."""
    values = pattern.maximum - pattern.minimum + 1
    hashed = _mixed(pattern.seed + (k % pattern.count + 1) * _GAMMA)
    return pattern.minimum + (hashed * values >> 64)


def _mixed(state: int) -> int:
    """Splitmix64's output function (Steele, Lea, Flood 2014), as the engine's contract has it."""
    z = state % _WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % _WORD
    return z ^ (z >> 31)


def _simplest(pattern: Pattern, bits: int) -> Pattern:
    """Fixed where nothing changes, and the shortest count of steps that come back to the first."""
    if isinstance(pattern, Steps):
        period = (1 << bits) // math.gcd(pattern.step, 1 << bits)
        count = period if pattern.count % period == 0 else pattern.count
        if count == 1:
            return Fixed(pattern.first % (1 << bits))
        return Steps(pattern.first, pattern.step, count, pattern.every)
    if isinstance(pattern, Values) and len(set(pattern.values)) == 1:
        return Fixed(pattern.values[0])
    if isinstance(pattern, Random) and (pattern.count == 1 or pattern.minimum == pattern.maximum):
        return Fixed(random_value(pattern, 0))
    return pattern


def _values(pattern: Pattern, bits: int) -> dict[str, Any]:
    """VALUES of a FIELD; numbers above 2^63 - 1 are reached as negative."""
    if isinstance(pattern, Steps):
        size = 1 << bits
        step = pattern.step if -size < pattern.step < size else pattern.step % size
        if not -_WORD // 2 <= step < _WORD // 2:
            step = _signed(step)
        first = _signed(pattern.first % size)
        return {"first": first, "step": step, "count": pattern.count}
    if isinstance(pattern, Values):
        return {"values": [_signed(value) for value in pattern.values]}
    assert isinstance(pattern, Random)
    limits = {"min": _signed(pattern.minimum), "max": _signed(pattern.maximum)}
    return {"random": limits | {"seed": _signed(pattern.seed), "count": pattern.count}}


def _signed(value: int) -> int:
    """The 64-bit two's complement that has these bits."""
    value %= _WORD
    return value - _WORD if value >= _WORD // 2 else value


def _split(pattern: Pattern, low: int, bits: int, path: str) -> tuple[Pattern, Pattern]:
    """The patterns of the low bits and of what is above them, of a field of ``bits``."""
    mask = (1 << low) - 1
    if isinstance(pattern, Fixed):
        return Fixed(pattern.value & mask), Fixed(pattern.value >> low)
    if isinstance(pattern, Values):
        return (
            Values(tuple(value & mask for value in pattern.values), pattern.every),
            Values(tuple(value >> low for value in pattern.values), pattern.every),
        )
    if isinstance(pattern, Steps):
        below = Steps(pattern.first & mask, pattern.step, pattern.count, pattern.every)
        return below, _steps_above(pattern, low, bits, path)
    return _split_random(pattern, low, path)


def _steps_above(pattern: Steps, low: int, bits: int, path: str) -> Pattern:
    """Steps of the bits above ``low``, if the low ones never carry into them; else a list."""
    size = 1 << low
    first = pattern.first % (1 << bits)
    step, step_low = divmod(pattern.step, size)
    first_high, first_low = divmod(first, size)
    if first_low + step_low * (pattern.count - 1) < size:
        return Steps(first_high, step, pattern.count, pattern.every)
    # The same step downwards: one more above, the complement less below.
    if first_low - (size - step_low) * (pattern.count - 1) >= 0:
        return Steps(first_high, step + 1, pattern.count, pattern.every)
    if pattern.count > VALUES_MAX:
        raise PlanError(
            f"{path}: {pattern.count:,} steps carry from the low {low} bits into those above, "
            f"which is done for at most {VALUES_MAX:,}; lower the count, or choose start and step "
            "so that only one of the two parts changes",
        )
    plain = replace(pattern, every=1)
    numbers = (value_at(plain, bits, k) >> low for k in range(pattern.count))
    return Values(tuple(numbers), pattern.every)


def _split_random(pattern: Random, low: int, path: str) -> tuple[Pattern, Pattern]:
    """Random low bits under constant ones, or two independent parts of an aligned range."""
    mask = (1 << low) - 1
    least, greatest = pattern.minimum, pattern.maximum
    if least >> low == greatest >> low:
        below = replace(pattern, minimum=least & mask, maximum=greatest & mask, chosen=False)
        return below, Fixed(least >> low)
    values = greatest - least + 1
    if values & (values - 1) or least % values:
        raise PlanError(
            f"{path}: a random range that goes over the low {low} bits must be a whole block: "
            "2^n values, the least of them a multiple of 2^n; widen it, or keep the bits above "
            "constant",
        )
    seed_above = _mixed(_mixed(pattern.seed) ^ _GAMMA)  # no stream of the seed below, shifted
    above = Random(least >> low, greatest >> low, seed_above, pattern.count, every=pattern.every)
    return Random(0, mask, pattern.seed, pattern.count, every=pattern.every), above
