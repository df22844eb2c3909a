#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the engine's folders include each other in one direction only.

ALLOWED is the whole rule for folders; modules, a header and its source, may not include each other
in a circle at all. Besides, every #include "..." is spelled from engine/ on and names a file
that exists, and worker/, the hot loop, reaches neither control/ nor config/, not even through a
third header.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ENGINE = Path(__file__).resolve().parent.parent / "engine"

# Folder: the folders its files may include, itself always. From the cold end to the hot one.
ALLOWED: dict[str, set[str]] = {
    "control": {
        *("config", "program", "trace", "worker", "schedule", "edit", "device"),
        *("counters", "protocol", "base"),
    },
    "program": {
        *("config", "trace", "capture", "worker", "schedule", "measure", "flowtable"),
        *("answer", "bridge", "edit", "device", "counters", "protocol", "base"),
    },
    "device": {"config", "counters", "base"},
    "worker": {
        *("schedule", "capture", "measure", "flowtable", "answer", "bridge", "edit"),
        *("counters", "protocol", "base"),
    },
    "schedule": {"edit", "counters", "protocol", "base"},
    "measure": {"capture", "counters", "protocol", "base"},
    "flowtable": {"counters", "protocol", "base"},
    "answer": {"counters", "protocol", "base"},
    "bridge": {"counters", "protocol", "base"},
    "edit": {"protocol", "base"},
    "capture": {"trace", "counters", "base"},
    "config": {"protocol", "base"},
    "counters": {"base"},
    "trace": {"base"},
    "protocol": {"base"},
    "base": set(),
}
# main.c, tests, benchmarks and fuzz targets stand outside: they include anything, nobody them.
OUTSIDE = {"", "tests", "bench", "fuzz"}
COLD = {"control", "config"}
HOT = ("worker", "schedule", "measure", "flowtable", "answer", "bridge", "edit", "capture")
NEVER_REACHED = dict.fromkeys(HOT, COLD)

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def folder_of(path: str) -> str:
    """Return the folder of a path relative to engine/, empty for engine/ itself."""
    return path.partition("/")[0] if "/" in path else ""


def check_edge(source: str, included: str, known: set[str]) -> str | None:
    """Return what is wrong with one include, None when nothing is."""
    folder, target = folder_of(source), folder_of(included)
    if folder in OUTSIDE and f"{folder}/{included}" in known:
        return None  # a helper beside a test
    if included not in known:
        return (
            f'engine/{included} does not exist; write the path from engine/, as in "base/error.h"'
        )
    if folder in OUTSIDE or target == folder:
        return None
    if folder not in ALLOWED:
        return f"{folder}/ is not in the table of tools/check_includes.py"
    if target not in ALLOWED[folder]:
        allowed = ", ".join(sorted(ALLOWED[folder])) or "nothing else"
        return f"{folder}/ must not include {target or 'main'}/ (allowed: {allowed})"
    return None


def reached(start: str, includes: dict[str, list[str]]) -> set[str]:
    """Return all files that a file includes, through others too."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        for included in includes.get(todo.pop(), []):
            if included not in seen:
                seen.add(included)
                todo.append(included)
    return seen


def module_of(path: str) -> str:
    """Return what a header and its source have in common: the path without its ending."""
    return path.rpartition(".")[0]


def circles(includes: dict[str, list[str]]) -> list[str]:
    """Return a sentence for each circle of modules; a module is a header and its source."""
    edges: dict[str, set[str]] = {}
    for source, targets in includes.items():
        if folder_of(source) not in OUTSIDE:
            edges.setdefault(module_of(source), set()).update(map(module_of, targets))
    modules = {module: [*targets - {module}] for module, targets in edges.items()}
    around = {module: reached(module, modules) for module in modules}
    return [
        f"engine/{module}.[ch]: in a circle with {', '.join(others)}: a module of what both need, "
        "or a struct where it is used, breaks it"
        for module in sorted(modules)
        if (others := sorted(other for other in around[module] if module in around.get(other, ())))
        and module == min(others)
    ]


def main() -> int:
    """Print every violation; return 1 when there is one."""
    includes = {
        path.relative_to(ENGINE).as_posix(): INCLUDE.findall(path.read_text(encoding="utf-8"))
        for path in sorted(ENGINE.rglob("*.*"))
        if path.suffix in {".c", ".h", ".def"}
    }
    known = set(includes)
    problems = []
    for source, targets in includes.items():
        for included in targets:
            problem = check_edge(source, included, known)
            if problem:
                problems.append(f'engine/{source}: #include "{included}": {problem}')
        banned = NEVER_REACHED.get(folder_of(source), set())
        problems += [
            f"engine/{source}: reaches {target} through other headers"
            for target in sorted(reached(source, includes))
            if folder_of(target) in banned and target not in targets
        ]
    problems += circles(includes)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
