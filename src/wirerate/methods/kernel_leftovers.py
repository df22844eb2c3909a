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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirerate.engine.run_dir import base_directory, sweep
from wirerate.errors import HostSetupError
from wirerate.host.namespaces import NAMED, namespaces, remove_interface, remove_namespace
from wirerate.host.net_counters import read_net_counters
from wirerate.host.tree import ROOT, read_text, to_int

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PREFIX = "wr-kp-"
_NAME = re.compile(rf"{_PREFIX}(\d+)-\w+")
_FILE = re.compile(rf"{_PREFIX}(\d+)\.json")
_OWN_NETWORK = Path("/proc/self/ns/net")
_START_TIME = 19
"""Place of starttime behind the command's name in /proc/PID/stat, which may hold anything."""


@dataclass(frozen=True)
class Leftover:
    """What one run has, or had: ``file`` None where only namespaces tell of it.

    ``interfaces`` are in ``network``, the name of a network namespace; None = in this process's.
    ``elsewhere`` says in which other one they are, where that has no name: they stay.
    """

    pid: int
    file: Path | None
    namespaces: tuple[str, ...]
    interfaces: tuple[str, ...] = ()
    network: str | None = None
    elsewhere: str = ""


def namespace_names(pid: int) -> tuple[str, str]:
    """Those of the far and the near side."""
    return f"{_PREFIX}{pid}-far", f"{_PREFIX}{pid}-near"


def interface_names(pid: int) -> tuple[str, str]:
    """Of a veth pair in this process's own namespace: the kernel's end, and the engine's."""
    return f"wrk{pid}", f"wre{pid}"


@contextmanager
def noted(
    names: Sequence[str], interfaces: Sequence[str], ports: Sequence[str] = ()
) -> Iterator[None]:
    """Write down which namespaces, and interfaces in this one, this process is going to make.

    ``ports`` are for one run at a time. The note goes when all is gone. Raises HostSetupError.
    """
    pid = os.getpid()
    file = _file(pid)
    note = {
        "pid": pid,
        "start": start_time(pid),
        "namespaces": list(names),
        "interfaces": list(interfaces),
        "network": network_id(),
        "ports": list(ports),
    }
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps(note), encoding="utf-8")
    except OSError as error:
        text = f"{file} cannot be written: {error.strerror}; set WIRERATE_RUNTIME_DIR"
        raise HostSetupError(text) from error
    try:
        _check_unused(ports)
        yield
    finally:
        file.unlink(missing_ok=True)


def _check_unused(ports: Sequence[str]) -> None:
    """Both runs have written down what they use, so that at least one of them sees the other."""
    for pid in other_runs():
        note = _note(_file(pid))
        used = set(ports).intersection(note.get("ports", ()))
        if used and note.get("network") == network_id():
            raise HostSetupError(
                f"{', '.join(sorted(used))} is in use by another kernel-path (process {pid}): wait "
                "for its end, or take another port"
            )


def network_id(path: Path = _OWN_NETWORK) -> str:
    """What tells a network namespace from others; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


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
        _leftover(pid, files.get(pid), tuple(sorted(names.get(pid, ()))), root)
        for pid in sorted({*names, *files})
        if not _lives(pid, files.get(pid), root)
    ]


def _leftover(pid: int, file: Path | None, names: tuple[str, ...], root: Path) -> Leftover:
    """With the interfaces of the note that are there, wherever that is."""
    note = _note(file)
    made, network = note.get("interfaces", ()), note.get("network") or network_id()
    name = None
    if made and network != network_id():
        name = next((one for one in namespaces() if network_id(NAMED / one) == network), None)
        if name is None:
            return Leftover(pid, file, names, elsewhere=_elsewhere(network, made, root))
    there = read_net_counters(name).interfaces
    return Leftover(pid, file, names, tuple(one for one in made if one in there), name)


def _elsewhere(network: str, made: Sequence[str], root: Path) -> str:
    """Where interfaces still are, if their namespace has a process; without any it is gone."""
    for folder in (root / "proc").glob("[0-9]*"):
        if network_id(folder / "ns/net") == network:
            return f"{', '.join(made)} in the network namespace of process {folder.name}"
    return ""


def _note(file: Path | None) -> dict[str, Any]:
    """What is written down; empty where it cannot be read, as when it is just being written."""
    try:
        note = json.loads(file.read_text(encoding="utf-8")) if file else {}
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def _file(pid: int) -> Path:
    return base_directory() / f"{_PREFIX}{pid}.json"


def other_runs(root: Path = ROOT) -> list[int]:
    """Process ids of runs that are going on beside this one."""
    found = [_FILE.fullmatch(file.name) for file in base_directory().glob(f"{_PREFIX}*.json")]
    return sorted(
        pid
        for pid in (int(match[1]) for match in found if match)
        if pid != os.getpid() and _lives(pid, _file(pid), root)
    )


def _lives(pid: int, file: Path | None, root: Path) -> bool:
    """Whether the process that made them does; without a note, whether any of that number does."""
    began = start_time(pid, root)
    return began is not None and _note(file).get("start", began) == began


def check_within_reach(leftovers: Sequence[Leftover]) -> None:
    """Raise HostSetupError where something is in another namespace, and how to get there."""
    far = [f"process {one.pid} has left {one.elsewhere}" for one in leftovers if one.elsewhere]
    if far:
        where = next(one for one in leftovers if one.elsewhere).elsewhere.rpartition(" ")[2]
        raise HostSetupError(
            f"{'; '.join(far)}: nsenter --net=/proc/{where}/ns/net wirerate kernel-path --cleanup"
        )


def remove_leftovers(leftovers: Sequence[Leftover]) -> list[str]:
    """Remove what is within reach; what was removed, a line each. Raises HostSetupError."""
    removed: list[str] = []
    for leftover in leftovers:
        for name in leftover.namespaces:
            remove_namespace(name)
            removed.append(f"namespace {name}")
        for name in leftover.interfaces:
            remove_interface(leftover.network, name)
            where = f" in namespace {leftover.network}" if leftover.network else ""
            removed.append(f"interface {name}{where}")
        if leftover.file is not None and not leftover.elsewhere:
            leftover.file.unlink(missing_ok=True)
            removed.append(str(leftover.file))
    with suppress(OSError):
        sweep(base_directory())  # the engine's directory
    return removed
