# SPDX-License-Identifier: BSD-3-Clause
"""CPU time that the kernel has counted, of the machine (proc(5))."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wirerate.errors import HostSetupError
from wirerate.host.tree import ROOT, read_text, unreadable

if TYPE_CHECKING:
    from pathlib import Path

_NS_PER_S = 1_000_000_000
_STEAL = 7
_BUSY = (0, 1, 2, 5, 6)
"""user, nice, system, irq, softirq: not idle and iowait, not what a hypervisor took (steal); guests
are in user already."""


def machine_busy_ns(root: Path = ROOT) -> int:
    """What all CPUs have worked since the start [ns], in steps of some ms. HostSetupError."""
    path = root / "proc/stat"
    words = (read_text(path) or "").partition("\n")[0].split()
    try:
        ticks = sum(int(words[1 + place]) for place in _BUSY)
    except (IndexError, ValueError):
        raise HostSetupError(f"CPU time is not known: {unreadable(path)}") from None
    return ticks * _NS_PER_S // os.sysconf("SC_CLK_TCK")


def stolen_s(root: Path = ROOT) -> dict[int, float]:
    """Of each CPU, what a hypervisor took of it since the start [s], in steps of 10 ms.

    Empty where the kernel does not say so.
    """
    found = {}
    for line in (read_text(root / "proc/stat") or "").splitlines():
        name, *words = line.split() or [""]
        cpu = name.removeprefix("cpu")
        if name.startswith("cpu") and cpu.isdecimal() and len(words) > _STEAL:
            found[int(cpu)] = int(words[_STEAL]) / os.sysconf("SC_CLK_TCK")
    return found


class StealWatch:
    """What hypervisors take of CPUs from now on."""

    def __init__(self) -> None:
        self._before = stolen_s()

    def since(self) -> dict[int, float]:
        """Of each CPU, so far [s]."""
        return {cpu: now - self._before.get(cpu, now) for cpu, now in stolen_s().items()}
