# SPDX-License-Identifier: BSD-3-Clause
"""Hugepages: how many of which size on which NUMA node, and where they are mounted.

Sources: the kernel's admin-guide/mm/hugetlbpage.rst; the DPDK Linux guide, "Use of Hugepages".
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.host.findings import Finding, ok, warning
from wirerate.host.tree import (
    ROOT,
    entries,
    numbered,
    plural,
    read_int,
    read_text,
    to_int,
    unreadable,
)

if TYPE_CHECKING:
    from pathlib import Path

NODES = "sys/devices/system/node"
POOLS = "sys/kernel/mm/hugepages"
RESERVE = "echo 512 > /proc/sys/vm/nr_hugepages"
KIB_PER_MIB = 1024
# wirerate starts its engine with --in-memory (engine/eal.py), which maps pages without a mount.
WITHOUT_MOUNT = "wirerate needs no mount, other DPDK programs (testpmd as a DUT) do"


@dataclass(frozen=True)
class Pool:
    """The hugepages of one size on one NUMA node."""

    node: int | None  # None: the kernel knows no NUMA nodes
    size_kib: int
    pages: int
    free_pages: int | None  # None: unreadable


def probe_hugepages(root: Path = ROOT, *, uid: int | None = None) -> list[Finding]:
    """Return findings on reserved pages, nodes without any, mounts and left-over files."""
    uid = os.geteuid() if uid is None else uid
    pools = read_pools(root)
    if pools is None:
        why = unreadable(root / POOLS)
        return [warning("hugepages", f"{why}: wirerate runs without them (--no-huge)")]
    reserved = [pool for pool in pools if pool.pages]
    if not reserved:
        return [_none_reserved()]
    findings = [_describe(pool) for pool in reserved]
    findings += _bare_nodes(pools, root)
    return findings + _mounts(root, uid)


def read_pools(root: Path = ROOT) -> list[Pool] | None:
    """Return the pools of every node and size, empty ones too; None when the kernel shows none."""
    pools = [
        pool
        for node, path in numbered(root / NODES, "node")
        for pool in _pools_in(path / "hugepages", node)
    ]
    return pools or _pools_in(root / POOLS, None) or _default_pool(root) or None


def size_text(size_kib: int) -> str:
    """Return a page size as people write it: 2 MiB, 1 GiB."""
    if size_kib % (KIB_PER_MIB * KIB_PER_MIB) == 0:
        return f"{size_kib // (KIB_PER_MIB * KIB_PER_MIB)} GiB"
    return f"{size_kib // KIB_PER_MIB} MiB" if size_kib % KIB_PER_MIB == 0 else f"{size_kib} KiB"


def _pools_in(directory: Path, node: int | None) -> list[Pool]:
    pools = []
    for entry in entries(directory):
        size = re.fullmatch(r"hugepages-(\d{1,12})kB", entry.name)
        pages = read_int(entry / "nr_hugepages")
        if size and pages is not None:
            pools.append(Pool(node, int(size[1]), pages, read_int(entry / "free_hugepages")))
    return pools


def _default_pool(root: Path) -> list[Pool]:
    """Return the pool of the default size from /proc/meminfo, for hosts that hide /sys."""
    facts = dict(re.findall(r"(\w+):\s*(\d{1,15})", read_text(root / "proc/meminfo") or ""))
    size, pages = facts.get("Hugepagesize"), facts.get("HugePages_Total")
    if size is None or pages is None:
        return []
    return [Pool(None, int(size), int(pages), to_int(facts.get("HugePages_Free")))]


def _none_reserved() -> Finding:
    text = (
        "none reserved: wirerate then runs with --no-huge; ring, null, pcap and memif "
        "ports work, NICs need hugepages"
    )
    return warning("hugepages", text, RESERVE)


def _describe(pool: Pool) -> Finding:
    where = "" if pool.node is None else f" on node {pool.node}"
    text = f"{pool.pages} x {size_text(pool.size_kib)}{where}"
    if pool.free_pages is None:
        return warning("hugepages", f"{text}, how many are free cannot be read")
    if pool.free_pages == 0:
        text += ", 0 free: other programs, or files that ended ones left, hold them all"
        return warning(
            "hugepages",
            text,
            "fuser -v /dev/hugepages/* (end the holder, or remove files nobody holds)",
        )
    return ok("hugepages", f"{text}, {pool.free_pages} free")


def _bare_nodes(pools: list[Pool], root: Path) -> list[Finding]:
    """Warn of nodes that have CPUs but no pages while another node has some."""
    size_kib = next(pool.size_kib for pool in pools if pool.pages)
    findings = []
    for node, path in numbered(root / NODES, "node"):
        if not read_text(path / "cpulist") or any(
            pool.pages for pool in pools if pool.node == node
        ):
            continue
        text = f"none on node {node}: lcores and NICs of that node would use another node's memory"
        command = f"echo 512 > /{NODES}/node{node}/hugepages/hugepages-{size_kib}kB/nr_hugepages"
        findings.append(warning("hugepages", text, command))
    return findings


def _mounts(root: Path, uid: int) -> list[Finding]:
    """Tell the hugetlbfs mount points, and whether this user may write to one."""
    mounts = read_text(root / "proc/mounts")
    if mounts is None:
        return [warning("hugepages", f"{unreadable(root / 'proc/mounts')}: mount points unknown")]
    points = [
        fields[1]
        for line in mounts.splitlines()
        if len(fields := line.split()) > 2 and fields[2] == "hugetlbfs"
    ]
    if not points:
        text = f"no hugetlbfs is mounted: {WITHOUT_MOUNT}"
        command = "mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages"
        return [Finding("hugepages", "ok", text, command)]
    writable = [point for point in points if os.access(root / point.lstrip("/"), os.W_OK | os.X_OK)]
    if not writable:
        text = f"mounted at {', '.join(points)}, closed to this user (uid {uid}): {WITHOUT_MOUNT}"
        mount = f"mount -t hugetlbfs -o uid={uid},mode=0700 nodev /mnt/huge"
        return [Finding("hugepages", "ok", text, f"mkdir -p /mnt/huge && {mount}  (as root)")]
    return [
        ok("hugepages", f"mounted at {', '.join(writable)}, writable"),
        *_left_over(root, writable),
    ]


def _left_over(root: Path, points: list[str]) -> list[Finding]:
    """Warn of map files that ended DPDK programs left: their pages stay taken until removed."""
    findings = []
    for point in points:
        files = [entry for entry in entries(root / point.lstrip("/")) if "map_" in entry.name]
        if files:
            text = (
                f"{plural(len(files), 'DPDK map file')} in {point}: pages stay taken if "
                "no program uses them any more"
            )
            findings.append(
                warning("hugepages", text, f"fuser -s {point}/*map_* || rm -f {point}/*map_*")
            )
    return findings
