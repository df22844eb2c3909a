# SPDX-License-Identifier: BSD-3-Clause
"""The transfers of `wirerate kernel-path` as CSV (RFC 4180): a row for each repeat of each test.

Made of the JSON document. A test without repeats, and a row of the table without tests, has one row
of its own with the reason.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ROW = ("group", "mode", "status", "reason")
_TEST = ("test", "test_status", "test_reason")
_REPEAT = ("gbps", "seconds", "octets", "wire_frames", "wire_octets", "valid", "reasons")


def csv_text(document: Mapping[str, Any]) -> str:
    """A heading, then the rows; what repeats have besides stands in further columns."""
    found = list(_entries(document))
    more = dict.fromkeys(
        key
        for _, repeat in found
        for key, value in repeat.items()
        if key not in _REPEAT and not isinstance(value, (dict, list))
    )
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_ROW, *_TEST, "repeat", *_REPEAT, *more])
    for head, repeat in found:
        writer.writerow([*head, *(_cell(repeat.get(key)) for key in (*_REPEAT, *more))])
    return text.getvalue()


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[list[Any], Mapping[str, Any]]]:
    """What stands in front, and the repeat."""
    for row in document["rows"]:
        head = [row[key] for key in _ROW]
        tests = row.get("tests") or {}
        if not tests:
            yield [*head, "", "", "", ""], {}
        for name, test in tests.items():
            own = [*head, name, test["status"], test["reason"]]
            repeats = test.get("repeats") or []
            if not repeats:
                yield [*own, ""], {}
            for number, repeat in enumerate(repeats):
                yield [*own, number], repeat


def _cell(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list) else value
