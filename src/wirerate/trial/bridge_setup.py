# SPDX-License-Identifier: BSD-3-Clause
"""What a bridge settles before its engine starts: lcores, sleep, memory, checks of its ports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.engine.eal import choose_memory, eal_arguments
from wirerate.engine.process import Engine
from wirerate.engine.run_dir import idle_of, lcores_in_use
from wirerate.errors import EngineRefusedError, PlanError
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.host.ports import check_port
from wirerate.host.tree import plural
from wirerate.plan.bridge_program import BridgeLcores, bridge_memory_octets
from wirerate.plan.bridge_settings import CPUS_TO_SPARE, SLEEP_SCARCE_NS
from wirerate.plan.lcore_map import choose_map
from wirerate.plan.location import LocationKind
from wirerate.plan.placement import nodes_of, place
from wirerate.plan.program import port_refusal
from wirerate.plan.sleep import asleep_note
from wirerate.trial.bridge_interfaces import TITLES
from wirerate.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.engine.eal import Memory
    from wirerate.plan.bridge_settings import BridgeSettings
    from wirerate.plan.lcore_map import Direction
    from wirerate.plan.placement import Placement

_RECEIVE: frozenset[Direction] = frozenset({"rx"})


@dataclass(frozen=True)
class BridgeSetup:
    """Where a bridge will run; ``sleep_ns`` of its workers, ``notes`` about CPUs."""

    lcores: BridgeLcores
    sleep_ns: int
    memory: Memory
    placements: tuple[Placement, ...]
    notes: tuple[str, ...]


def set_up(settings: BridgeSettings) -> BridgeSetup:
    """Choose what the settings leave open. Raises PlanError."""
    allowed = sorted(os.sched_getaffinity(0))
    usable = settings.lcores or tuple(allowed)
    lcores = _lcores(settings, usable)
    nodes = cpu_nodes()
    placements = tuple(
        place(title, pci_node(location), [lcore], usable, nodes)
        for title, location, lcore in zip(
            TITLES, settings.locations, (lcores.data, lcores.kernel), strict=True
        )
    )
    memory = choose_memory(
        bridge_memory_octets(settings),
        settings.eal.passthrough,
        allow_hugepages=True,
        nodes=nodes_of(placements),
    )
    scarce = len(allowed) < len(lcores.used) + CPUS_TO_SPARE
    sleep_ns = settings.cpu_saver_ns or (SLEEP_SCARCE_NS if scarce else 0)
    notes = _notes(lcores, len(allowed), sleep_ns, chosen=not settings.cpu_saver_ns)
    return BridgeSetup(lcores, sleep_ns, memory, placements, notes)


def _lcores(settings: BridgeSettings, usable: Sequence[int]) -> BridgeLcores:
    """Those of the map, or a choice; the kernel port's near the port, whose frames it handles."""
    if settings.lcore_map is not None:
        given = [settings.lcore_map.of_port(port) for port in (0, 1)]
        for port, entry in enumerate(given):
            if len(entry.rx) != 1 or entry.tx not in {(), entry.rx}:
                raise PlanError(
                    f"lcore map {settings.lcore_map}: a bridge has one lcore for the data path and "
                    f"one for the kernel port; write LCORE.0/LCORE.1, 2.0/3.1 say (port {port})"
                )
        return BridgeLcores(given[0].rx[0], given[1].rx[0])
    node = pci_node(settings.port)
    chosen = choose_map(
        [node, node],
        idle_of(usable),
        cpu_nodes(),
        control=settings.eal.main_lcore,
        uses=[_RECEIVE] * 2,
    )
    data, kernel = chosen.of_port(0).rx[0], chosen.of_port(1).rx[0]
    if data == kernel and len(usable) > 1:  # better no CPU for the rest than none for the kernel
        kernel = next(lcore for lcore in usable if lcore != data)
    return BridgeLcores(data, kernel)


def _notes(lcores: BridgeLcores, cpus: int, sleep_ns: int, *, chosen: bool) -> tuple[str, ...]:
    notes = []
    if lcores.data == lcores.kernel:
        notes.append(
            f"lcore {lcores.data} is both the data path's and the kernel port's: neither is spared "
            "the other's work"
        )
    if sleep_ns and chosen:
        notes.append(
            f"{plural(cpus, 'CPU')} for {plural(len(lcores.used), 'worker')} and the rest: "
            f"workers sleep {format_duration_ns(sleep_ns)} when nothing is due, so that the kernel "
            "gets its turn"
        )
    elif sleep_ns:
        notes.append(asleep_note(sleep_ns))
    others = sorted(lcores_in_use().intersection(lcores.used))
    if others:
        notes.append(f"another run polls on lcore {', '.join(map(str, others))} too")
    return tuple(notes)


def new_engine(settings: BridgeSettings, setup: BridgeSetup, namespace: str | None) -> Engine:
    """Check what the host knows of the ports and start an engine.

    Raises PlanError, HostSetupError and EngineError.
    """
    for title, location in zip(TITLES, settings.locations, strict=True):
        check_port(title, location, 0)  # queues: see check_interfaces, which looks in the namespace
    words = engine_words(settings, setup)
    return Engine(words, setup.lcores.used, settings.eal.passthrough, setup.memory.node, namespace)


def engine_words(settings: BridgeSettings, setup: BridgeSetup) -> list[str]:
    """EAL's arguments."""
    return eal_arguments(
        settings.locations, setup.lcores.used, setup.memory, settings.eal.passthrough
    )


def named(error: EngineRefusedError, settings: BridgeSettings) -> EngineRefusedError:
    """The engine's refusal to open a port in the user's words."""
    path = error.path or ""
    for index, title in enumerate(TITLES):
        if not path.startswith(f"ports[{index}]"):
            continue
        text = str(error).removeprefix(f"{path}: ")
        if path.endswith("_queues") and index == 1:
            text = f"{text.partition(';')[0]}; give a smaller --kernel-queues"
        elif path.endswith("_queues") and settings.two_queues:
            text = (
                f"{text.partition(';')[0]}; the data path and the kernel's worker need one each: "
                "give it more, or leave --address out"
            )
        location = settings.locations[index]
        if location.kind is LocationKind.AF_XDP and "xsk socket" in text:
            text = f"{text}; does another process have its queue? (ip link shows an xdp program)"
        text = port_refusal(text, title, location)
        return EngineRefusedError(text, path=error.path, errno_name=error.errno_name)
    return error
