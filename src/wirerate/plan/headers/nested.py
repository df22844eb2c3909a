# SPDX-License-Identifier: BSD-3-Clause
"""Parts of headers that are objects within objects: names, lengths and octets of them.

A decoder names its fields by their whole path and `assemble` cuts the header's own path off, so
that a field is called ``lacpdu.actor.key``. Used by the decoders of nested headers. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wirerate.plan.fields import Field, Fixed, Header, Octets, Random, Steps, Values
from wirerate.plan.headers.patterns import decode_pattern
from wirerate.plan.headers.table import child_or_empty
from wirerate.plan.reader import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirerate.plan.fields import Content
    from wirerate.plan.headers.patterns import Kind
    from wirerate.plan.reader import Reader

_GIVEN_LENGTH_MAX = (1 << 32) - 1


def number(reader: Reader, key: str, bits: int, value: int) -> Field:
    """A field that carries ``value`` in every frame."""
    return Field(reader.place(key), bits, Fixed(value))


def octets(reader: Reader, key: str, data: bytes) -> Field:
    """A field of constant octets."""
    return Field(reader.place(key), 8 * len(data), Octets(data))


def pattern(reader: Reader, key: str, bits: int, default: int, *, kind: Kind = "integer") -> Field:
    """A field with the pattern at a key."""
    return Field(
        reader.place(key), bits, decode_pattern(reader, key, bits, Fixed(default), kind=kind)
    )


def auto_pattern(reader: Reader, key: str, bits: int, automatic: int, *, plain: int = 0) -> Field:
    """Likewise where the pattern may be ``auto``, which it is of itself.

    ``plain`` is what the model has for a missing value.
    """
    content = Fixed(automatic)
    return Field(
        reader.place(key),
        bits,
        decode_pattern(reader, key, bits, content, plain=plain, automatic=content),
    )


def length_field(
    reader: Reader, key: str, bits: int, computed: int, *, minimum: int = 0, plain: int = 0
) -> Field:
    """A length that is ``auto`` (``computed`` octets, the default) or a given ``value``.

    A given value says nothing about what is sent, only about what the field claims; ``plain`` is
    what the model has for a missing one.
    """
    greatest = (1 << bits) - 1
    part = child_or_empty(reader, key)
    if part.choice(("auto", "value"), "auto") == "auto":
        part.integer("auto", 0, _GIVEN_LENGTH_MAX, None)  # what a generator has filled in
        length = computed
        if computed > greatest:
            reader.fail(key, f"{computed} octets are more than the field can say, {greatest}")
    else:
        length = part.integer("value", minimum, greatest, plain)
    part.done()
    return number(reader, key, bits, length)


def hex_octets(
    reader: Reader, key: str, default: str, *, least: int = 0, most: int = 16384
) -> bytes:
    """A string of hexadecimal digits as octets, ``least…most`` of them.

    Spaces and colons between the digits do not count; a missing leading digit is a zero.
    """
    text = reader.text(key, default)
    digits = text.replace(":", "").replace(" ", "")
    digits = "0" * (len(digits) % 2) + digits
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        reader.fail(key, f"{shown(text)} is not a string of hexadecimal digits")
    _check_octets(reader, key, data, least, most)
    return data


def text_octets(
    reader: Reader, key: str, default: str = "", *, least: int = 0, most: int = 16384
) -> bytes:
    """A string of ASCII characters as octets, ``least…most`` of them."""
    text: str = reader.text(key, default)
    if not text.isascii():
        reader.fail(key, f"{shown(text)} has characters that are not ASCII")
    data = text.encode("ascii")
    _check_octets(reader, key, data, least, most)
    return data


def _check_octets(reader: Reader, key: str, data: bytes, least: int, most: int) -> None:
    if not least <= len(data) <= most:
        allowed = f"{least}" if least == most else f"{least} to {most}"
        reader.fail(key, f"it has {len(data)} octets; give {allowed}")


def bounds(content: Content, bits: int) -> tuple[int, int]:
    """Least and greatest value of a pattern ``bits`` wide; all of the range where it wraps."""
    if isinstance(content, Fixed):
        return content.value, content.value
    if isinstance(content, Values):
        return min(content.values), max(content.values)
    if isinstance(content, Steps):
        ends = (content.first, content.first + content.step * (content.count - 1))
        if min(ends) < 0 or max(ends) >> bits:
            return 0, (1 << bits) - 1
        return min(ends), max(ends)
    assert isinstance(content, Random), content
    return content.minimum, content.maximum


def octets_of(fields: Iterable[Field]) -> int:
    """Octets of some fields."""
    return sum(field.bits for field in fields) // 8


def assemble(
    kind: str, reader: Reader, fields: Iterable[Field], final_destination: str | None = None
) -> Header:
    """The header of fields that are named by their whole path; those without octets are dropped."""
    own = f"{reader.path}."
    return Header(
        kind,
        reader.path,
        tuple(replace(field, name=field.name.removeprefix(own)) for field in fields if field.bits),
        None if final_destination is None else final_destination.removeprefix(own),
    )
