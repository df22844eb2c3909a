# SPDX-License-Identifier: BSD-3-Clause
"""Run a plan, whichever command it came from: set up, one trial, results, verdict, report.

What is shown is the View's; what happens is the same for `run`, `perf` and `replay`.
"""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from wirerate.cli.converge import converge, report
from wirerate.cli.engine_session import (
    ending_code,
    idle_lcores,
    open_engine,
    stopping,
    tell_ports,
    warn,
    warn_of_shared,
)
from wirerate.engine.eal import choose_memory
from wirerate.engine.scan import scan_trace
from wirerate.errors import EngineRefusedError, HostSetupError, PlanError
from wirerate.host.capture_files import check_capture_files
from wirerate.host.environment import environment
from wirerate.host.growth import Growth
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.plan.compile import CompiledFlow, PortFacts, compile_again, compile_flow
from wirerate.plan.descriptor_loop import loop_frames, loop_notes, loop_port, loop_program
from wirerate.plan.lcore_map import LcoreMap, choose_map
from wirerate.plan.line_load import check_line_loads
from wirerate.plan.placement import nodes_of, place, with_memory
from wirerate.plan.pools import memory_octets
from wirerate.plan.port_params import port_params
from wirerate.plan.program import (
    check_measurable,
    fit_map,
    make_program,
    named_refusal,
    plan_flow,
    plan_ports,
    port_name,
    stream_name,
    uses_of,
)
from wirerate.plan.sleep import awake_notes
from wirerate.report.screen import open_screen
from wirerate.report.view import Setup
from wirerate.trial.flow_control import flow_control_notes
from wirerate.trial.neighbors import resolve_neighbors
from wirerate.trial.peer_client import PeerWatch, ask
from wirerate.trial.ready_plan import ReadyPlan
from wirerate.trial.run_result import run_result
from wirerate.trial.trial import Trial, warm_up
from wirerate.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from wirerate.engine.process import Engine
    from wirerate.plan.fields import Neighbor
    from wirerate.plan.model import Plan
    from wirerate.plan.placement import Placement
    from wirerate.plan.run_settings import RunSettings
    from wirerate.report.view import View
    from wirerate.trial.result import RunResult

_NS_PER_S = 1_000_000_000
_ANY_LINE_BPS = 10**14
"""Stands for a line that is not known yet: every rate that a plan may ask for fits on it."""


def execute(plan: Plan, settings: RunSettings, view: View) -> int:
    """Run a plan and report; 0 whenever something was measured, 4 when the engine died.

    Raises PlanError, HostSetupError and EngineError for what keeps it from starting.
    """
    if not plan.ports:
        raise PlanError("ports: the plan has none; add one with a name and a location")
    titles = [view.port_title(index, port) for index, port in enumerate(plan.ports)]
    check_capture_files(plan, titles)
    check_measurable(plan)
    started = datetime.now(timezone.utc)
    scans = _scan_traces(plan)
    run = _Run(plan, settings, view, titles, scans, _lcore_map(plan, settings), started)
    drafts = run.drafts()
    laps = loop_frames(plan, settings, run.lcore_map, drafts)
    need = memory_octets(plan, settings, run.lcore_map, drafts)
    placements = run.placements()
    for placement in placements.values():
        for text in placement.warnings():
            warn(text)
    memory = choose_memory(
        need,
        settings.eal.passthrough,
        allow_hugepages=True,
        nodes=nodes_of(placements.values()),
    )
    if settings.peer is not None:
        ask(settings.peer)
    if not settings.json:
        places = tuple(placements.values())
        setup = Setup(plan, settings, run.lcore_map, memory, _notes(drafts), places)
        print(view.setup(setup), flush=True)
    ports = [
        (titles[entry.port], plan.ports[entry.port].location, max(len(entry.rx), len(entry.tx)))
        for entry in run.lcore_map.ports
    ]
    files = {str(capture.file): capture.path for capture in plan.captures}
    with open_engine(settings, ports, run.lcore_map.lcores, memory, files) as engine:
        return run.measure(engine, drafts, laps, placements)


def _scan_traces(plan: Plan) -> dict[Path, Mapping[str, Any]]:
    """What is in each capture file, read once whoever sends it."""
    files = dict.fromkeys(flow.trace.file for flow in plan.flows if flow.trace is not None)
    return {file: scan_trace(file) for file in files}


def _lcore_map(plan: Plan, settings: RunSettings) -> LcoreMap:
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
    warn_of_shared(lcore_map.lcores)
    return lcore_map


def _notes(flows: Sequence[CompiledFlow]) -> tuple[str, ...]:
    """What compiling had to say, each thing once."""
    return tuple(dict.fromkeys(note for flow in flows for note in flow.notes))


@dataclass(frozen=True)
class _Run:
    """A plan that is being run.

    ``titles`` are what messages call its ports, ``scans`` are those of its capture files,
    ``started`` is when the command began.
    """

    plan: Plan
    settings: RunSettings
    view: View
    titles: Sequence[str]
    scans: Mapping[Path, Mapping[str, Any]]
    lcore_map: LcoreMap
    started: datetime

    def placements(self) -> dict[str, Placement]:
        """Where each mapped port and its lcores are, by the engine's name."""
        nodes = cpu_nodes()
        return {
            port_name(entry.port): place(
                self.titles[entry.port],
                pci_node(self.plan.ports[entry.port].location),
                (*entry.rx, *entry.tx),
                self.settings.lcores,
                nodes,
            )
            for entry in self.lcore_map.ports
        }

    def _drafted(self) -> dict[str, PortFacts]:
        """What the drafts take for granted, by port, before any of them is open."""
        line_bps = self.settings.line_rate_bps or _ANY_LINE_BPS
        return {
            port.name: PortFacts(index, None, line_bps)
            for index, port in enumerate(self.plan.ports)
        }

    def drafts(self) -> list[CompiledFlow]:
        """All flows as far as they are settled before the ports are open: sizes, and frames."""
        facts = self._drafted()
        drafts = []
        for number, flow in enumerate(self.plan.flows):
            scan = None if flow.trace is None else self.scans[flow.trace.file]
            drafts.append(compile_flow(flow, stream_name(number), facts[flow.tx_port], scan))
        self._check_loads(drafts, [self.settings.line_rate_bps] * len(self.plan.ports))
        return drafts

    def _compiled(
        self,
        drafts: Sequence[CompiledFlow],
        line_rates: Sequence[int | None],
        macs: Mapping[int, str],
        neighbors: Mapping[Neighbor, int],
    ) -> list[CompiledFlow]:
        """All flows, for the line rate [bit/s] of each of the plan's ports, and all addresses."""
        before = self._drafted()
        facts = {
            port.name: PortFacts(index, macs.get(index), line_rates[index], neighbors)
            for index, port in enumerate(self.plan.ports)
        }
        compiled = [
            compile_again(draft, before[draft.flow.tx_port], facts[draft.flow.tx_port])
            for draft in drafts
        ]
        self._check_loads(compiled, line_rates)
        return compiled

    def _check_loads(self, flows: Sequence[CompiledFlow], line_rates: Sequence[int | None]) -> None:
        check_line_loads(self.plan, flows, line_rates, self.titles, self.settings.duration_ns)

    def measure(
        self,
        engine: Engine,
        drafts: Sequence[CompiledFlow],
        laps: Mapping[str, int],
        placements: Mapping[str, Placement],
    ) -> int:
        """One trial with an engine that has just started; ``drafts`` are the plan's flows.

        ``laps``: the frames of ports that loop (`wirerate.plan.descriptor_loop`); ``placements`` as
        they were found before the start.
        """
        about = engine.call("engine.info")
        sizes = [flow.frame_size_max for flow in drafts]
        with self._refusals_named():
            params = port_params(self.plan, self.settings, self.lcore_map, sizes)
            asked = [loop_port(port, laps) for port in params]
            any_files = bool(self.plan.captures or self.scans)
            opened = engine.call("ports.open", {"ports": asked, "any_files": any_files})["ports"]
        named = [self.titles[entry.port] for entry in self.lcore_map.ports]
        tell_ports(engine, self.settings, about, list(zip(named, opened, strict=True)))
        neighbors = resolve_neighbors(engine, self.plan, self.lcore_map)
        ready, compiled = self._ready(about, opened, drafts, neighbors, laps)
        self._check_measured(ready)
        program = loop_program(
            make_program(self.plan, self.settings, self.lcore_map, compiled), laps
        )
        awake = awake_notes(self.settings.cpu_saver_ns, program["workers"])
        ready = replace(ready, notes=(*ready.notes, *awake))
        if self.settings.warm_up_ns:
            self._warm_up(engine, program, ready)
        if self.settings.converge is not None:
            found = converge(ready, program, partial(self._trial, engine))
            found.note_death(engine.end())
            return report(found, ready, self.view, self._facts(ready))
        trial = self._trial(engine, program, ready, self.settings.duration_ns)
        told = engine.call("ports.memory")["ports"]
        ready = ready.placed(with_memory(placements, told))
        watch = None
        if self.settings.peer is not None:
            watch = PeerWatch(self.settings.peer, self.settings.settle_ns)
            trial.settled = watch.end
        with stopping(trial), watch or nullcontext():
            self._watch(trial, ready)
            trial.end()
        return self._report(trial, ready, watch)

    def _facts(self, ready: ReadyPlan) -> Mapping[str, Any]:
        return environment(ready.about["dpdk"], self.started)

    def _check_measured(self, ready: ReadyPlan) -> None:
        """Refuse options about latencies where there are none."""
        asked = {"--histogram": self.settings.histogram, "--floor": self.settings.floor_ns}
        for option, value in asked.items():
            if value and not any(flow.measured for flow in ready.flows):
                raise PlanError(
                    f"{option}: no flow is measured, so there are no latencies; measure one "
                    "(metrics: {enable: true} in its plan, --measure of perf), or leave it out"
                )

    def _trial(
        self, engine: Engine, program: dict[str, Any], ready: ReadyPlan, duration_ns: int | None
    ) -> Trial:
        """A trial of the program, which is loaded for it.

        Its stamps have a magic of their own: frames of another run, or late ones of the trial
        before, are foreign to it.
        """
        ports = self.plan.ports
        growth = Growth({port.name: ports[port.index].location for port in ready.ports})
        with self._refusals_named():
            counters = engine.load(program | {"stamp_magic": secrets.randbelow(1 << 16)})
        expected = [flow for flow in ready.flows if flow.expected]
        return Trial(
            engine,
            counters,
            duration_ns,
            self.settings.period_ns / _NS_PER_S,
            self.settings.settle_ns,
            measured=bool(expected) and all(flow.measured for flow in expected),
            live_latencies=self.settings.live_latencies,
            growth=growth,
        )

    def _warm_up(self, engine: Engine, program: dict[str, Any], ready: ReadyPlan) -> None:
        """The same before, which nobody counts."""
        if not self.settings.json:
            print(f"Warming up for {format_duration_ns(self.settings.warm_up_ns)}.", flush=True)
        quiet = {key: part for key, part in program.items() if key != "captures"}
        trial = self._trial(engine, quiet, ready, self.settings.warm_up_ns)
        with stopping(trial):
            warm_up(trial)

    @contextmanager
    def _refusals_named(self) -> Iterator[None]:
        """The engine's refusals in the words of the plan."""
        try:
            yield
        except EngineRefusedError as error:
            raise named_refusal(error, self.plan, self.lcore_map, self.titles) from error

    def _ready(
        self,
        about: Mapping[str, Any],
        opened: Sequence[Mapping[str, Any]],
        drafts: Sequence[CompiledFlow],
        neighbors: Mapping[Neighbor, int],
        laps: Mapping[str, int],
    ) -> tuple[ReadyPlan, list[CompiledFlow]]:
        """Settle what had to wait for open ports: line rates, their addresses, frames/s.

        NICs send from their own address, virtual ports from a made-up one: the same in every run.
        """
        plan = self.plan
        ports = plan_ports(plan, self.settings, self.lcore_map, opened, self.titles)
        infos = {info["name"]: info for info in opened}
        line_rates: list[int | None] = [None] * len(plan.ports)
        macs = {}
        for port in ports:
            line_rates[port.index] = port.line_rate_bps
            if plan.ports[port.index].location.needs_pci:
                macs[port.index] = infos[port.name]["mac"]
        compiled = self._compiled(drafts, line_rates, macs, neighbors)
        indices = {port.name: index for index, port in enumerate(plan.ports)}
        flows = tuple(
            plan_flow(number, self.view.flow_title(number, flow.flow), indices, flow)
            for number, flow in enumerate(compiled)
        )
        named = {port.name: port.title for port in ports}
        notes = (
            *_notes(compiled),
            *loop_notes(named, infos, laps),
            *flow_control_notes(named, infos),
        )
        return ReadyPlan(plan, self.settings, ports, flows, infos, about, notes), compiled

    def _watch(self, trial: Trial, ready: ReadyPlan) -> None:
        """Show progress; a run shorter than a period shows its one block at the end."""
        before = None
        with open_screen(quiet=self.settings.json) as screen:
            for number, now in enumerate(trial.watch()):
                screen.show(self.view.tick(ready, now, before, number))
                before = now
            if trial.final is not None and before is None:
                screen.show(self.view.tick(ready, trial.final, None, 0))

    def _report(self, trial: Trial, ready: ReadyPlan, watch: PeerWatch | None) -> int:
        result = run_result(trial, ready, self._facts(ready), watch)
        if self.settings.json:
            print(json.dumps(self.view.document(result), indent=2), flush=True)
        else:
            print(self.view.summary(result), flush=True)
        if self.settings.histogram is not None:
            _write_histograms(self.settings.histogram, result, self.started)
        return ending_code(trial.death, trial.unwritten)


def _write_histograms(path: Path, result: RunResult, started: datetime) -> None:
    # Imported here: hdrhistogram takes longer to load than all the rest.
    from wirerate.report.histogram_log import log_lines  # noqa: PLC0415

    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in log_lines(result, started))
    except OSError as error:
        raise HostSetupError(f"--histogram {path}: {error.strerror}") from error
