# SPDX-License-Identifier: BSD-3-Clause
"""What a run is to do, once its ports are open and its flows are compiled. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.model import Plan
    from wirerate.plan.placement import Placement
    from wirerate.plan.program import FlowPlan, PortPlan
    from wirerate.plan.run_settings import RunSettings


@dataclass(frozen=True)
class ReadyPlan:
    """The plan and what became of it.

    ``ports`` are the open ones, in the plan's order; ``flows`` all flows, in the plan's order.
    ``infos`` are the engine's PORT_INFOs by the engine's name of the port (``PortPlan.name``),
    ``about`` its `engine.info` (docs/design/0002-engine-interface.md). ``notes`` are what compiling
    the flows had to say, ``placements`` where the ports are, by the engine's name.
    """

    plan: Plan
    settings: RunSettings
    ports: tuple[PortPlan, ...]
    flows: tuple[FlowPlan, ...]
    infos: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    placements: Mapping[str, Placement] = field(default_factory=dict)

    def placed(self, placements: Mapping[str, Placement]) -> ReadyPlan:
        """The same with what is known of places, and notes of what is wrong with them."""
        found = (text for placement in placements.values() for text in placement.warnings())
        return replace(self, placements=placements, notes=(*self.notes, *found))

    def flows_of(self, port: PortPlan) -> tuple[FlowPlan, ...]:
        """The flows that a port sends."""
        return tuple(flow for flow in self.flows if flow.port == port.index)
