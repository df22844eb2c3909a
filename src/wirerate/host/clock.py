# SPDX-License-Identifier: BSD-3-Clause
"""The clock: pacing and stamps use the TSC, which must be even on all CPUs and in all C-states."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from wirerate.host.findings import Finding, ok, warning
from wirerate.host.tree import ROOT, read_text, unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from wirerate.host.versions import Run

SOURCE = "sys/devices/system/clocksource/clocksource0"
TRUSTED_SOURCES = ("tsc", "arch_sys_counter")  # x86, 64-bit Arm
#: A frequency known less well is worth a warning [ppm]: a hundredth of what a rate may be off.
TSC_BOUND_PPM = 10.0
STEADY_FLAGS = ("constant_tsc", "nonstop_tsc")


def probe_clock(root: Path = ROOT) -> list[Finding]:
    """Return findings on the kernel's clock source and on the CPU's promises about its TSC."""
    return [_source(root), *_flags(root)]


def probe_tsc(engine: Path, run: Run) -> list[Finding]:
    """Return the finding on the TSC's frequency, as the engine calibrates it and as DPDK has it."""
    code, output = run([str(engine), "--clock"])
    try:
        facts = json.loads(output.splitlines()[-1]) if code == 0 else {}
        hz, bound, dpdk_hz = (facts[key] for key in ("tsc_hz", "bound_ppm", "dpdk_tsc_hz"))
        difference = 1e6 * (dpdk_hz / hz - 1)
    except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
        said = (output.splitlines() or ["no output"])[-1]
        return [warning("clock", f"TSC frequency not measured: {engine} --clock said: {said}")]
    text = (
        f"TSC {hz:,} Hz by the kernel's raw clock (within {bound:.2g} ppm), which wirerate uses; "
        f"DPDK has {dpdk_hz:,} Hz: {difference:+,.1f} ppm"
    )
    if bound > TSC_BOUND_PPM:
        why = "the clock source is slow to read, or this machine is very busy"
        return [warning("clock", f"{text}. Rates and times may be wrong by the bound: {why}")]
    return [ok("clock", text)]


def cpu_flags(root: Path = ROOT) -> set[str] | None:
    """Return the feature flags of the first CPU; None when unreadable, or when it lists none."""
    found = re.search(r"^flags\s*:(.*)$", read_text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return set(found[1].split()) if found else None


def is_virtual(root: Path = ROOT) -> bool:
    """Return whether the CPU says that a hypervisor runs it."""
    return (
        "hypervisor" in (cpu_flags(root) or ())
        or read_text(root / "sys/hypervisor/type") is not None
    )


def _source(root: Path) -> Finding:
    current = read_text(root / SOURCE / "current_clocksource")
    if not current:
        return warning(
            "clock", f"clock source unknown: {unreadable(root / SOURCE / 'current_clocksource')}"
        )
    if current in TRUSTED_SOURCES:
        return ok("clock", f"clock source {current}")
    text = (
        f"clock source {current}, not tsc: reading the time is slow, and the kernel may "
        "have found the TSC unsteady"
    )
    available = (read_text(root / SOURCE / "available_clocksource") or "").split()
    if "tsc" in available:
        return warning("clock", text, f"echo tsc > /{SOURCE}/current_clocksource")
    return warning(
        "clock",
        text,
        "dmesg | grep -i tsc  (then, if the TSC is good, add 'tsc=reliable' to the "
        "kernel command line)",
    )


def _flags(root: Path) -> list[Finding]:
    flags = cpu_flags(root)
    if flags is None:
        if read_text(root / "proc/cpuinfo") is None:
            return [warning("clock", f"TSC flags unknown: {unreadable(root / 'proc/cpuinfo')}")]
        return []  # not x86: the generic timer is steady by architecture
    missing = [flag for flag in STEADY_FLAGS if flag not in flags]
    if not missing:
        return [ok("clock", " and ".join(STEADY_FLAGS))]
    text = f"the CPU does not promise {' and '.join(missing)}: rates, gaps and latencies may drift"
    fix = (
        "pass the host's CPU through to the guest (QEMU: -cpu host,+invtsc)"
        if is_virtual(root)
        else None
    )
    return [warning("clock", text, fix)]
