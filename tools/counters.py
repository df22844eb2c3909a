#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/counters.md, the page of all counters, from their declaration."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DECLARATION = ROOT / "engine/counters/counters.def"
PAGE = ROOT / "docs/counters.md"

_BLOCK = re.compile(r"/\* ([^*]+) \*/\nBLOCK\((\w+), \w+\)\n(.*?)\nEND\(\)", re.DOTALL)
_WORD = re.compile(r'(COUNTER|COUNTER_APART|HISTOGRAM)\((\w+), (\w+), (.*), "([^"]*)"\)')


class Word(NamedTuple):
    """A counter."""

    name: str
    unit: str
    meaning: str


class Block(NamedTuple):
    """A block of counters, and what it is of."""

    kind: str
    about: str
    words: list[Word]


def _word(line: str, kind: str) -> Word:
    match = _WORD.fullmatch(line)
    if match is None or match[2] != kind:
        sys.exit(f"{DECLARATION}: {line}: in the block {kind} no counter or histogram of it")
    unit = "cycles, histogram" if match[1] == "HISTOGRAM" else match[4].strip('"')
    return Word(match[3], unit, match[5])


def declared() -> list[Block]:
    """Read the declaration."""
    found = _BLOCK.findall(DECLARATION.read_text(encoding="utf-8"))
    return [
        Block(kind, " ".join(about.split()), [_word(line, kind) for line in lines.splitlines()])
        for about, kind, lines in found
    ]


def page() -> str:
    """Return the page."""
    lines = [
        "# Counters",
        "",
        "What the engine counts, in the [segment](design/0002-engine-interface.md) that everybody",
        "of the same user may read while it runs. Written by `tools/counters.py`.",
    ]
    for block in declared():
        lines += ["", f"## {block.kind}", "", block.about, ""]
        lines += ["| counter | unit | meaning |", "|---|---|---|"]
        lines += [f"| `{word.name}` | {word.unit} | {word.meaning} |" for word in block.words]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
