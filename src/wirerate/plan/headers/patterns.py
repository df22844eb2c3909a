# SPDX-License-Identifier: BSD-3-Clause
"""OTG's field patterns: what a field carries from frame to frame, read into a `Content`.

A pattern is an object such as ``{choice: increment, increment: {start: 1, count: 10}}``. Where OTG
leaves something out, its model's defaults hold: ``value`` and ``start`` are the field's own
default, ``step`` 1, ``count`` 1, ``seed`` 1. All branches are taken for every field; OTG offers
``random`` for some only. Called by `wirerate.plan.headers`; pure but for the seeds of ``seed: 0``.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from wirerate.errors import PlanError
from wirerate.plan.fields import Checksum, Content, Fixed, Random, Steps, Values
from wirerate.plan.reader import EXTENSION, Reader, shown, to_integer

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["integer", "signed", "mac", "ipv4", "ipv6", "hex"]
"""How a field's values are written: ``signed`` is two's complement, ``hex`` a string of digits."""

COUNT_MAX = 1 << 48
"""Most steps of a pattern, from the engine's contract for FIELD."""
VALUES_MAX = 65536
"""Most entries of a list of values, likewise."""
EVERY_MAX = 1 << 32
"""Most frames with the same value, one after the other, likewise."""
SEED_MAX = (1 << 63) - 1
"""Greatest seed: a positive 64-bit integer of the engine's."""

_SYSTEM_SEEDS = (1 << 32) - 1
_RANDOM_BITS = 64
_BRANCHES = ("value", "values", "increment", "decrement", "random", "auto")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}")
_HEX = re.compile(r"(?:0[xX])?([0-9A-Fa-f]+)")


def decode_pattern(
    reader: Reader,
    key: str,
    bits: int,
    default: Content,
    *,
    kind: Kind = "integer",
    plain: int | None = None,
    automatic: Content | None = None,
) -> Content:
    """The pattern at ``key`` of a header's object, for a field ``bits`` wide; absent: ``default``.

    ``plain`` is the number that the model has for a missing ``value`` or ``start``: of itself that
    of a Fixed default, else 0. ``auto`` gives ``automatic``, or the default where that is not a
    Fixed. Raises PlanError with the path of what is wrong.
    """
    value = reader.raw(key, None)
    if value is None:
        return default
    path = reader.place(key)
    if not isinstance(value, dict):
        raise PlanError(
            f"{path}: {shown(value)} is not a pattern; write {{value: {shown(value)}}}"
            if isinstance(value, (int, str))
            else f"{path}: {shown(value)} is not a pattern, an object such as {{value: …}}"
        )
    pattern = Reader(value, path)
    if isinstance(default, Checksum):
        content = _decode_checksum(pattern, bits, default)
    else:
        if plain is None:
            plain = default.value if isinstance(default, Fixed) else 0
        if automatic is None and not isinstance(default, Fixed):
            automatic = default
        content = _decode_branch(_Field(pattern, bits, kind, plain), default, automatic)
        content = _decode_extension(pattern, content)
    pattern.unsupported("metric_tags", "metric tags")
    pattern.done()
    return content


@dataclass(frozen=True)
class _Field:
    """A pattern being read, and what the field's numbers look like."""

    pattern: Reader
    bits: int
    kind: Kind
    plain: int

    def number(self, reader: Reader, key: str, default: int) -> int:
        """One number of the field's kind."""
        value = reader.raw(key, None)
        if value is None:
            return default
        return parse_number(value, reader.place(key), self.bits, self.kind)


def _decode_branch(field: _Field, default: Content, automatic: Content | None) -> Content:
    branch = field.pattern.choice(_BRANCHES, "default")
    if branch == "default":
        return default
    if branch == "value":
        return Fixed(field.number(field.pattern, "value", field.plain))
    if branch == "values":
        return _decode_values(field)
    if branch == "random":
        return _decode_random(field)
    if branch == "auto":
        if automatic is None:
            field.pattern.fail(
                None, "wirerate knows no automatic value for this field; give value or another"
            )
        field.pattern.raw("auto", None)
        return automatic
    return _decode_steps(field, branch, 1 if branch == "increment" else -1)


def _decode_extension(pattern: Reader, content: Content) -> Content:
    """``x-wirerate: {every: 65536}``: each value so many times, one frame after the other."""
    extension = pattern.child(EXTENSION)
    if extension is None:
        return content
    every = extension.integer("every", 1, EVERY_MAX, 1)
    extension.done()
    if every == 1:
        return content
    if not isinstance(content, Steps | Values | Random):
        extension.fail(
            "every", "the field has one value; give increment, decrement, values or random"
        )
    return replace(content, every=every)


def _decode_values(field: _Field) -> Content:
    place = field.pattern.place("values")
    entries = field.pattern.sequence("values")
    if not 1 <= len(entries) <= VALUES_MAX:
        raise PlanError(f"{place}: {len(entries)} entries; give 1 to {VALUES_MAX}")
    numbers = (
        parse_number(value, f"{place}[{index}]", field.bits, field.kind)
        for index, value in enumerate(entries)
    )
    return Values(tuple(numbers))


def _decode_steps(field: _Field, branch: str, direction: int) -> Content:
    steps = field.pattern.child(branch) or Reader({}, field.pattern.place(branch))
    first = field.number(steps, "start", field.plain)
    step = field.number(steps, "step", 1)
    count = steps.integer("count", 1, COUNT_MAX, 1)
    steps.done()
    return Steps(first, direction * step, count)


def _decode_random(field: _Field) -> Content:
    reader = field.pattern.child("random") or Reader({}, field.pattern.place("random"))
    if field.bits > _RANDOM_BITS or field.kind == "signed":
        field.pattern.fail("random", "wirerate draws unsigned numbers of at most 64 bits only")
    minimum = field.number(reader, "min", 0)
    maximum = field.number(reader, "max", (1 << field.bits) - 1)
    seed = reader.integer("seed", 0, SEED_MAX, 1)
    count = reader.integer("count", 1, COUNT_MAX, 1)
    reader.done()
    if minimum > maximum:
        reader.fail("min", "it is greater than max; exchange them")
    chosen = seed == 0
    return Random(
        minimum, maximum, 1 + secrets.randbelow(_SYSTEM_SEEDS) if chosen else seed, count, chosen
    )


def _decode_checksum(pattern: Reader, bits: int, right: Checksum) -> Content:
    """``generated`` is made of the frame, good or bad; ``custom`` is a number."""
    if pattern.choice(("generated", "custom"), "generated") == "custom":
        return Fixed(pattern.integer("custom", 0, (1 << bits) - 1))
    if pattern.one_of("generated", ("good", "bad"), "good") == "good":
        return right
    return Checksum(right.scope, right.protocol, right.zero_as_ones, bad=True)


def parse_number(value: Any, path: str, bits: int, kind: Kind = "integer") -> int:
    """One value of a field, as a number in 0…2^bits - 1. Raises PlanError at ``path``."""
    if kind == "integer":
        return to_integer(value, path, 0, (1 << bits) - 1)
    if kind == "signed":
        half = 1 << (bits - 1)
        return to_integer(value, path, -half, half - 1) % (1 << bits)
    parse, what = _TEXTS[kind]
    number = parse(value) if isinstance(value, str) else None
    if number is None:
        raise PlanError(f"{path}: {shown(value)} is not {what}")
    if number >> bits:
        raise PlanError(f"{path}: {shown(value)} does not fit {bits} bits")
    return number


def _parse_mac(text: str) -> int | None:
    return int(re.sub("[:-]", "", text), 16) if _MAC.fullmatch(text) else None


def _parse_ipv4(text: str) -> int | None:
    try:
        return int.from_bytes(socket.inet_pton(socket.AF_INET, text), "big")
    except (OSError, ValueError):  # ValueError: a NUL
        return None


def _parse_ipv6(text: str) -> int | None:
    try:
        return None if "%" in text else int(ipaddress.IPv6Address(text))
    except ValueError:
        return None


def _parse_hex(text: str) -> int | None:
    match = _HEX.fullmatch(text)
    return int(match[1], 16) if match else None


_TEXTS: dict[str, tuple[Callable[[str], int | None], str]] = {
    "mac": (_parse_mac, "a MAC address such as 02:57:52:00:00:01"),
    "ipv4": (_parse_ipv4, "an IPv4 address such as 198.18.0.1"),
    "ipv6": (_parse_ipv6, "an IPv6 address such as 2001:db8::1"),
    "hex": (_parse_hex, "a string of hexadecimal digits"),
}
