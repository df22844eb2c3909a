# SPDX-License-Identifier: BSD-3-Clause
"""Tables and lines that fit the terminal: nothing is cut, what matters least is left out.

Into a file or a pipe all columns go, with their full widths.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLUMNS_MIN = 40
"""A terminal is taken to have so many columns at least; some say 0."""


@dataclass(frozen=True)
class Column:
    """A column; of all that do not fit, the one with the greatest ``dispensable`` goes first.

    0: it is never left out. ``width`` is what it has where there is room for all; numbers are
    flush right, names (``name``) left.
    """

    title: str
    width: int
    dispensable: int = 0
    name: bool = False

    def cell(self, text: str, width: int) -> str:
        """A text in the column."""
        return f"{text:<{width}}" if self.name else f"{text:>{width}}"


def terminal_columns() -> int | None:
    """Columns of the terminal that standard output is, None where it is none."""
    if not sys.stdout.isatty():
        return None
    return max(COLUMNS_MIN, shutil.get_terminal_size().columns)


def table_lines(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], room: int | None
) -> list[str]:
    """The heading and the rows; ``room``: columns of the terminal, None = no limit."""
    lines = [[column.title for column in columns], *rows]
    shown = list(range(len(columns)))
    widths = [column.width for column in columns]
    if room is not None and _taken(widths, shown) > room:
        widths = [max(len(line[at]) for line in lines) for at in shown]
        while _taken(widths, shown) > room:
            last = max(shown, key=lambda at: columns[at].dispensable)
            if columns[last].dispensable == 0:
                break
            shown.remove(last)
    return [" ".join(columns[at].cell(line[at], widths[at]) for at in shown) for line in lines]


def _taken(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[at] + 1 for at in shown) - 1


def wrapped(text: str, room: int | None) -> str:
    """Long lines of a text go on in the next line, between words, behind an indent of their own."""
    if room is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, room))


def _wrapped(line: str, room: int) -> list[str]:
    if len(line) <= room:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line,
        room,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
