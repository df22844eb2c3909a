# SPDX-License-Identifier: BSD-3-Clause
"""Which NUMA node a CPU or a PCI device belongs to, from sysfs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wirerate.host.tree import numbered, parse_cpu_list, read_int, read_text

if TYPE_CHECKING:
    from wirerate.plan.location import Location

ROOT = Path("/")
UNKNOWN = -1


def cpu_nodes(root: Path = ROOT) -> dict[int, int]:
    """The node of every CPU that sysfs tells of."""
    nodes = {}
    for node, directory in numbered(root / "sys/devices/system/node", "node"):
        for cpu in parse_cpu_list(read_text(directory / "cpulist")):
            nodes[cpu] = node
    return nodes


def pci_node(location: Location, root: Path = ROOT) -> int:
    """The node of a PCI location's device; -1 for other locations and where nobody knows."""
    if not location.needs_pci:
        return UNKNOWN
    node = read_int(root / "sys/bus/pci/devices" / location.value / "numa_node")
    return UNKNOWN if node is None else node
