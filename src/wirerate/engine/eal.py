# SPDX-License-Identifier: BSD-3-Clause
"""EAL arguments for an engine: lcores, memory, devices.

Memory: free hugepages are used when there are enough (``--in-memory``: nothing is left behind, not
even by kill -9), else ordinary pages (``--no-huge``), which every user has. The user's own EAL
options win.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.engine.lcore_ids import LcoreIds

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from wirerate.plan.location import Location

_MIB = 1 << 20
#: EAL, ethdev and driver data beside mbufs; measured: 17 MiB resident with one ring port.
_BASE_MIB = 48
_MEMORY_OPTIONS = ("--no-huge", "--in-memory", "--legacy-mem", "--huge-dir", "--socket-mem", "-m")
_SYSTEM = Path("/sys")


@dataclass(frozen=True)
class Memory:
    """How the engine gets its memory, and how that is said to the user.

    ``node``: the NUMA node whose ordinary pages are wanted; None: no matter.
    """

    arguments: tuple[str, ...]
    text: str
    node: int | None = None


def free_hugepages_mib(node: int | None = None, root: Path = _SYSTEM) -> int:
    """MiB in free hugepages of all sizes, on one NUMA node or (None) on all."""
    root /= "kernel/mm/hugepages" if node is None else f"devices/system/node/node{node}/hugepages"
    total = 0
    for directory in root.glob("hugepages-*kB"):
        try:
            free = int((directory / "free_hugepages").read_text())
            total += free * int(directory.name[len("hugepages-") : -len("kB")]) // 1024
        except (OSError, ValueError):
            continue
    return total


def choose_memory(
    need_octets: int,
    passthrough: Sequence[str],
    *,
    allow_hugepages: bool,
    nodes: Sequence[int] = (),
) -> Memory:
    """Hugepages if enough are free and allowed, else ordinary pages; nothing if the user chose.

    ``nodes``: the NUMA nodes of ports and lcores, where there is a choice. EAL takes hugepages of
    a node from there only, so each must have enough for all: which port needs most is not known.
    Ordinary pages come from the first of them.
    """
    if any(word.split("=")[0] in _MEMORY_OPTIONS for word in passthrough):
        return Memory((), "as the EAL options say")
    need = _BASE_MIB + -(-need_octets // _MIB)
    free = min(map(free_hugepages_mib, nodes), default=free_hugepages_mib())
    if allow_hugepages and free >= need:
        where = " on each NUMA node that is used" if len(nodes) > 1 else ""
        return Memory(("--in-memory",), f"hugepages ({free} MiB free{where})")
    return Memory(
        ("--no-huge", "-m", str(need)),
        f"ordinary pages ({need} MiB); no hugepages needed",
        nodes[0] if nodes else None,
    )


def lcore_arguments(data: Collection[int], allowed: Collection[int]) -> list[str]:
    """A data lcore on each CPU of ``data``; the main lcore on the CPUs that are left, if any.

    The main lcore sleeps nearly always; its id is one that no data lcore has. Raises PlanError.
    """
    left = set(allowed) - set(data) or set(allowed)
    return LcoreIds.choose(data).arguments(left)


def device_arguments(locations: Collection[Location]) -> list[str]:
    """Allow just the PCI devices that are used; without any, leave the bus alone."""
    allow: list[str] = []
    for location in locations:
        if location.needs_pci:
            allow += ["-a", location.text]
    arguments = allow or ["--no-pci"]
    if any(location.needs_single_file_segments for location in locations):
        arguments.append("--single-file-segments")
    return arguments


def wants_telemetry(passthrough: Sequence[str]) -> bool:
    """Whether the user asks for DPDK's telemetry sockets, which an engine else has not."""
    return "--telemetry" in passthrough


def eal_arguments(
    locations: Sequence[Location],
    data_lcores: Collection[int],
    memory: Memory,
    passthrough: Sequence[str],
) -> list[str]:
    """The whole line, without ``--file-prefix``; ``data_lcores`` are CPUs. Raises PlanError."""
    arguments = lcore_arguments(data_lcores, os.sched_getaffinity(0))
    for word in device_arguments(locations) + list(memory.arguments):
        if word not in passthrough or not word.startswith("--"):
            arguments.append(word)
    if not any(word.startswith("--log-level") for word in passthrough):
        arguments += ["--log-level", "notice"]
    if not wants_telemetry(passthrough) and "--no-telemetry" not in passthrough:
        arguments.append("--no-telemetry")  # no sockets that nobody asks at
    if not any(location.needs_pci for location in locations) and not any(
        word.startswith("--iova-mode") for word in passthrough
    ):
        arguments += ["--iova-mode", "va"]
    return arguments + list(passthrough)
