# SPDX-License-Identifier: BSD-3-Clause
"""Where a port, its lcores and its memory are among a machine's NUMA nodes.

A frame that a NIC of one node exchanges with memory, or an lcore, of another crosses the link
between them: slower, and shared with all else that crosses. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wirerate.plan.lcore_map import list_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_UNKNOWN = -1


@dataclass(frozen=True)
class Placement:
    """One port; nodes are numbers from 0.

    ``node`` is the device's, -1 where it has none. ``lcores``: each with its node, -1 = unknown.
    ``memory``: the nodes that hold its frames, () = not told. ``usable``: the lcores of the
    device's node that the run may use. ``nodes``: how many the machine has.
    """

    title: str
    node: int
    lcores: tuple[tuple[int, int], ...]
    usable: tuple[int, ...]
    nodes: int
    memory: tuple[int, ...] = ()

    @property
    def shown(self) -> bool:
        """There is a choice of nodes, and the device has one."""
        return self.nodes > 1 and self.node != _UNKNOWN

    @property
    def far_lcores(self) -> tuple[int, ...]:
        """Lcores of another node than the device's."""
        if self.node == _UNKNOWN:
            return ()
        return tuple(lcore for lcore, node in self.lcores if node not in {_UNKNOWN, self.node})

    @property
    def far_memory(self) -> tuple[int, ...]:
        """Nodes other than the device's that hold some of its frames."""
        if self.node == _UNKNOWN:
            return ()
        return tuple(node for node in self.memory if node != self.node)

    @property
    def lcores_text(self) -> str:
        """``lcores 5-6 of node 1``, by node."""
        by_node: dict[int, list[int]] = defaultdict(list)
        for lcore, node in self.lcores:
            by_node[node].append(lcore)
        return "; ".join(
            f"{_lcores(lcores)} of {'an unknown node' if node == _UNKNOWN else f'node {node}'}"
            for node, lcores in sorted(by_node.items())
        )

    def warnings(self) -> list[str]:
        """What is not as it should be; none where all is of one node, or nobody knows."""
        found = []
        if self.far_lcores:
            there = (
                f"choose among {_lcores(self.usable)} (-m)"
                if self.usable
                else "none of that node may be used"
            )
            found.append(
                f"{self.title} is on NUMA node {self.node}, but {_lcores(self.far_lcores)} "
                f"{'is' if len(self.far_lcores) == 1 else 'are'} on another: its frames cross "
                f"between nodes; {there}"
            )
        if self.far_memory:
            found.append(
                f"{self.title} is on NUMA node {self.node}, but memory of its frames is on "
                f"{_nodes(self.far_memory)}: free memory (hugepages) on node {self.node}"
            )
        return found

    def document(self) -> dict[str, Any]:
        """For JSON; ``local``: all that is known is of the device's node; null = nobody knows."""
        known = self.node != _UNKNOWN and any(node != _UNKNOWN for _, node in self.lcores)
        return {
            "lcores": [{"lcore": lcore, "numa_node": node} for lcore, node in self.lcores],
            "memory_nodes": list(self.memory),
            "local": not self.far_lcores and not self.far_memory if known else None,
        }


def place(
    title: str,
    node: int,
    lcores: Iterable[int],
    usable: Iterable[int],
    cpu_nodes: Mapping[int, int],
) -> Placement:
    """A port of ``node`` and its lcores; ``usable`` are all that the run may use."""
    return Placement(
        title,
        node,
        tuple((lcore, cpu_nodes.get(lcore, _UNKNOWN)) for lcore in sorted(set(lcores))),
        tuple(lcore for lcore in sorted(usable) if cpu_nodes.get(lcore) == node),
        len(set(cpu_nodes.values())),
    )


def with_memory(
    placements: Mapping[str, Placement], told: Iterable[Mapping[str, Any]]
) -> dict[str, Placement]:
    """The same, by the engine's names of ports, with what its `ports.memory` ``told``."""
    memory = {entry["port"]: tuple(entry["nodes"]) for entry in told}
    return {
        name: replace(placement, memory=memory.get(name, ()))
        for name, placement in placements.items()
    }


def nodes_of(placements: Iterable[Placement]) -> tuple[int, ...]:
    """The nodes where memory is wanted, where there is a choice: of devices, then of lcores."""
    shown = [placement for placement in placements if placement.shown]
    nodes = [placement.node for placement in shown]
    nodes += [node for placement in shown for _, node in placement.lcores if node != _UNKNOWN]
    return tuple(dict.fromkeys(nodes))


def placement_lines(placements: Iterable[Placement]) -> list[str]:
    """A line per port, on machines with several nodes."""
    return [
        f"NUMA: {placement.title} is on node {placement.node}, {placement.lcores_text}"
        for placement in placements
        if placement.shown and placement.lcores
    ]


def memory_lines(placements: Iterable[Placement]) -> list[str]:
    """Where the memory of each port's frames is, on machines with several nodes."""
    return [
        f"{placement.title} on node {placement.node}: "
        f"frames in memory of {_nodes(placement.memory)}"
        for placement in placements
        if placement.shown and placement.memory
    ]


def _lcores(lcores: Sequence[int]) -> str:
    return f"lcore{'' if len(lcores) == 1 else 's'} {list_text(lcores)}"


def _nodes(nodes: Sequence[int]) -> str:
    return f"node{'' if len(nodes) == 1 else 's'} {', '.join(map(str, nodes))}"
