# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate run` shows: a row per flow and per port as it runs, then a summary. Pure text."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.report.columns import Column, table_lines, terminal_columns, wrapped
from wirerate.report.parts_measured import LiveFlows, received_lines, total_lines
from wirerate.report.parts_peer import peer_lines
from wirerate.report.parts_text import (
    engine_lines,
    load_text,
    map_line,
    seconds_text,
    verdict_lines,
)
from wirerate.units import LINE_OVERHEAD_OCTETS, format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wirerate.report.view import Setup
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import FlowResult, PortResult, RunResult
    from wirerate.trial.snapshot import Port, RxQueue, Snapshot, TxQueue

FLOWS_SHOWN = 20
"""More flows than this are not shown live, but for the worst of them."""
WORST_SHOWN = 10
SUMMARY_FLOWS = 50
_NAME = 20
_MEGA = 1e6
_FLOW_COLUMNS = (
    Column("Flow", _NAME, name=True),
    Column("port", _NAME, 2, name=True),
    Column("Tx frames/s", 14),
    Column("Mbit/s L1", 12, 1),
    Column("sent", 16),
    Column("unsent", 12),
)
_MEASURED_COLUMNS = (Column("Rx frames/s", 14), Column("latency us", 12))
"""Behind those of flows, where one of them is measured."""
_PORT_COLUMNS = (
    Column("Port", _NAME, name=True),
    Column("Tx frames/s", 14),
    Column("Mbit/s L1", 12, 2),
    Column("Rx frames/s", 14),
    Column("Mbit/s L1", 12, 1),
    Column("received", 16),
    Column("missed", 10),
)


@dataclass(frozen=True)
class _Counted:
    """Frames, octets (with FCS) and frames unsent."""

    frames: int = 0
    octets: int = 0
    unsent: int = 0

    def __sub__(self, other: _Counted) -> _Counted:
        return _Counted(
            self.frames - other.frames, self.octets - other.octets, self.unsent - other.unsent
        )

    def rates(self, seconds: float) -> tuple[str, str]:
        """Frames/s and Mbit/s of line."""
        bits = 8 * (self.octets + LINE_OVERHEAD_OCTETS * self.frames)
        return f"{round(self.frames / seconds):,}", f"{bits / seconds / _MEGA:,.2f}"


_NONE = _Counted()


def setup_text(setup: Setup) -> str:
    """The ports, how many flows, the map and the memory, before the start."""
    mapped = {entry.port for entry in setup.lcore_map.ports}
    lines = []
    for index, port in enumerate(setup.plan.ports):
        flows = sum(flow.tx_port == port.name for flow in setup.plan.flows)
        does = f"{flows:,} flow{'' if flows == 1 else 's'}" if flows else "sends nothing"
        what = does if index in mapped else "not mapped: left alone"
        lines.append(f"Port {index}: {port.name}, {port.location}, {what}")
    lines.append(map_line(setup))
    lines += [f"Note: {note}" for note in setup.notes]
    return wrapped("\n".join([*lines, ""]), terminal_columns())


def table(ready: ReadyPlan, now: Snapshot, before: Snapshot | None, room: int | None = None) -> str:
    """Rates between two snapshots (since the start when before is None), counts since the start.

    ``room``: columns to fit into; None: those of the terminal, if there is one.
    """
    room = room or terminal_columns()
    seconds = now.seconds_since(before)
    lines = []
    if ready.flows:
        lines += [*_flow_lines_now(ready, now, before, seconds, room), ""]
    lines += table_lines(_PORT_COLUMNS, _port_rows(ready, now, before, seconds), room)
    return "\n".join(lines)


def _port_rows(
    ready: ReadyPlan, now: Snapshot, before: Snapshot | None, seconds: float
) -> Iterator[Sequence[str]]:
    for plan in ready.ports:
        port = now.port(plan.name)
        earlier = None if before is None else before.port(plan.name)
        name = ready.plan.ports[plan.index].name
        tx = _since(port, earlier, lambda of: of.tx).rates(seconds)
        rx = _since(port, earlier, lambda of: of.rx).rates(seconds)
        missed = port.device.imissed + port.device.rx_nombuf
        yield (_short(name), *tx, *rx, f"{port.rx_frames:,}", f"{missed:,}")


def _flow_lines_now(
    ready: ReadyPlan, now: Snapshot, before: Snapshot | None, seconds: float, room: int | None
) -> Iterator[str]:
    counted = _by_stream(now)
    earlier = {} if before is None else _by_stream(before)
    flows: Sequence[int] = range(len(ready.flows))
    if len(flows) > FLOWS_SHOWN:
        unsent = {flow.index: counted[flow.name].unsent for flow in ready.flows}
        flows = sorted(flows, key=lambda index: -unsent[index])[:WORST_SHOWN]
        yield f"{len(ready.flows):,} flows; those with the most unsent frames:"
    live = LiveFlows(ready, now, before, seconds)
    rows = []
    for index in flows:
        flow = ready.flows[index]
        own = counted[flow.name]
        recent = own - earlier.get(flow.name, _NONE)
        port = ready.plan.ports[flow.port].name
        counts = f"{own.frames:,}", f"{own.unsent:,}"
        back = live.cells(flow.name) if live.measured else ()
        rows.append((_short(flow.label), _short(port), *recent.rates(seconds), *counts, *back))
    columns = (*_FLOW_COLUMNS, *(_MEASURED_COLUMNS if live.measured else ()))
    yield from table_lines(columns, rows, room)


def _by_stream(snapshot: Snapshot) -> dict[str, _Counted]:
    queues: dict[str, list[TxQueue]] = defaultdict(list)
    for port in snapshot.ports:
        for queue in port.tx:
            queues[queue.stream].append(queue)
    found: dict[str, _Counted] = defaultdict(_Counted)
    found.update((stream, _counted(own)) for stream, own in queues.items())
    return found


def _counted(queues: Iterable[TxQueue | RxQueue]) -> _Counted:
    frames = octets = unsent = 0
    for queue in queues:
        frames += queue.frames
        octets += queue.octets
        unsent += getattr(queue, "frames_unsent", 0)
    return _Counted(frames, octets, unsent)


def _since(
    now: Port, before: Port | None, of: Callable[[Port], Sequence[TxQueue] | Sequence[RxQueue]]
) -> _Counted:
    return _counted(of(now)) - (_NONE if before is None else _counted(of(before)))


def _short(name: str) -> str:
    """A name in its column; the end of a long one tells names apart as often as its start."""
    if len(name) > _NAME:
        half = _NAME // 2
        name = f"{name[: half - 1]}…{name[len(name) - half :]}"
    return name


def summary(result: RunResult) -> str:
    """Each flow and port in RFC terms, what the run took, and whether to believe it."""
    lines = ["Summary"]
    flows: Sequence[FlowResult] = result.flows
    if len(flows) > SUMMARY_FLOWS:
        flows = sorted(flows, key=_badness, reverse=True)[:SUMMARY_FLOWS]
    for flow in flows:
        lines += flow_lines(flow, result.final.tsc_hz)
    more = len(result.flows) - len(flows)
    if more:
        lines.append(f"  and {more:,} more flows with fewer unsent or lost frames: --json has all")
    lines += total_lines(result)
    for port in result.ports:
        lines += _port_lines(port, result.ready.plan.ports[port.plan.index].name)
    lines += [
        f"  captured {format_count(capture['frames'])} frames in {capture['path']}"
        for capture in result.captures
    ]
    lines += [*peer_lines(result.peer), *engine_lines(result), *verdict_lines(result.verdict)]
    return wrapped("\n".join(lines), terminal_columns())


def _badness(flow: FlowResult) -> tuple[int, int]:
    """Frames unsent, then frames lost: what is shown of many flows are the worst."""
    return flow.tx_frames_unsent, 0 if flow.received is None else flow.received.lost


def flow_lines(flow: FlowResult, hz: int) -> Iterator[str]:
    """What became of a flow, in the terms of RFC 2285; for other reports, too."""
    plan = flow.plan
    size = mean_size(flow)
    if plan.traced:
        intended = "at the trace's own times"
    elif plan.unpaced:
        intended = "as fast as the device takes frames"
    else:
        intended = load_text(plan.intended_fps, plan.mean_size)
    yield f"  {plan.title}: {size:,.6g} octets per frame"
    yield f"    intended load {intended}"
    yield f"    offered load  {load_text(flow.offered_fps, size)}"
    if flow.per_cpu_second_fps is not None:
        yield f"    per CPU sec.  {load_text(flow.per_cpu_second_fps, size)}"
    yield (
        f"    sent          {format_count(flow.tx_frames)} frames in "
        f"{seconds_text(flow.seconds)}, unsent {format_count(flow.tx_frames_unsent)}"
    )
    late = flow.lateness_cycles
    if late.p50 is not None and late.p99 is not None and late.maximum is not None:
        to_us = 1e6 / hz
        yield (
            f"    pacing error  {late.p50 * to_us:.2f} us p50, {late.p99 * to_us:.2f} us p99, "
            f"{late.maximum * to_us:.2f} us max (first frame of each burst)"
        )
    if flow.received is not None:
        yield from received_lines(flow.received)


def mean_size(flow: FlowResult) -> float:
    """Octets per frame, with FCS, of what was sent; of what was to be sent if nothing was."""
    return flow.tx_octets / flow.tx_frames if flow.tx_frames else flow.plan.mean_size


def _port_lines(port: PortResult, name: str) -> Iterator[str]:
    counts = []
    if port.plan.tx_lcores:
        counts.append(f"sent {format_count(port.tx_frames)}")
    if port.plan.rx_lcores:
        counts.append(f"received {format_count(port.rx_frames)}")
    yield f"  port {name} ({port.plan.location}): {', '.join(counts)} frames"
    if port.forwarding_fps is not None:
        size = port.rx_octets / port.rx_frames
        yield f"    forwarding rate {load_text(port.forwarding_fps, size)}"
