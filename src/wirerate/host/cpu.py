# SPDX-License-Identifier: BSD-3-Clause
"""CPUs: which wirerate may use, which the scheduler leaves alone, which share a core or a node.

Sources: the kernel's admin-guide/kernel-parameters.txt (isolcpus, nohz_full, rcu_nocbs) and
ABI/testing/sysfs-devices-system-cpu.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wirerate.host.cgroups import allowed_by_cpuset, quota_cpus
from wirerate.host.findings import Finding, ok, warning
from wirerate.host.tree import (
    ROOT,
    format_cpu_list,
    is_there,
    numbered,
    parse_cpu_list,
    plural,
    read_int,
    read_text,
    unreadable,
)

if TYPE_CHECKING:
    from pathlib import Path

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"
CPUS_WANTED = 2  # one for the main lcore, one for a worker
SIBLING_LISTS_SHOWN = 4


def probe_cpus(root: Path = ROOT) -> list[Finding]:
    """Return findings on the CPUs this process may use and on how much of their time."""
    allowed, online = allowed_cpus(root), online_cpus(root)
    if not allowed:
        return [warning("cpus", f"allowed CPUs unknown: {unreadable(root / 'proc/self/status')}")]
    text = f"{plural(len(allowed), 'CPU')} allowed ({format_cpu_list(allowed)})"
    if online:
        text += f" of {len(online)} online"
    findings = [ok("cpus", text)]
    if len(allowed) < CPUS_WANTED:
        text = (
            "one CPU for the main lcore, the workers and everything else: they will "
            "interrupt each other"
        )
        findings.append(
            warning(
                "cpus", text, "allow more CPUs (taskset, docker --cpuset-cpus, or a larger machine)"
            )
        )
    return findings + _quota(root, len(allowed))


def probe_isolation(root: Path = ROOT) -> list[Finding]:
    """Return findings on CPUs kept free of tasks (isolcpus) and of the timer tick (nohz_full)."""
    isolated = isolated_cpus(root)
    if isolated is None:
        return [warning("isolation", unreadable(root / CPUS / "isolated"))]
    if not isolated:
        return [_not_isolated(root)]
    findings = [ok("isolation", f"isolcpus {format_cpu_list(isolated)}")]
    usable = set(allowed_cpus(root))
    closed = [cpu for cpu in isolated if usable and cpu not in usable]
    if closed:
        text = (
            f"isolated CPUs {format_cpu_list(closed)} are outside this process's cpuset: "
            "wirerate cannot use them"
        )
        findings.append(
            warning(
                "isolation",
                text,
                f"docker --cpuset-cpus={format_cpu_list(isolated)}, or write cpuset.cpus",
            )
        )
    without_tick = parse_cpu_list(read_text(root / CPUS / "nohz_full"))
    ticking = [cpu for cpu in isolated if cpu not in without_tick]
    if ticking:
        text = f"isolated CPUs {format_cpu_list(ticking)} still take the timer tick (no nohz_full)"
        return [*findings, warning("isolation", text, _boot_fix(format_cpu_list(isolated)))]
    return [*findings, ok("isolation", f"nohz_full {format_cpu_list(without_tick)}")]


def probe_smt(root: Path = ROOT) -> list[Finding]:
    """Return one finding: whether CPUs share cores, and which."""
    shared = [cpus for cpus in sibling_lists(root) if len(cpus) > 1]
    if shared:
        lists = ", ".join(format_cpu_list(cpus) for cpus in shared[:SIBLING_LISTS_SHOWN])
        more = (
            f" and {len(shared) - SIBLING_LISTS_SHOWN} more"
            if len(shared) > SIBLING_LISTS_SHOWN
            else ""
        )
        text = (
            f"on, siblings {lists}{more}: two busy lcores on one core slow each other; "
            "leave the sibling idle"
        )
        return [warning("smt", text, "echo off > /sys/devices/system/cpu/smt/control")]
    control = read_text(root / CPUS / "smt/control")
    if control is None and not sibling_lists(root):
        return [warning("smt", f"unknown: {unreadable(root / CPUS / 'smt/control')}")]
    return [ok("smt", "off: every CPU is a core of its own" + (f" ({control})" if control else ""))]


def probe_numa(root: Path = ROOT) -> list[Finding]:
    """Return one finding per NUMA node, and one when the kernel itself moves pages between them."""
    nodes = numbered(root / NODES, "node")
    if not nodes:
        return [ok("numa", "the kernel shows no NUMA nodes: taken as one")]
    findings = [_node(number, path) for number, path in nodes]
    if len(nodes) > 1 and read_int(root / "proc/sys/kernel/numa_balancing"):
        text = (
            "automatic balancing is on: the kernel unmaps pages of running workers to "
            "see who uses them"
        )
        findings.append(warning("numa", text, "sysctl -w kernel.numa_balancing=0"))
    return findings


def online_cpus(root: Path = ROOT) -> list[int]:
    """Return the CPUs that are on; empty when unreadable."""
    return parse_cpu_list(read_text(root / CPUS / "online"))


def allowed_cpus(root: Path = ROOT) -> list[int]:
    """Return the CPUs an lcore may be pinned to: the affinity, and isolated CPUs of the cpuset.

    isolcpus takes CPUs out of everybody's inherited affinity, but pinning to them is allowed
    unless a cpuset forbids.
    """
    found = re.search(
        r"^Cpus_allowed_list:\s*(\S+)", read_text(root / "proc/self/status") or "", re.MULTILINE
    )
    affinity = set(parse_cpu_list(found[1] if found else None))
    cpuset = allowed_by_cpuset(root)
    isolated = set(isolated_cpus(root) or [])
    usable = isolated & set(online_cpus(root) if cpuset is None else cpuset)
    return sorted(affinity | usable) if affinity else []


def isolated_cpus(root: Path = ROOT) -> list[int] | None:
    """Return the CPUs of isolcpus; None when unreadable."""
    text = read_text(root / CPUS / "isolated")
    return None if text is None else parse_cpu_list(text)


def sibling_lists(root: Path = ROOT) -> list[list[int]]:
    """Return the CPUs of each core, every core once, by first CPU; empty when unreadable."""
    cores = set()
    for _cpu, path in numbered(root / CPUS, "cpu"):
        siblings = parse_cpu_list(read_text(path / "topology/thread_siblings_list"))
        if siblings:
            cores.add(tuple(siblings))
    return [list(core) for core in sorted(cores)]


def _quota(root: Path, allowed: int) -> list[Finding]:
    """Warn of a quota that polling will hit: the kernel then stops it until the period ends."""
    quota = quota_cpus(root)
    if quota is None or quota >= allowed:
        return []
    text = (
        f"the cgroup's quota is {quota:g} CPUs of {allowed}: polling lcores will be "
        "stopped for milliseconds at a time"
    )
    return [
        warning(
            "cpus",
            text,
            "docker update --cpu-quota=-1 CONTAINER  (and give it CPUs with --cpuset-cpus instead)",
        )
    ]


def _not_isolated(root: Path) -> Finding:
    text = (
        "no isolated CPU: other tasks and interrupts run on the lcores, seen as late "
        "frames and unsent bursts"
    )
    if is_there(root / "proc/sys/kernel/nmi_watchdog") and read_int(
        root / "proc/sys/kernel/nmi_watchdog"
    ):
        text += "; the NMI watchdog is on too"
    online = online_cpus(root)
    return warning(
        "isolation", text, _boot_fix(format_cpu_list(online[1:]) if len(online) > 1 else "CPUS")
    )


def _boot_fix(cpus: str) -> str:
    options = f"isolcpus=managed_irq,domain,{cpus} nohz_full={cpus} rcu_nocbs={cpus} nmi_watchdog=0"
    return f"add '{options}' to the kernel command line and reboot"


def _node(number: int, path: Path) -> Finding:
    cpus = parse_cpu_list(read_text(path / "cpulist"))
    found = re.search(r"MemTotal:\s*(\d{1,15}) kB", read_text(path / "meminfo") or "")
    memory = f"{int(found[1]) // 1024} MiB" if found else "memory unknown"
    text = f"node {number}: CPUs {format_cpu_list(cpus)}, {memory}"
    if cpus and found and int(found[1]) == 0:
        return warning(
            "numa",
            f"{text}: its CPUs use another node's memory",
            "put memory into the node's slots",
        )
    return ok("numa", text)
