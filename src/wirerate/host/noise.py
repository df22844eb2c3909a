# SPDX-License-Identifier: BSD-3-Clause
"""Who else uses this machine's CPUs: a hypervisor and its other guests, and this host's load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.host.clock import is_virtual
from wirerate.host.cpu import online_cpus
from wirerate.host.findings import Finding, ok, warning
from wirerate.host.tree import ROOT, read_text, to_int, unreadable

if TYPE_CHECKING:
    from pathlib import Path

STEAL_MAX_PERCENT = 0.1  # of all CPU time since boot; above, workers lose whole bursts
LOAD_MAX_PER_CPU = 0.25
STEAL_FIELDS = 8  # proc(5): user nice system idle iowait irq softirq steal


def probe_noise(root: Path = ROOT) -> list[Finding]:
    """Return findings on the hypervisor, stolen time and the load average."""
    return [_hypervisor(root), _steal(root), *_load(root)]


def _hypervisor(root: Path) -> Finding:
    if not is_virtual(root):
        return ok("noise", "no hypervisor")
    names = [
        read_text(root / place) for place in ("sys/hypervisor/type", "sys/class/dmi/id/sys_vendor")
    ]
    name = next((f" ({name})" for name in names if name), "")
    text = (
        f"under a hypervisor{name}: results include its noise; repeat them, and do not "
        "compare with bare metal"
    )
    return warning(
        "noise", text, "measure on bare metal, or have the host pin and isolate this guest's CPUs"
    )


def _steal(root: Path) -> Finding:
    stat = root / "proc/stat"
    fields = next(
        (
            line.split()[1:]
            for line in (read_text(stat) or "").splitlines()
            if line.startswith("cpu ")
        ),
        [],
    )
    ticks = [to_int(field) or 0 for field in fields[:STEAL_FIELDS]]  # guest time is in user already
    if len(ticks) < STEAL_FIELDS or sum(ticks) <= 0:
        return warning("noise", f"stolen time unknown: {unreadable(stat)}")
    percent = 100 * ticks[-1] / sum(ticks)
    text = f"{percent:.2f} % of CPU time since boot stolen by the hypervisor"
    if percent > STEAL_MAX_PERCENT:
        return warning("noise", text, "have the host give this guest CPUs of its own")
    return ok("noise", text)


def _load(root: Path) -> list[Finding]:
    cpus = len(online_cpus(root))
    try:
        load = float((read_text(root / "proc/loadavg") or "").split()[0])
    except (ValueError, IndexError):
        return [warning("noise", f"load unknown: {unreadable(root / 'proc/loadavg')}")]
    text = f"load average {load:.2f} (last minute) on {cpus or '?'} CPUs"
    if cpus and load > LOAD_MAX_PER_CPU * cpus:
        return [
            warning(
                "noise",
                f"{text}: other programs compete with the lcores",
                "top  (end or move what is busy)",
            )
        ]
    return [ok("noise", text)]
