# SPDX-License-Identifier: BSD-3-Clause
"""A forwarder: frames come in at a port and leave by another, or by the same one, until the end."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from wirerate.engine.eal import choose_memory
from wirerate.errors import EngineRefusedError
from wirerate.host.capture_files import check_capture_files
from wirerate.host.environment import environment
from wirerate.host.growth import Growth
from wirerate.host.numa import cpu_nodes, pci_node
from wirerate.plan.forward_lanes import chosen_lanes, lcores_of, map_text, mapped_lanes
from wirerate.plan.forward_program import (
    forward_memory_octets,
    forward_ports,
    forward_program,
    queues_of,
)
from wirerate.plan.model import Plan, PlanPort
from wirerate.plan.placement import nodes_of, place
from wirerate.plan.program import port_name, port_refusal
from wirerate.report import forward_json
from wirerate.session.counters_server import CountersServer
from wirerate.session.engine_room import EngineRoom
from wirerate.session.engine_start import (
    Notices,
    idle_lcores,
    open_engine,
    report_ports,
    warn_of_shared,
)
from wirerate.session.forward_result import ForwarderResult
from wirerate.trial.forward_result import ReadyForward, forward_result
from wirerate.trial.forward_trial import ForwardTrial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from wirerate.engine.eal import Memory
    from wirerate.engine.process import Engine
    from wirerate.plan.forward_lanes import Lane
    from wirerate.plan.forward_settings import ForwardSettings
    from wirerate.plan.location import Location
    from wirerate.plan.placement import Placement
    from wirerate.trial.forward_snapshot import ForwardSnapshot

_NS_PER_S = 1_000_000_000


class Forwarder:
    """Forwards between ports, or back, while it is open; `wirerate.forward` and `reflect` make it.

    Use it in a ``with`` statement: frames are forwarded during the block, and whatever happens,
    nothing is left behind. `result` may be asked for at any time, from any thread.
    """

    def __init__(self, settings: ForwardSettings, notices: Notices | None = None) -> None:
        """Raise PlanError where a port would write what another one reads."""
        _check_files(settings)
        self._warnings: list[str] = []
        self._notices = notices or Notices(self._warnings.append)
        self.settings = settings
        self.lanes: tuple[Lane, ...] = ()
        self.placements: Sequence[Placement] = ()
        self.memory: Memory | None = None
        self._room = EngineRoom(settings.command)
        self._server: CountersServer | None = None
        self._while_open = ExitStack()
        self._ready: ReadyForward | None = None
        self._trial: ForwardTrial | None = None
        self._facts: Mapping[str, Any] = {}

    def listen(self) -> str:
        """Have the address where the counters are served, if asked for; ``HOST:PORT``, else empty.

        Raises HostSetupError where it cannot be had.
        """
        if self.settings.listen is not None and self._server is None:
            self._server = self._while_open.enter_context(CountersServer(self.settings.listen))
        return "" if self._server is None else str(self._server.address)

    def prepare(self) -> None:
        """Choose lcores and memory; `open` does so if need be. Raises PlanError, HostSetupError."""
        settings = self.settings
        self.lanes = _lanes(settings, self._notices)
        need = forward_memory_octets(settings, self.lanes)
        self.placements = _placements(settings, self.lanes)
        for placement in self.placements:
            for text in placement.warnings():
                self._notices.warn(text)
        self.memory = choose_memory(
            need, settings.eal.passthrough, allow_hugepages=True, nodes=nodes_of(self.placements)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may spoil a measurement, and was seen so far: a sentence each."""
        return tuple(self._warnings)

    @property
    def address(self) -> str:
        """``HOST:PORT`` where the counters are served: the ``peer`` of a `Session`; else empty."""
        return "" if self._server is None else str(self._server.address)

    def open(self) -> None:
        """Start the engine, open the ports and forward, as ``with`` does.

        Raises HostSetupError, EngineError, and SessionError where another session of this process
        has one of the devices.
        """
        if self.memory is None:
            self.prepare()
        try:
            self.listen()
            engine = self._room.open(self._ports(), self._start)
            with self._room.using():
                self._trial = self._begin(engine)
                if self._server is not None:
                    self._while_open.enter_context(self._server.serving(self._document_now))
        except BaseException:
            self._while_open.close()
            raise

    def _ports(self) -> list[tuple[str, Location, int]]:
        return [
            (_title(index), location, max(queues_of(self.lanes, index)))
            for index, location in enumerate(self.settings.locations)
        ]

    def _start(self) -> AbstractContextManager[Engine]:
        assert self.memory is not None
        lcores = lcores_of(self.lanes)
        files = {capture.path: "--capture" for capture in self.settings.captures}
        return open_engine(self.settings, self._ports(), lcores, self.memory, self._notices, files)

    def _begin(self, engine: Engine) -> ForwardTrial:
        settings, lanes = self.settings, self.lanes
        started = datetime.now(timezone.utc)
        about = engine.call("engine.info")
        try:
            asked = {"ports": forward_ports(settings, lanes), "any_files": bool(settings.captures)}
            opened = engine.call("ports.open", asked)["ports"]
        except EngineRefusedError as error:
            raise _named(error, settings, lanes) from error
        named = [(_title(index), info) for index, info in enumerate(opened)]
        report_ports(engine, settings, about, named, self._notices)
        tsc_hz: int = about["tsc_hz"]
        work_cycles = settings.impairments.work.in_cycles(tsc_hz)
        self._ready = ReadyForward(settings, lanes, tuple(opened), about, work_cycles)
        growth = Growth({port_name(at): one for at, one in enumerate(settings.locations)})
        counters = engine.load(forward_program(settings, lanes, opened, tsc_hz))
        period_s = settings.period_ns / _NS_PER_S
        self._facts = environment(about["dpdk"], started)
        return ForwardTrial(engine, counters, lanes, settings.duration_ns, period_s, growth)

    @property
    def ready(self) -> ReadyForward:
        """What it does, once its ports are open. Its content may change with a release."""
        assert self._ready is not None, "it has been opened"
        return self._ready

    def watch(self) -> Iterator[ForwardSnapshot]:
        """Snapshots until the settings' duration is over, or `stop` is called; then it has ended.

        For commands: scripts ask for `result`, and `close`.
        """
        trial = self._opened()
        with self._room.using():
            yield from trial.watch()

    def stop(self) -> None:
        """End `watch` early, from any thread or a signal handler; scripts use `close`."""
        if self._trial is not None:
            self._trial.stop()

    def result(self) -> ForwarderResult:
        """What it has done so far; after its end, all that it did.

        Frames that are under way belong to a later result. Raises SessionError before it is open.
        """
        trial = self._opened()
        look = None if self._ended else trial.fresh_look()
        found = forward_result(trial, self.ready, look)
        return ForwarderResult(found, self._facts, trial)

    def end_engine(self) -> None:
        """After `watch`, end the engine: that it dies of its end is part of the result."""
        trial = self._opened()
        self._while_open.close()
        died = self._room.end()
        trial.death = trial.death or died or None

    def close(self) -> None:
        """Stop forwarding and end the engine, as the end of ``with`` does; may be called again.

        What it did, and how the engine died if it did, is in its `result`.
        """
        self._while_open.close()
        trial = self._trial
        if trial is not None and not self._ended and not self._room.closed:
            trial.stop()
            for _ in self.watch():
                pass
            self.end_engine()
        self._room.close(quiet=True)

    def __enter__(self) -> Forwarder:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _ended(self) -> bool:
        """Its counts are final, or as final as they will be."""
        return self._room.closed or (self._trial is not None and self._trial.over)

    def _opened(self) -> ForwardTrial:
        if self._trial is None:
            self._room.check_open()
        assert self._trial is not None
        return self._trial

    def _document_now(self) -> Mapping[str, Any]:
        trial = self._opened()
        return forward_json.document(
            forward_result(trial, self.ready, trial.fresh_look()), self._facts
        )


def _check_files(settings: ForwardSettings) -> None:
    """No port may write what another one reads."""
    ports = tuple(
        PlanPort(port_name(index), location, f"ports[{index}]")
        for index, location in enumerate(settings.locations)
    )
    check_capture_files(Plan(ports, ()), [_title(index) for index in range(len(ports))])


def _title(index: int) -> str:
    return f"port {index}"


def _lanes(settings: ForwardSettings, notices: Notices) -> tuple[Lane, ...]:
    """The lanes of the user's map, or a choice; warns of lcores that are shared."""
    if settings.lcore_map is not None:
        lanes = mapped_lanes(settings, settings.lcore_map)
    else:
        nodes = [pci_node(location) for location in settings.locations]
        lanes = chosen_lanes(settings, idle_lcores(settings), nodes, cpu_nodes())
        lcores = lcores_of(lanes)
        if settings.queues is not None and len(lcores) < settings.queues:
            notices.warn(f"{settings.queues} queues of a port take turns on {len(lcores)} lcores")
    warn_of_shared(lcores_of(lanes), notices)
    return lanes


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
