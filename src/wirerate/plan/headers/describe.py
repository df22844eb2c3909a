# SPDX-License-Identifier: BSD-3-Clause
"""The tables of headers as Markdown: the second part of docs/headers.md.

``python -m wirerate.plan.headers.describe docs/headers.md`` writes it anew; a test holds the page
against it. Pure but for that.
"""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.plan.fields import Checksum, Fixed, Length, NextHeader, Octets, PortMac
from wirerate.plan.headers import LAYOUTS
from wirerate.plan.headers.numbers import ETHER_TYPES, IP_PROTOCOLS, PPP_PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirerate.plan.fields import Content
    from wirerate.plan.headers.patterns import Kind
    from wirerate.plan.headers.table import Layout, Row

MARK = "<!-- From here on: python -m wirerate.plan.headers.describe docs/headers.md -->\n"
"""Ends the part of the page that is written by hand."""

_SCOPES = {
    "header": "checksum of the header",
    "message": "checksum of the header and all behind it",
    "pseudo": "checksum of pseudo-header, header and all behind it",
}
_DECIMAL_MAX = 255


def tables() -> str:
    """Numbers of the following header, then every layout."""
    return "\n".join([_numbers(), *map(_layout, LAYOUTS)])


def _numbers() -> str:
    columns = (ETHER_TYPES, IP_PROTOCOLS, PPP_PROTOCOLS)
    formats = ("0x{:04x}", "{}", "0x{:04x}")
    kinds = sorted(set().union(*columns))
    rows = (
        (
            kind,
            *(
                text.format(column[kind]) if kind in column else ""
                for column, text in zip(columns, formats, strict=True)
            ),
        )
        for kind in kinds
    )
    head = ("next header", "EtherType", "IP protocol", "PPP protocol")
    return f"## Numbers of the next header\n\n{_table(head, rows)}"


def _layout(layout: Layout) -> str:
    rows = ((row.name, str(row.bits or ""), _default(row), _notes(row)) for row in layout.rows)
    table = _table(("field", "bits", "default", "notes"), rows)
    return f"## {layout.kind}\n\n{layout.source}\n\n{table}"


def _table(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |\n".replace("  ", " ") for cells in (head, *rows)]
    return "".join([lines[0], "|---" * len(head), "|\n", *lines[1:]])


def _default(row: Row) -> str:
    content = row.default
    if row.parts is not None or isinstance(content, Octets) or not row.bits:
        return ""
    if isinstance(content, Fixed):
        return _value(content.value, row.kind)
    return f"auto: {_automatic(content)}"


def _automatic(content: Content) -> str:
    if isinstance(content, Length):
        less = f", less {content.less}" if content.less else ""
        return f"octets of the header and all behind it{less}"
    if isinstance(content, NextHeader):
        return f"by the next header, else {_value(content.otherwise)}"
    if isinstance(content, Checksum):
        return _SCOPES[content.scope]
    assert isinstance(content, PortMac), content
    return "the sending port's address"


def _value(value: int, kind: Kind = "integer") -> str:
    if kind == "mac":
        return value.to_bytes(6, "big").hex(":")
    if kind == "ipv4":
        return str(ipaddress.IPv4Address(value))
    if kind == "ipv6":
        return str(ipaddress.IPv6Address(value))
    return str(value) if value <= _DECIMAL_MAX else f"0x{value:04x}"


def _notes(row: Row) -> str:
    notes = []
    if row.when:
        notes.append(f"there when {' or '.join(row.when)} is 1")
    if not row.in_plan:
        notes.append("not in OTG")
    if row.automatic == row.default:
        notes.append("auto: the default")
    elif row.automatic is not None:
        notes.append(f"auto: {_automatic(row.automatic)}")
    if row.note:
        notes.append(row.note)
    return "; ".join(notes)


def _rewrite(page: Path) -> None:
    by_hand, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(f"{by_hand}{mark}\n{tables()}", encoding="utf-8")


if __name__ == "__main__":
    _rewrite(Path(sys.argv[1]))
