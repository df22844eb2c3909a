# SPDX-License-Identifier: BSD-3-Clause
"""Counters are declared once: the page of them is written from that, and Python reads no others."""

from __future__ import annotations

import re
from pathlib import Path

from tools import counters

SOURCES = Path(__file__).resolve().parents[2] / "src/wirerate"
_READ = re.compile(r'\bblock\["(\w+)"\]|\.histogram\(\s*"(\w+)"')
_KIND = re.compile(r'\.of_kind\("(\w+)"\)')


def _found(pattern: re.Pattern[str]) -> set[str]:
    paths = [path for path in SOURCES.rglob("*.py") if path.name != "counters.py"]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return {"".join(match.groups("")) for text in texts for match in pattern.finditer(text)}


def test_the_page_is_of_the_declaration() -> None:
    assert counters.PAGE.read_text(encoding="utf-8") == counters.page(), "run tools/counters.py"


def test_no_name_stands_twice_in_a_block() -> None:
    for block in counters.declared():
        names = [word.name for word in block.words]
        assert len(names) == len(set(names)), block.kind


def test_what_python_reads_is_declared() -> None:
    blocks = counters.declared()
    read, kinds = _found(_READ), _found(_KIND)
    assert {"frames", "latency_cycles"} <= read
    assert read <= {word.name for block in blocks for word in block.words}
    assert "worker" in kinds
    assert kinds <= {block.kind for block in blocks}
