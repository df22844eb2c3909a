# SPDX-License-Identifier: BSD-3-Clause
"""What the control group of this process allows: which CPUs (cpuset), and how much of them (quota).

Both cgroup versions, and both mounted at once. A limit on any ancestor binds, so the walk goes up
to the mount.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.host.tree import ROOT, parse_cpu_list, read_int, read_text, to_int

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def allowed_by_cpuset(root: Path = ROOT) -> list[int] | None:
    """Return the CPUs of the nearest cpuset; None when no cgroup tells."""
    for directory in _directories(root, "cpuset"):
        for name in ("cpuset.cpus.effective", "cpuset.effective_cpus"):
            cpus = parse_cpu_list(read_text(directory / name))
            if cpus:
                return cpus
    return None


def quota_cpus(root: Path = ROOT) -> float | None:
    """Return the tightest CPU quota in CPUs (1.5: 150 ms of CPU time per 100 ms); None without."""
    quotas = [
        quota for directory in _directories(root, "cpu") if (quota := _quota(directory)) is not None
    ]
    return min(quotas, default=None)


def _quota(directory: Path) -> float | None:
    """Read cpu.max ("150000 100000", "max 100000") of version 2, or version 1's two files [us]."""
    quota, _, period = (read_text(directory / "cpu.max") or "").partition(" ")
    quota_us, period_us = to_int(quota), to_int(period)
    if quota_us is None:
        quota_us = read_int(directory / "cpu.cfs_quota_us")
        period_us = read_int(directory / "cpu.cfs_period_us")
    if quota_us is None or period_us is None or quota_us <= 0 or period_us <= 0:
        return None
    return quota_us / period_us


def _directories(root: Path, controller: str) -> Iterator[Path]:
    """Yield the cgroup's directory for the controller, then its ancestors up to the mount point."""
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        mounts = _mounts(root, number, controllers, controller)
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for mount in mounts:
            for length in range(len(parts), -1, -1):
                yield mount.joinpath(*parts[:length])


def _mounts(root: Path, number: str, controllers: str, controller: str) -> list[Path]:
    """Return where a line of /proc/self/cgroup is mounted: systemd's and Docker's places."""
    top = root / "sys/fs/cgroup"
    if number == "0":  # version 2
        return [top, top / "unified"]
    if controller in controllers.split(","):
        return [top / controllers, top / controller]
    return []
