# SPDX-License-Identifier: BSD-3-Clause
"""With an engine that has just started: open the ports, settle what had to wait for them, load."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineRefusedError, PlanError
from wirerate.host.growth import Growth
from wirerate.plan.descriptor_loop import loop_notes, loop_port, loop_program
from wirerate.plan.line_load import check_line_loads
from wirerate.plan.placement import with_memory
from wirerate.plan.port_params import port_params
from wirerate.plan.program import make_program, named_refusal, plan_flow, plan_ports
from wirerate.plan.sleep import awake_notes
from wirerate.session.engine_start import report_ports
from wirerate.session.prepare import notes_of
from wirerate.trial.flow_control import flow_control_notes
from wirerate.trial.neighbors import resolve_neighbors
from wirerate.trial.ready_plan import ReadyPlan
from wirerate.trial.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.engine.process import Engine
    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.fields import Neighbor
    from wirerate.session.engine_start import Notices
    from wirerate.session.prepare import Prepared

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class OpenPlan:
    """A plan whose ports ``engine`` has open: ``program`` is what it loads for each trial."""

    engine: Engine
    prepared: Prepared
    ready: ReadyPlan
    program: dict[str, Any]
    flows: tuple[CompiledFlow, ...]

    @property
    def quiet_program(self) -> dict[str, Any]:
        """The program without captures, for what is not to be counted."""
        return {key: part for key, part in self.program.items() if key != "captures"}

    def check_loads(self, duration_ns: int | None) -> None:
        """Raise PlanError where the flows of a port do not fit on its line in a trial that long."""
        plan = self.prepared.plan
        rates: list[int | None] = [None] * len(plan.ports)
        for port in self.ready.ports:
            rates[port.index] = port.line_rate_bps
        check_line_loads(plan, self.flows, rates, self.prepared.port_titles, duration_ns)

    def load(self, program: dict[str, Any], ready: ReadyPlan, duration_ns: int | None) -> Trial:
        """A trial of the program, which is loaded for it; ``duration_ns`` as of Trial.

        Its stamps have a magic of their own: frames of another run, or late ones of the trial
        before, are foreign to it.
        """
        settings = self.prepared.settings
        ports = self.prepared.plan.ports
        growth = Growth({port.name: ports[port.index].location for port in ready.ports})
        with _refusals_named(self.prepared):
            counters = self.engine.load(program | {"stamp_magic": secrets.randbelow(1 << 16)})
        expected = [flow for flow in ready.flows if flow.expected]
        return Trial(
            self.engine,
            counters,
            duration_ns,
            settings.period_ns / _NS_PER_S,
            settings.settle_ns,
            measured=bool(expected) and all(flow.measured for flow in expected),
            live_latencies=settings.live_latencies,
            growth=growth,
        )

    def placed(self) -> ReadyPlan:
        """What is ready, with where its ports' frames are in memory; after a program was loaded."""
        told = self.engine.call("ports.memory")["ports"]
        return self.ready.placed(with_memory(self.prepared.placements, told))


def open_ports(engine: Engine, prepared: Prepared, notices: Notices) -> OpenPlan:
    """Open the ports of a plan. Raises PlanError, HostSetupError and EngineError."""
    about = engine.call("engine.info")
    plan, settings, lcore_map = prepared.plan, prepared.settings, prepared.lcore_map
    sizes = [flow.frame_size_max for flow in prepared.flows]
    with _refusals_named(prepared):
        params = port_params(plan, settings, lcore_map, sizes)
        asked = [loop_port(port, prepared.laps) for port in params]
        any_files = bool(plan.captures) or any(flow.scan is not None for flow in prepared.flows)
        opened = engine.call("ports.open", {"ports": asked, "any_files": any_files})["ports"]
    named = [title for title, _, _ in prepared.mapped_ports]
    report_ports(engine, settings, about, list(zip(named, opened, strict=True)), notices)
    neighbors = resolve_neighbors(engine, plan, lcore_map)
    ready, flows = _settled(prepared, about, opened, neighbors)
    _check_measured(ready)
    program = loop_program(make_program(plan, settings, lcore_map, flows), prepared.laps)
    awake = awake_notes(settings.cpu_saver_ns, program["workers"])
    ready = replace(ready, notes=(*ready.notes, *awake))
    return OpenPlan(engine, prepared, ready, program, tuple(flows))


@contextmanager
def _refusals_named(prepared: Prepared) -> Iterator[None]:
    """The engine's refusals in the words of the plan."""
    try:
        yield
    except EngineRefusedError as error:
        raise named_refusal(
            error, prepared.plan, prepared.lcore_map, prepared.port_titles
        ) from error


def _settled(
    prepared: Prepared,
    about: Mapping[str, Any],
    opened: Sequence[Mapping[str, Any]],
    neighbors: Mapping[Neighbor, int],
) -> tuple[ReadyPlan, list[CompiledFlow]]:
    """Settle what had to wait for open ports: line rates, their addresses, frames/s.

    NICs send from their own address, virtual ports from a made-up one: the same in every run.
    """
    plan, settings = prepared.plan, prepared.settings
    ports = plan_ports(plan, settings, prepared.lcore_map, opened, prepared.port_titles)
    infos = {info["name"]: info for info in opened}
    line_rates: list[int | None] = [None] * len(plan.ports)
    macs = {}
    for port in ports:
        line_rates[port.index] = port.line_rate_bps
        if plan.ports[port.index].location.needs_pci:
            macs[port.index] = infos[port.name]["mac"]
    compiled = prepared.compiled(line_rates, macs, neighbors)
    check_line_loads(plan, compiled, line_rates, prepared.port_titles, settings.duration_ns)
    indices = {port.name: index for index, port in enumerate(plan.ports)}
    flows = tuple(
        plan_flow(number, prepared.titles.flow_title(number, flow.flow), indices, flow)
        for number, flow in enumerate(compiled)
    )
    named = {port.name: port.title for port in ports}
    notes = (
        *notes_of(compiled),
        *loop_notes(named, infos, prepared.laps),
        *flow_control_notes(named, infos),
    )
    return ReadyPlan(plan, settings, ports, flows, infos, about, notes), compiled


def _check_measured(ready: ReadyPlan) -> None:
    """Refuse options about latencies where there are none."""
    settings = ready.settings
    asked = {"--histogram": settings.histogram, "--floor": settings.floor_ns}
    for option, value in asked.items():
        if value and not any(flow.measured for flow in ready.flows):
            raise PlanError(
                f"{option}: no flow is measured, so there are no latencies; measure one "
                "(metrics: {enable: true} in its plan, --measure of perf), or leave it out"
            )
