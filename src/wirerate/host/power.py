# SPDX-License-Identifier: BSD-3-Clause
"""Power saving: how deep CPUs sleep (C-states) and who chooses their clock rate (governor).

Sources: the kernel's admin-guide/pm/cpuidle.rst and cpufreq.rst.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from wirerate.host.clock import is_virtual
from wirerate.host.findings import Finding, ok, warning
from wirerate.host.tree import ROOT, entries, format_cpu_list, numbered, read_int, read_text

if TYPE_CHECKING:
    from pathlib import Path

CPUS = "sys/devices/system/cpu"
WAKE_LATENCY_MAX_US = 10  # a wake-up longer than this is seen in a latency histogram and in pacing
State = tuple[int, str]  # exit latency [us], name


def probe_cstates(root: Path = ROOT) -> list[Finding]:
    """Return one finding per different deepest enabled C-state."""
    deepest: dict[State | None, list[int]] = defaultdict(list)
    for cpu, path in numbered(root / CPUS, "cpu"):
        if entries(path / "cpuidle"):
            deepest[_deepest(path / "cpuidle")].append(cpu)
    if not deepest:
        why = (
            "virtual machine"
            if is_virtual(root)
            else "the kernel has no cpuidle driver: idle=poll, or processor.max_cstate=0"
        )
        return [ok("cstates", f"not visible ({why})")]
    return [_judge_cstate(state, format_cpu_list(cpus)) for state, cpus in deepest.items()]


def probe_governor(root: Path = ROOT) -> list[Finding]:
    """Return one finding per frequency governor in use, and one on turbo."""
    governors: dict[str, list[int]] = defaultdict(list)
    for cpu, path in numbered(root / CPUS, "cpu"):
        governor = read_text(path / "cpufreq/scaling_governor")
        if governor:
            governors[governor].append(cpu)
    if not governors:
        why = "virtual machine" if is_virtual(root) else "no cpufreq driver: the firmware chooses"
        return [ok("governor", f"not visible ({why})")]
    return [
        _judge_governor(name, format_cpu_list(cpus)) for name, cpus in governors.items()
    ] + _turbo(root)


def _deepest(cpuidle: Path) -> State | None:
    """Return the enabled state with the longest way out; None when no state can be read."""
    states = []
    for _number, state in numbered(cpuidle, "state"):
        latency_us = read_int(state / "latency")
        if latency_us is not None and read_int(state / "disable") != 1:
            states.append((latency_us, read_text(state / "name") or state.name))
    return max(states, default=None)


def _judge_cstate(state: State | None, cpus: str) -> Finding:
    if state is None:
        return warning("cstates", f"CPUs {cpus}: the states cannot be read")
    latency_us, name = state
    text = f"deepest enabled {name}, {latency_us} us to wake, on CPUs {cpus}"
    if latency_us <= WAKE_LATENCY_MAX_US:
        return ok("cstates", text)
    text += ": interrupts, kernel paths and neighbours' clock rates suffer"
    return warning(
        "cstates", text, f"cpupower idle-set --disable-by-latency {WAKE_LATENCY_MAX_US + 1}"
    )


def _judge_governor(name: str, cpus: str) -> Finding:
    if name == "performance":
        return ok("governor", f"performance on CPUs {cpus}")
    text = f"{name} on CPUs {cpus}: the clock rate changes while measuring"
    return warning("governor", text, "cpupower frequency-set --governor performance")


def _turbo(root: Path) -> list[Finding]:
    """Tell whether turbo is on: rates then depend on how many other cores are busy."""
    off, on = (
        read_int(root / CPUS / "intel_pstate/no_turbo"),
        read_int(root / CPUS / "cpufreq/boost"),
    )
    if off is None and on is None:
        return []
    if off == 0 or on == 1:
        return [
            ok(
                "governor",
                "turbo is on: cycles per frame vary with the load of other cores; "
                "off gives repeatable rates",
            )
        ]
    return [ok("governor", "turbo is off: repeatable clock rate")]
