#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that no file grows beyond what one reads in one sitting.

Past the soft limit a file is named, past the hard limit the check fails. An exception is an entry
in EXCEPTIONS with its own limit and the reason; one that is no longer needed is an error too.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The soft and the hard limit of the files of a pattern. [lines]
LIMITS: dict[str, tuple[int, int]] = {
    "engine/**/*.c": (400, 600),
    "engine/**/*.h": (200, 200),
    "src/**/*.py": (400, 400),
    "tools/*.py": (400, 400),
    "bench/**/*.py": (400, 400),
    "lab/**/*.py": (400, 400),
    "tests/**/*.py": (400, 600),
}
# All C files of a folder together: everything executed per burst must fit one head. [lines]
FOLDER_LIMITS: dict[str, int] = {
    "engine/worker": 1720,
    "engine/schedule": 700,
    "engine/edit": 1000,
    "engine/bridge": 1100,
    "engine/measure": 750,
    "engine/flowtable": 400,
}

# A file's own limit [lines], and the reason.
EXCEPTIONS: dict[str, tuple[int, str]] = {}


def lines_of(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_bytes().splitlines())


def check_file(path: Path, soft: int, hard: int) -> str | None:
    """Return the complaint about a file beyond its limit; warn beyond the soft one."""
    name = path.relative_to(ROOT).as_posix()
    lines = lines_of(path)
    limit = EXCEPTIONS[name][0] if name in EXCEPTIONS else hard
    if name in EXCEPTIONS and lines <= hard:
        return f"{name}: {lines} lines need no exception any more"
    if lines > limit:
        return f"{name}: {lines} lines, {limit} are allowed; split it by what it does"
    if soft < lines <= hard:
        print(f"{name}: {lines} lines, more than {soft}: think of splitting it")
    return None


def main() -> int:
    """Print every violation; return 1 when there is one."""
    problems = [
        check_file(path, soft, hard)
        for pattern, (soft, hard) in LIMITS.items()
        for path in sorted(ROOT.glob(pattern))
    ]
    problems += [
        f"{name}: an exception for no file" for name in EXCEPTIONS if not (ROOT / name).is_file()
    ]
    for folder, limit in FOLDER_LIMITS.items():
        lines = sum(lines_of(path) for path in (ROOT / folder).glob("*.[ch]"))
        if lines > limit:
            problems.append(f"{folder}/: {lines} lines together, {limit} are allowed")
    found = [problem for problem in problems if problem]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
