# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate perf` shows: pktperf's rows per queue while it runs, then a summary. Pure text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.columns import terminal_columns, wrapped
from wirerate.report.parts_measured import received_lines, total_lines
from wirerate.report.parts_peer import peer_lines
from wirerate.report.parts_text import (
    engine_lines,
    load_text,
    map_line,
    seconds_text,
    verdict_lines,
)
from wirerate.trial.result import percentiles
from wirerate.units import format_count, line_rate_fps, wire_bits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wirerate.plan.perf_settings import PerfSettings
    from wirerate.plan.program import PortPlan
    from wirerate.report.view import Setup
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import Percentiles, PortResult, RunResult
    from wirerate.trial.snapshot import Port, Snapshot, TxQueue

_COLUMN = 14
_GIGA = 1e9
_SPINNER = "-\\|/"


def header(tick: int) -> str:
    """Pktperf's first line, with its turning bar."""
    return f"Port    : Rate Statistics per queue ({_SPINNER[tick % len(_SPINNER)]})"


def setup_text(setup: Setup, settings: PerfSettings) -> str:
    """The ports, the map and the memory, before the start."""
    lines = []
    if settings.default_location:
        lines.append(
            f"No device given: using {settings.locations[0]}, "
            "a ring in memory that sends back what it gets."
        )
    mapped = {entry.port for entry in setup.lcore_map.ports}
    for index, location in enumerate(settings.locations):
        what = "" if index in mapped else " (not mapped: left alone)"
        lines.append(f"Port {index}: {location}{what}")
    return wrapped("\n".join([*lines, map_line(setup), ""]), terminal_columns())


def table(
    ready: ReadyPlan, settings: PerfSettings, now: Snapshot, before: Snapshot | None, tick: int
) -> str:
    """All ports' rows for the time between two snapshots (since the start when before is None)."""
    lines = [header(tick)]
    seconds = now.seconds_since(before)
    for plan in ready.ports:
        port = now.port(plan.name)
        rows = _Rows(port, None if before is None else before.port(plan.name), seconds)
        lines.append(_link_line(ready, plan, settings, now.tsc_hz, up=port.device.link_up))
        lines += rows.lines()
    lines += ["", _settings_line(settings, ready.infos.values())]
    return "\n".join(lines)


def _link_line(
    ready: ReadyPlan, plan: PortPlan, settings: PerfSettings, hz: int, *, up: bool
) -> str:
    info = ready.infos[plan.name]
    if plan.line_rate_bps is None:
        link = f"Link {'up' if up else 'down'}, no line rate"
        pps = "unknown"
    else:
        assumed = "" if info["link_speed_bps"] else " (--line-rate)"
        duplex = " FDX" if info["full_duplex"] else " HDX"
        auto = " Autoneg" if info["autoneg"] else " Fixed"
        state = "up" if up else "down"
        speed = f"{plan.line_rate_bps / _GIGA:g} Gbps"
        link = f"Link {state} at {speed}{assumed or duplex + auto}"
        pps = format_count(int(line_rate_fps(plan.line_rate_bps, settings.frame_size)))
    if info.get("flow_control") is not None:
        link += f", Flow Control {info['flow_control']}"
    budget = "unpaced"
    for flow in ready.flows_of(plan):
        if flow.intended_fps is not None:
            queues = len(plan.tx_lcores)
            budget = format_count(int(hz / flow.intended_fps * settings.burst * queues))
    return (
        f"{plan.index:>2} >> {link}, WireSize {wire_bits(settings.frame_size)} Bits, PPS {pps}, "
        f"Cycles/Burst {budget}"
    )


def _settings_line(settings: PerfSettings, infos: Iterable[Mapping[str, Any]]) -> str:
    sizes = {(info["rx_descriptors"], info["tx_descriptors"]) for info in infos}
    rings = " ".join(f"{rx:,}/{tx:,}" for rx, tx in sorted(sizes))
    return (
        f"Burst: {settings.burst}, MBUF Count: {settings.mbufs:,}, PktSize:{settings.frame_size}, "
        f"Rx/Tx {rings}, Rate {settings.rate}"
    )


class _Rows:
    """The rows of one port; frames per second over `seconds`."""

    def __init__(self, now: Port, before: Port | None, seconds: float) -> None:
        self._now = now
        self._before = before
        self._seconds = seconds

    def _rates(self, of: Callable[[Port], Sequence[int]]) -> list[int]:
        now = of(self._now)
        then = [0] * len(now) if self._before is None else of(self._before)
        return [round((a - b) / self._seconds) for a, b in zip(now, then, strict=True)]

    def _cycles(self) -> list[Percentiles]:
        earlier: Sequence[TxQueue | None] = [None] * len(self._now.tx)
        if self._before is not None:
            earlier = self._before.tx
        recent = [
            queue.burst_cycles if then is None else queue.burst_cycles.minus(then.burst_cycles)
            for queue, then in zip(self._now.tx, earlier, strict=True)
        ]
        return [percentiles([histogram]) for histogram in recent]

    def lines(self) -> Iterator[str]:
        if self._now.rx:
            yield _row("RxQs", self._rates(lambda port: [queue.frames for queue in port.rx]))
        if self._now.tx:
            yield _row("TxQs", self._rates(lambda port: [queue.frames for queue in port.tx]))
            yield _row("Unsent", self._rates(lambda port: [q.frames_unsent for q in port.tx]))
        yield _row("NoMBUF", self._rates(lambda port: [port.device.rx_nombuf]))
        if self._now.tx:
            yield _cycles_row("TxCycle", self._cycles())
        device = self._now.device
        yield (
            f"  RxMissed: {device.imissed:>12,}, ierr: {device.ierrors:,}, "
            f"oerr: {device.oerrors:,}, RxNoMbuf: {device.rx_nombuf:,}"
        )


def _row(name: str, values: Sequence[int]) -> str:
    cells = "".join(f" {value:>{_COLUMN - 1},}" for value in values)
    return f"  {name:<7}:{cells} Total: {sum(values):>{_COLUMN},}"


def _cycles_row(name: str, queues: Sequence[Percentiles]) -> str:
    cells = "".join(f" {_cycles(queue):>{_COLUMN - 1}}" for queue in queues)
    return f"  {name:<7}:{cells} p50/p99 of a Tx burst"


def _cycles(value: Percentiles) -> str:
    if value.p50 is None or value.p99 is None:
        return "-"
    return f"{value.p50:,.0f}/{value.p99:,.0f}"


def summary(result: RunResult, settings: PerfSettings) -> str:
    """The result in RFC terms, and whether to believe it."""
    lines = ["Summary"]
    for port in result.ports:
        back = [flow.received for flow in result.flows if flow.plan.port == port.plan.index]
        lines += _port_summary(port, settings.frame_size, result.final.tsc_hz)
        for received in back:
            lines += [] if received is None else received_lines(received, "  ", 16, "came back")
    lines += total_lines(result)
    lines += [*peer_lines(result.peer), *engine_lines(result), *verdict_lines(result.verdict)]
    return wrapped("\n".join(lines), terminal_columns())


def _port_summary(result: PortResult, frame_size: int, hz: int) -> Iterator[str]:
    plan = result.plan
    yield f"  port {plan.index}          {plan.location}, {frame_size}-octet frames"
    if plan.tx_lcores:
        intended = "as fast as the device takes frames"
        if result.intended_fps is not None:
            intended = load_text(result.intended_fps, frame_size)
        yield f"  intended load   {intended}"
        yield f"  offered load    {load_text(result.offered_fps, frame_size)}"
        if result.per_cpu_second_fps is not None:
            yield f"  per CPU second  {load_text(result.per_cpu_second_fps, frame_size)}"
        yield (
            f"  sent            {format_count(result.tx_frames)} frames in "
            f"{seconds_text(result.seconds)}, "
            f"unsent {format_count(result.tx_frames_unsent)}"
        )
        yield from _cycle_lines(result, hz)
    if plan.rx_lcores:
        yield f"  forwarding rate {load_text(result.forwarding_fps, frame_size)}"
        yield f"  received        {format_count(result.rx_frames)} frames"


def _cycle_lines(result: PortResult, hz: int) -> Iterator[str]:
    if result.cycles_per_frame is not None:
        yield (
            f"  Tx calls        {result.cycles_per_frame:.1f} cycles per frame; "
            f"{_cycles(result.burst_cycles)} per burst (p50/p99)"
        )
    late = result.lateness_cycles
    if late.p50 is not None and late.p99 is not None and late.maximum is not None:
        to_us = 1e6 / hz
        yield (
            f"  pacing error    {late.p50 * to_us:.2f} us p50, {late.p99 * to_us:.2f} us p99, "
            f"{late.maximum * to_us:.2f} us max (first frame of each burst)"
        )
