# SPDX-License-Identifier: BSD-3-Clause
"""On what machine, with which versions and by which command something was measured.

Results of two machines, or of one at two times, can be compared only by who knows what differs.
"""

from __future__ import annotations

import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from wirerate.host.clock import is_virtual
from wirerate.host.cpu import CPUS, NODES, isolated_cpus, online_cpus
from wirerate.host.hugepages import read_pools
from wirerate.host.tree import ROOT, numbered, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def environment(
    dpdk: str, started: datetime, argv: Sequence[str] | None = None, root: Path = ROOT
) -> dict[str, Any]:
    """The machine and the command; None for what the kernel does not tell.

    ``dpdk`` is its version as the engine says, ``argv`` None = that of this process, ``started`` is
    when the command began (with a time zone).
    """
    isolated = isolated_cpus(root)
    return {
        "cpu": _cpu_model(root),
        "cpus": len(online_cpus(root)) or None,
        "numa_nodes": len(numbered(root / NODES, "node")) or None,
        "kernel": read_text(root / "proc/sys/kernel/osrelease"),
        "os": _os_name(root),
        "hypervisor": is_virtual(root),
        "governor": _governor(root),
        "isolated_cpus": isolated,
        "hugepages": [
            {
                "node": pool.node,
                "size_octets": pool.size_kib << 10,
                "pages": pool.pages,
                "free_pages": pool.free_pages,
            }
            for pool in read_pools(root) or []
            if pool.pages
        ],
        "wirerate": _wirerate(),
        "dpdk": dpdk,
        "python": platform.python_version(),
        "command": list(sys.argv if argv is None else argv),
        "started": started.astimezone(timezone.utc).isoformat(timespec="milliseconds"),
    }


def _cpu_model(root: Path) -> str | None:
    """The first CPU's; on ARM the kernel knows numbers only."""
    for line in (read_text(root / "proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in {"model name", "Processor"}:
            return value.strip()
    return None


def _os_name(root: Path) -> str | None:
    """PRETTY_NAME of os-release(5)."""
    for line in (read_text(root / "etc/os-release") or "").splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip().strip("\"'")
    return None


def _governor(root: Path) -> str | None:
    """The frequency governors in use, ``performance`` at best; None where none can be read."""
    found = {
        read_text(path / "cpufreq/scaling_governor") for _, path in numbered(root / CPUS, "cpu")
    }
    return ", ".join(sorted(name for name in found if name)) or None


def _wirerate() -> str | None:
    """The package's version; None in a source tree that is not installed."""
    try:
        return version("wirerate")
    except PackageNotFoundError:
        return None
