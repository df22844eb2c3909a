# SPDX-License-Identifier: BSD-3-Clause
"""Run a forwarder, whichever command asked for it: set up, forward until the end, report."""

from __future__ import annotations

import json
import re
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from wirerate.cli.counters_server import PATH, CountersServer
from wirerate.cli.engine_session import ending_code, notices, stopping, warn
from wirerate.engine.eal import choose_memory
from wirerate.errors import EngineRefusedError
from wirerate.host.capture_files import check_capture_files
from wirerate.host.environment import environment
from wirerate.host.growth import Growth
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.plan.forward_lanes import Lane, chosen_lanes, lcores_of, map_text, mapped_lanes
from wirerate.plan.forward_program import (
    forward_memory_octets,
    forward_ports,
    forward_program,
    queues_of,
)
from wirerate.plan.model import Plan, PlanPort
from wirerate.plan.placement import nodes_of, place, placement_lines
from wirerate.plan.program import port_name, port_refusal
from wirerate.report import forward_json, forward_text
from wirerate.report.screen import open_screen
from wirerate.session.engine_start import (
    idle_lcores,
    open_engine,
    report_ports,
    warn_of_shared,
)
from wirerate.trial.forward_result import ReadyForward, forward_result
from wirerate.trial.forward_trial import ForwardTrial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wirerate.engine.process import Engine
    from wirerate.plan.forward_settings import ForwardSettings
    from wirerate.plan.placement import Placement

_NS_PER_S = 1_000_000_000


def execute_forward(settings: ForwardSettings) -> int:
    """Forward and report; 0 whenever it was done, 4 when the engine died.

    Raises PlanError, HostSetupError and EngineError for what keeps it from starting.
    """
    _check_files(settings)
    with _listening(settings) as server:
        return _execute(settings, server)


@contextmanager
def _listening(settings: ForwardSettings) -> Iterator[CountersServer | None]:
    """Have the address of --listen, and say which it is; it is taken before anything starts."""
    if settings.listen is None:
        yield None
        return
    with CountersServer(settings.listen) as server:
        text = f"Counters: http://{server.address}{PATH}"
        print(text, file=sys.stderr if settings.json else sys.stdout, flush=True)
        yield server


def _execute(settings: ForwardSettings, server: CountersServer | None) -> int:
    lanes = _lanes(settings)
    lcores = lcores_of(lanes)
    need = forward_memory_octets(settings, lanes)
    placements = _placements(settings, lanes)
    for placement in placements:
        for text in placement.warnings():
            warn(text)
    memory = choose_memory(
        need, settings.eal.passthrough, allow_hugepages=True, nodes=nodes_of(placements)
    )
    if not settings.json:
        for line in placement_lines(placements):
            print(line)
        print(forward_text.setup_text(settings, lanes, memory), flush=True)
    ports = [
        (_title(index), location, max(queues_of(lanes, index)))
        for index, location in enumerate(settings.locations)
    ]
    said = notices(verbose=settings.verbose)
    with open_engine(settings, ports, lcores, memory, said) as engine:
        return _forward(engine, settings, lanes, server)


def _placements(settings: ForwardSettings, lanes: Sequence[Lane]) -> list[Placement]:
    """Where each port is, and the lcores that receive or send on it."""
    nodes = cpu_nodes()
    return [
        place(
            _title(index),
            pci_node(location),
            [lane.lcore for lane in lanes if index in {lane.source, lane.target}],
            settings.lcores,
            nodes,
        )
        for index, location in enumerate(settings.locations)
    ]


def _title(index: int) -> str:
    return f"port {index}"


def _check_files(settings: ForwardSettings) -> None:
    """No port may write what another one reads."""
    ports = tuple(
        PlanPort(port_name(index), location, f"ports[{index}]")
        for index, location in enumerate(settings.locations)
    )
    check_capture_files(Plan(ports, ()), [_title(index) for index in range(len(ports))])


def _lanes(settings: ForwardSettings) -> tuple[Lane, ...]:
    """The lanes of the user's map, or a choice; warns of lcores that are shared."""
    if settings.lcore_map is not None:
        lanes = mapped_lanes(settings, settings.lcore_map)
    else:
        nodes = [pci_node(location) for location in settings.locations]
        lanes = chosen_lanes(settings, idle_lcores(settings), nodes, cpu_nodes())
        lcores = lcores_of(lanes)
        if settings.queues is not None and len(lcores) < settings.queues:
            warn(f"{settings.queues} queues of a port take turns on {len(lcores)} lcores")
    warn_of_shared(lcores_of(lanes), notices(verbose=False))
    return lanes


def _forward(
    engine: Engine,
    settings: ForwardSettings,
    lanes: tuple[Lane, ...],
    server: CountersServer | None,
) -> int:
    started = datetime.now(timezone.utc)
    about = engine.call("engine.info")
    try:
        opened = engine.call("ports.open", {"ports": forward_ports(settings, lanes)})["ports"]
    except EngineRefusedError as error:
        raise _named(error, settings, lanes) from error
    named = [(_title(index), info) for index, info in enumerate(opened)]
    report_ports(engine, about, named, notices(verbose=settings.verbose))
    tsc_hz: int = about["tsc_hz"]
    work_cycles = settings.impairments.work.in_cycles(tsc_hz)
    ready = ReadyForward(settings, lanes, tuple(opened), about, work_cycles)
    growth = Growth({port_name(at): one for at, one in enumerate(settings.locations)})
    counters = engine.load(forward_program(settings, lanes, opened, tsc_hz))
    period_s = settings.period_ns / _NS_PER_S
    trial = ForwardTrial(engine, counters, lanes, settings.duration_ns, period_s, growth)
    facts = environment(about["dpdk"], started)
    with stopping(trial), _serving(server, trial, ready, facts):
        _watch(trial, ready)
        trial.end()
    return _report(trial, ready, facts)


def _serving(
    server: CountersServer | None,
    trial: ForwardTrial,
    ready: ReadyForward,
    facts: Mapping[str, Any],
) -> AbstractContextManager[None]:
    """Let the server tell the counters as of then, while the block runs."""
    if server is None:
        return nullcontext()
    return server.serving(
        lambda: forward_json.document(forward_result(trial, ready, trial.fresh_look()), facts)
    )


def _named(
    error: EngineRefusedError, settings: ForwardSettings, lanes: Sequence[Lane]
) -> EngineRefusedError:
    """The engine's refusal of a port in the user's words."""
    path = error.path or ""
    port = re.match(r"ports\[(\d+)\](\.\w+)?", path)
    if port is None:
        return error
    text = str(error).removeprefix(f"{path}: ")
    if port[2] in {".rx_queues", ".tx_queues"}:
        text = f"{text} {map_text(lanes)}"
    index = int(port[1])
    text = port_refusal(text, _title(index), settings.locations[index])
    return EngineRefusedError(text, path=error.path, errno_name=error.errno_name)


def _watch(trial: ForwardTrial, ready: ReadyForward) -> None:
    """Show progress; a run shorter than a period shows its one block at the end."""
    before = None
    with open_screen(quiet=ready.settings.json) as screen:
        for now in trial.watch():
            screen.show(forward_text.table(ready, now, before))
            before = now
        if before is None:
            screen.show(forward_text.table(ready, trial.final, None))


def _report(trial: ForwardTrial, ready: ReadyForward, facts: Mapping[str, Any]) -> int:
    result = forward_result(trial, ready)
    if ready.settings.json:
        document: dict[str, Any] = forward_json.document(result, facts)
        print(json.dumps(document, indent=2), flush=True)
    else:
        print(forward_text.summary(result), flush=True)
    return ending_code(trial.death, trial.unwritten)
