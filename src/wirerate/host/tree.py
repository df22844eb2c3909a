# SPDX-License-Identifier: BSD-3-Clause
"""Reading /proc and /sys without ever raising: an unreadable file is None, or an empty list.

Paths are made from a root directory, so that tests feed a fake tree. sysfs files may also fail when
read (EINVAL for the speed of a link that is down): "exists" says nothing, only reading does.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path("/")
CPUS_MAX = 65536  # bounds what a garbled CPU list may expand to; Linux's own limit is 8192


def read_text(path: Path) -> str | None:
    """Return the file's text, stripped; None when it is missing or unreadable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except (OSError, ValueError):
        return None


def read_int(path: Path) -> int | None:
    """Return the file's decimal number; None when it is missing, unreadable or no number."""
    return to_int(read_text(path))


def to_int(text: str | None) -> int | None:
    """Return the decimal number in `text`; None when there is none."""
    try:
        return int(text or "", 10)
    except ValueError:
        return None


def unreadable(path: Path) -> str:
    """Return why `path` has nothing to say, for a finding: "cannot read PATH (reason)"."""
    try:
        path.read_bytes()
    except IsADirectoryError:
        return f"nothing to read in {path}"
    except OSError as problem:
        return f"cannot read {path} ({problem.strerror or 'input/output error'})"
    return f"cannot understand {path}"


def entries(path: Path) -> list[Path]:
    """Return what the directory holds, by name with numbers in order (node2 before node10)."""
    try:
        return sorted(path.iterdir(), key=lambda entry: _natural(entry.name))
    except OSError:
        return []


def numbered(path: Path, prefix: str) -> list[tuple[int, Path]]:
    """Return (number, path) of the entries named `prefix` and a number, in order of number."""
    found = []
    for entry in entries(path):
        number = to_int(entry.name.removeprefix(prefix))
        if number is not None and entry.name == f"{prefix}{number}":
            found.append((number, entry))
    return found


def link_name(path: Path) -> str | None:
    """Return the last part of what a symbolic link points to (a driver, a group), or None."""
    try:
        return path.readlink().name
    except OSError:
        return None


def link_target(path: Path) -> str | None:
    """Return all of what a symbolic link points to, or None."""
    try:
        return str(path.readlink())
    except OSError:
        return None


def is_there(path: Path) -> bool:
    """Return whether `path` exists; False too when a directory above it is closed to us."""
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True


def parse_cpu_list(text: str | None) -> list[int]:
    """Return the CPUs of a kernel list such as "0-3,8"; what is not understood is left out."""
    cpus: set[int] = set()
    for first, last in re.findall(r"(?<![\w-])(\d{1,9})(?:-(\d{1,9}))?(?![\w-])", text or ""):
        cpus.update(range(int(first), min(int(last or first), CPUS_MAX) + 1))
    return sorted(cpu for cpu in cpus if cpu < CPUS_MAX)


def format_cpu_list(cpus: list[int]) -> str:
    """Return CPUs as the kernel writes them, "0-3,8"; "none" for no CPU."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none"


def plural(number: int, word: str) -> str:
    """Return "1 CPU", "2 CPUs"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts eth2 before eth10."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in re.split(r"(\d{1,18})", name)
        if part
    ]
