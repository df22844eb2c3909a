# SPDX-License-Identifier: BSD-3-Clause
"""Settle all that can be settled of a plan before an engine starts, and find its mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import choose_memory
from wirerate.engine.scan import scan_trace
from wirerate.errors import PlanError
from wirerate.host.capture_files import check_capture_files
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.plan.compile import PortFacts, compile_again, compile_flow
from wirerate.plan.descriptor_loop import loop_frames
from wirerate.plan.lcore_map import choose_map
from wirerate.plan.line_load import check_line_loads
from wirerate.plan.placement import nodes_of, place
from wirerate.plan.pools import memory_octets
from wirerate.plan.program import check_measurable, fit_map, port_name, stream_name, uses_of
from wirerate.plan.titles import port_titles
from wirerate.session.engine_start import idle_lcores, warn_of_shared
from wirerate.trial.peer_client import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wirerate.engine.eal import Memory
    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.fields import Neighbor
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.location import Location
    from wirerate.plan.model import Plan
    from wirerate.plan.placement import Placement
    from wirerate.plan.run_settings import RunSettings
    from wirerate.plan.titles import Titles
    from wirerate.session.engine_start import Notices

_ANY_LINE_BPS = 10**14
"""Stands for a line that is not known yet: every rate that a plan may ask for fits on it."""


@dataclass(frozen=True)
class Prepared:
    """A plan that an engine may be started for.

    Ports of ``plan`` that ``lcore_map`` lacks are left alone. ``flows`` are compiled as far as that
    goes before the ports are open: frames and sizes. ``laps``: the frames of ports that loop
    (`wirerate.plan.descriptor_loop`); ``memory`` is the engine's; ``placements`` are those of the
    mapped ports, by the engine's name.
    """

    plan: Plan
    settings: RunSettings
    titles: Titles
    lcore_map: LcoreMap
    flows: tuple[CompiledFlow, ...]
    laps: Mapping[str, int]
    memory: Memory
    placements: Mapping[str, Placement]

    @property
    def port_titles(self) -> list[str]:
        """What messages call the plan's ports."""
        return port_titles(self.plan, self.titles)

    @property
    def notes(self) -> tuple[str, ...]:
        """What compiling had to say, each thing once."""
        return notes_of(self.flows)

    @property
    def mapped_ports(self) -> list[tuple[str, Location, int]]:
        """Title, location and number of queues of the ports that are to be opened."""
        titles = self.port_titles
        return [
            (
                titles[entry.port],
                self.plan.ports[entry.port].location,
                max(len(entry.rx), len(entry.tx)),
            )
            for entry in self.lcore_map.ports
        ]

    def compiled(
        self,
        line_rates: Sequence[int | None],
        macs: Mapping[int, str],
        neighbors: Mapping[Neighbor, int],
    ) -> list[CompiledFlow]:
        """All flows, for the line rate [bit/s] of each of the plan's ports, and all addresses."""
        before = _drafted(self.plan, self.settings)
        facts = {
            port.name: PortFacts(index, macs.get(index), line_rates[index], neighbors)
            for index, port in enumerate(self.plan.ports)
        }
        return [
            compile_again(draft, before[draft.flow.tx_port], facts[draft.flow.tx_port])
            for draft in self.flows
        ]


def notes_of(flows: Sequence[CompiledFlow]) -> tuple[str, ...]:
    """What compiling had to say, each thing once."""
    return tuple(dict.fromkeys(note for flow in flows for note in flow.notes))


def prepare(plan: Plan, settings: RunSettings, titles: Titles, notices: Notices) -> Prepared:
    """Choose lcores and memory, lay frames out, and check all that needs no device.

    Raises PlanError and HostSetupError for what keeps the plan from being run.
    """
    if not plan.ports:
        raise PlanError("ports: the plan has none; add one with a name and a location")
    named = port_titles(plan, titles)
    check_capture_files(plan, named)
    check_measurable(plan)
    scans = _scan_traces(plan)
    lcore_map = _lcore_map(plan, settings, notices)
    flows = _drafts(plan, settings, scans)
    check_line_loads(
        plan, flows, [settings.line_rate_bps] * len(plan.ports), named, settings.duration_ns
    )
    laps = loop_frames(plan, settings, lcore_map, flows)
    need = memory_octets(plan, settings, lcore_map, flows)
    placements = _placements(plan, settings, lcore_map, named)
    for placement in placements.values():
        for text in placement.warnings():
            notices.warn(text)
    memory = choose_memory(
        need,
        settings.eal.passthrough,
        allow_hugepages=True,
        nodes=nodes_of(placements.values()),
    )
    if settings.peer is not None:
        ask(settings.peer)
    return Prepared(plan, settings, titles, lcore_map, tuple(flows), laps, memory, placements)


def _scan_traces(plan: Plan) -> dict[Path, Mapping[str, Any]]:
    """What is in each capture file, read once whoever sends it."""
    files = dict.fromkeys(flow.trace.file for flow in plan.flows if flow.trace is not None)
    return {file: scan_trace(file) for file in files}


def _lcore_map(plan: Plan, settings: RunSettings, notices: Notices) -> LcoreMap:
    """The user's map, or a choice; warns of lcores on which another run polls."""
    if settings.lcore_map is not None:
        lcore_map = fit_map(plan, settings.lcore_map)
    else:
        lcore_map = choose_map(
            [pci_node(port.location) for port in plan.ports],
            idle_lcores(settings),
            cpu_nodes(),
            control=settings.eal.main_lcore,
            uses=uses_of(plan),
        )
    warn_of_shared(lcore_map.lcores, notices)
    return lcore_map


def _drafted(plan: Plan, settings: RunSettings) -> dict[str, PortFacts]:
    """What is taken for granted of each port before any of them is open."""
    line_bps = settings.line_rate_bps or _ANY_LINE_BPS
    return {port.name: PortFacts(index, None, line_bps) for index, port in enumerate(plan.ports)}


def _drafts(
    plan: Plan, settings: RunSettings, scans: Mapping[Path, Mapping[str, Any]]
) -> list[CompiledFlow]:
    facts = _drafted(plan, settings)
    drafts = []
    for number, flow in enumerate(plan.flows):
        scan = None if flow.trace is None else scans[flow.trace.file]
        drafts.append(compile_flow(flow, stream_name(number), facts[flow.tx_port], scan))
    return drafts


def _placements(
    plan: Plan, settings: RunSettings, lcore_map: LcoreMap, titles: Sequence[str]
) -> dict[str, Placement]:
    """Where each mapped port and its lcores are, by the engine's name."""
    nodes = cpu_nodes()
    return {
        port_name(entry.port): place(
            titles[entry.port],
            pci_node(plan.ports[entry.port].location),
            (*entry.rx, *entry.tx),
            settings.lcores,
            nodes,
        )
        for entry in lcore_map.ports
    }
