# SPDX-License-Identifier: BSD-3-Clause
"""Which lcore forwards which queue: the maps of a forwarder, and a choice without one.

A lane is one queue's way: received on queue q of one port, sent on queue q of another, all by one
lcore. So the lcores that a map gives to a port are those that receive; it has as many Rx queues as
they are, and its partner as many Tx queues. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.lcore_map import choose_map

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from wirerate.plan.forward_settings import ForwardSettings, Way
    from wirerate.plan.lcore_map import Direction, LcoreMap, PortLcores


@dataclass(frozen=True)
class Lane:
    """Frames of (``source``, ``queue``) leave by (``target``, ``queue``), carried by ``lcore``.

    ``target`` None: they are counted and freed. Ports are places among the locations.
    """

    source: int
    target: int | None
    queue: int
    lcore: int


def mapped_lanes(settings: ForwardSettings, lcore_map: LcoreMap) -> tuple[Lane, ...]:
    """The lanes of the user's map. Raises PlanError where map and ways do not fit together."""
    lanes: list[Lane] = []
    for way in settings.ways:
        lcores = lcore_map.of_port(way.source).rx
        if not lcores:
            raise PlanError(
                f"lcore map {lcore_map}: port {way.source} has no lcore to receive; add "
                f"LCORE.{way.source}"
            )
        lanes += _lanes(way, _dealt(settings, way.source, lcores))
    for entry in lcore_map.ports:
        _check_senders(entry, lanes)
    return tuple(lanes)


def _lanes(way: Way, lcores: Iterable[int]) -> list[Lane]:
    return [Lane(way.source, way.target, queue, lcore) for queue, lcore in enumerate(lcores)]


def _dealt(settings: ForwardSettings, port: int, lcores: Sequence[int]) -> list[int]:
    """The lcore of each queue: with more queues than lcores, lcores take turns."""
    queues = settings.queues or len(lcores)
    if queues < len(lcores):
        raise PlanError(
            f"-q {queues}: port {port} has {len(lcores)} lcores in its map, but each needs a queue "
            "of its own; raise -q, or give fewer lcores"
        )
    return [lcores[queue % len(lcores)] for queue in range(queues)]


def _check_senders(entry: PortLcores, lanes: Sequence[Lane]) -> None:
    """Tx lcores may be named where they are what they will be anyway.

    A map without a colon gives the same list twice, and means those that receive.
    """
    senders = tuple(dict.fromkeys(lane.lcore for lane in lanes if lane.target == entry.port))
    if not any(lane.source == entry.port for lane in lanes) and entry.rx not in {(), senders}:
        raise PlanError(
            f"lcore map {entry.text}: port {entry.port} receives nothing here; leave that map out"
        )
    if entry.tx in {(), entry.rx, senders}:
        return
    who = ", ".join(str(lcore) for lcore in senders)
    does = f"lcore {who} will transmit" if who else "nobody transmits"
    own = ",".join(str(lcore) for lcore in entry.rx)
    raise PlanError(
        f"lcore map {entry.text}: an lcore sends what it has received, so {does} on port "
        f"{entry.port}; " + (f"write [{own}].{entry.port}" if own else "leave that map out")
    )


def chosen_lanes(
    settings: ForwardSettings,
    cpus: Collection[int],
    port_nodes: Sequence[int],
    cpu_nodes: Mapping[int, int],
) -> tuple[Lane, ...]:
    """Lanes for ports without a map: an lcore for each queue, or in turns with fewer lcores.

    ``port_nodes`` is the NUMA node of each location, -1 = unknown; ``cpus`` may be used.
    """
    queues = settings.queues or 1
    ways = [(way, queue) for way in settings.ways for queue in range(queues)]
    receive: frozenset[Direction] = frozenset({"rx"})
    chosen = choose_map(
        [port_nodes[way.source] for way, _ in ways],
        cpus,
        cpu_nodes,
        control=settings.eal.main_lcore,
        uses=[receive] * len(ways),
    )
    return tuple(
        Lane(way.source, way.target, queue, chosen.of_port(number).rx[0])
        for number, (way, queue) in enumerate(ways)
    )


def lcores_of(lanes: Sequence[Lane]) -> tuple[int, ...]:
    """Every lcore with a lane, ascending."""
    return tuple(sorted({lane.lcore for lane in lanes}))


def map_text(lanes: Sequence[Lane]) -> str:
    """The lcores of each port's queues, as one would write them: ``1,2.0/1.1``."""
    by_port: dict[int, list[int]] = {}
    for lane in lanes:
        by_port.setdefault(lane.source, []).append(lane.lcore)
    texts = [(port, ",".join(map(str, lcores))) for port, lcores in sorted(by_port.items())]
    return "/".join(f"[{text}].{port}" if "," in text else f"{text}.{port}" for port, text in texts)
