# SPDX-License-Identifier: BSD-3-Clause
"""What a table of header fields is, and how an object of the plan is read by one.

A `Layout` is a header (or an object inside one) as rows in the order of the wire. The same rows
decode plans, name fields in messages and make the tables of docs/headers.md. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from wirerate.plan.fields import Content, Field, Fixed, Header
from wirerate.plan.headers.patterns import Kind, decode_pattern
from wirerate.plan.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Parts = Callable[[Reader], "list[Field]"]
"""Reads an object inside a header: the header's reader in, the object's fields out."""


@dataclass(frozen=True)
class Row:
    """One field of a layout.

    ``name`` is where it stands in the header's object (``echo.type``); ``bits`` 1…128, 0 where it
    depends on the plan. ``default`` is what an absent field has, `plain` and ``automatic`` as in
    `decode_pattern`. ``when``: the field is on the wire only if one of these earlier fields is 1.
    ``parts`` reads fields that stand here instead of this one. Not ``in_plan``: a field of the
    protocol that OTG does not have, always at its default. ``note`` is for the documentation.
    """

    name: str
    bits: int
    default: Content
    kind: Kind = "integer"
    plain: int | None = None
    automatic: Content | None = None
    when: tuple[str, ...] = ()
    parts: Parts | None = None
    in_plan: bool = True
    note: str = ""

    @cached_property
    def key(self) -> str:
        """The key in the object that holds the field."""
        return self.name.rpartition(".")[2]

    @cached_property
    def usual(self) -> Field:
        """The field where the plan does not mention it."""
        return Field(self.name, self.bits, self.default)


@dataclass(frozen=True)
class Layout:
    """``kind``: the header (``ipv4``) or the object inside (``ipv4.priority.tos``).

    ``source``: the document that defines the rows.
    """

    kind: str
    source: str
    rows: tuple[Row, ...]


def decode_layout(
    reader: Reader, layout: Layout, defaults: Mapping[str, Content] | None = None
) -> Header:
    """The header whose object ``reader`` is; ``defaults`` replace those of the rows named."""
    return Header(layout.kind, reader.path, tuple(decode_rows(reader, layout.rows, defaults)))


def decode_rows(
    reader: Reader, rows: Sequence[Row], defaults: Mapping[str, Content] | None = None
) -> list[Field]:
    """The fields of an object, in order. Raises PlanError; unknown keys are left to `done`."""
    fields: list[Field] = []
    for row in rows:
        if row.parts is not None:
            fields += row.parts(reader)
        elif not row.in_plan:
            fields.append(row.usual)
        elif not row.when or _is_there(reader, row, fields):
            fields.append(_decode_row(reader, row, defaults))
    return fields


def decode_object(reader: Reader, key: str, rows: Sequence[Row]) -> list[Field]:
    """The fields of the object at ``key``, all of them at their defaults where it is absent."""
    child = child_or_empty(reader, key)
    fields = decode_rows(child, rows)
    child.done()
    return fields


def child_or_empty(reader: Reader, key: str) -> Reader:
    """The object at ``key``; one without keys where it is absent."""
    return reader.child(key) or Reader({}, reader.place(key))


def renamed(fields: Sequence[Field], prefix: str) -> list[Field]:
    """The same fields with their names behind ``prefix``, for objects of a list."""
    return [replace(field, name=prefix + field.name) for field in fields]


def constant(reader: Reader, key: str, content: Content, why: str) -> int:
    """The one value of a field that must be the same in every frame. Raises PlanError."""
    if not isinstance(content, Fixed):
        reader.fail(key, f"it must be one value, because {why}")
    return content.value


def _decode_row(reader: Reader, row: Row, defaults: Mapping[str, Content] | None) -> Field:
    default = row.default
    if defaults is not None:
        default = defaults.get(row.name, default)
    given = reader.raw(row.key, None) is not None
    content = _decode_given(reader, row, default) if given else default
    return row.usual if content is row.default else Field(row.name, row.bits, content)


def _decode_given(reader: Reader, row: Row, default: Content) -> Content:
    return decode_pattern(
        reader,
        row.key,
        row.bits,
        default,
        kind=row.kind,
        plain=row.plain,
        automatic=row.automatic,
    )


def _is_there(reader: Reader, row: Row, fields: Sequence[Field]) -> bool:
    """Whether a flag before says so; a field that is given and not there is an error."""
    flags = [field for field in fields if field.name in row.when]
    why = "it decides which fields there are"
    if any(constant(reader, flag.name, flag.content, why) for flag in flags):
        return True
    if row.key in reader:
        reader.fail(row.key, f"it is only there when {' or '.join(row.when)} is 1; set that")
    return False
