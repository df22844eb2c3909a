# SPDX-License-Identifier: BSD-3-Clause
"""What runs of `wirerate kernel-path` have on this machine, and the removal of what was left.

The file `wr-kp-PID.json` in the directory of runs is written first and removed last. The start
time of the process tells it from another one that got its number later.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.engine.run_dir import base_directory, sweep
from wirerate.errors import HostSetupError
from wirerate.host.namespaces import namespaces, remove_interface, remove_namespace
from wirerate.host.net_counters import read_net_counters
from wirerate.host.tree import ROOT, read_text, to_int

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PREFIX = "wr-kp-"
_NAME = re.compile(rf"{_PREFIX}(\d+)-\w+")
_FILE = re.compile(rf"{_PREFIX}(\d+)\.json")
_START_TIME = 19
"""Place of starttime behind the command's name in /proc/PID/stat, which may hold anything."""


@dataclass(frozen=True)
class Leftover:
    """What one run has, or had: ``file`` None where only namespaces tell of it."""

    pid: int
    file: Path | None
    namespaces: tuple[str, ...]
    interfaces: tuple[str, ...] = ()


def namespace_names(pid: int) -> tuple[str, str]:
    """Those of the far and the near side."""
    return f"{_PREFIX}{pid}-far", f"{_PREFIX}{pid}-near"


def interface_names(pid: int) -> tuple[str, str]:
    """Of a veth pair in this process's own namespace: the kernel's end, and the engine's."""
    return f"wrk{pid}", f"wre{pid}"


@contextmanager
def noted(names: Sequence[str], interfaces: Sequence[str]) -> Iterator[None]:
    """Write down which namespaces, and interfaces in this one, this process is going to make.

    The note goes when all is gone. Raises HostSetupError.
    """
    pid = os.getpid()
    file = base_directory() / f"{_PREFIX}{pid}.json"
    note = {
        "pid": pid,
        "start": start_time(pid),
        "namespaces": list(names),
        "interfaces": list(interfaces),
    }
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps(note), encoding="utf-8")
    except OSError as error:
        text = f"{file} cannot be written: {error.strerror}; set WIRERATE_RUNTIME_DIR"
        raise HostSetupError(text) from error
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def start_time(pid: int, root: Path = ROOT) -> int | None:
    """When a process began [ticks since boot]; None where there is none."""
    words = (read_text(root / "proc" / str(pid) / "stat") or "").rpartition(")")[2].split()
    return to_int(words[_START_TIME]) if len(words) > _START_TIME else None


def find_leftovers(root: Path = ROOT) -> list[Leftover]:
    """What runs that are dead have left, by process id."""
    names: dict[int, set[str]] = {}
    for name in namespaces():
        if found := _NAME.fullmatch(name):
            names.setdefault(int(found[1]), set()).add(name)
    files: dict[int, Path] = {}
    for file in base_directory().glob(f"{_PREFIX}*.json"):
        if found := _FILE.fullmatch(file.name):
            files[int(found[1])] = file
    return [
        Leftover(
            pid, files.get(pid), tuple(sorted(names.get(pid, ()))), _interfaces(files.get(pid))
        )
        for pid in sorted({*names, *files})
        if not _lives(pid, files.get(pid), root)
    ]


def _interfaces(file: Path | None) -> tuple[str, ...]:
    """Those of a note that are there."""
    there = read_net_counters(None).interfaces
    return tuple(name for name in _note(file).get("interfaces", ()) if name in there)


def _note(file: Path | None) -> dict[str, Any]:
    """What is written down; empty where it cannot be read, as when it is just being written."""
    try:
        note = json.loads(file.read_text(encoding="utf-8")) if file else {}
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def other_runs(root: Path = ROOT) -> list[int]:
    """Process ids of runs that are going on beside this one."""
    found = [_FILE.fullmatch(file.name) for file in base_directory().glob(f"{_PREFIX}*.json")]
    return sorted(
        pid
        for pid in (int(match[1]) for match in found if match)
        if pid != os.getpid() and _lives(pid, base_directory() / f"{_PREFIX}{pid}.json", root)
    )


def _lives(pid: int, file: Path | None, root: Path) -> bool:
    """Whether the process that made them does; without a note, whether any of that number does."""
    began = start_time(pid, root)
    return began is not None and _note(file).get("start", began) == began


def remove_leftovers(leftovers: Sequence[Leftover]) -> list[str]:
    """Remove them; what was removed, a line each. Raises HostSetupError."""
    removed: list[str] = []
    for leftover in leftovers:
        for name in leftover.namespaces:
            remove_namespace(name)
            removed.append(f"namespace {name}")
        for name in leftover.interfaces:
            remove_interface(None, name)
            removed.append(f"interface {name}")
        if leftover.file is not None:
            leftover.file.unlink(missing_ok=True)
            removed.append(str(leftover.file))
    with suppress(OSError):
        sweep(base_directory())  # the engine's directory
    return removed
