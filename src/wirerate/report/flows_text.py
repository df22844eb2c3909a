# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate flows` shows: rows of queues while it runs, then BiTester's tables. Pure text."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from wirerate.plan.perf_settings import DEFAULT_LOCATION
from wirerate.report.columns import Column, table_lines, terminal_columns, wrapped
from wirerate.report.flows_ends import ends_of, table_rows
from wirerate.report.parts_peer import peer_lines
from wirerate.report.parts_text import engine_lines, map_line, verdict_lines
from wirerate.report.run_text import flow_lines
from wirerate.units import LINE_OVERHEAD_OCTETS, format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirerate.plan.flows_settings import FlowsSettings
    from wirerate.report.flows_live import LatencyLook, Look, RxLook, TxLook
    from wirerate.report.view import Setup
    from wirerate.trial.result import RunResult

_COLUMNS = (
    Column("Queue", 6, name=True),
    Column("Tx frames/s", 14),
    Column("Gbit/s L1", 10, 2),
    Column("unsent/s", 10, 4),
    Column("flows", 13, 3),
    Column("Tx CPU", 13, 1),
    Column("Rx frames/s", 14),
    Column("distinct", 13, 3),
    Column("Rx CPU", 13, 1),
)
_END = 16
_US_NS = 1000.0
_GIGA = 1e9


def setup_text(setup: Setup, settings: FlowsSettings) -> str:
    """What is sent where, the map and the memory, before the start."""
    traffic = settings.traffic
    lines = []
    if settings.locations == (DEFAULT_LOCATION,):
        lines.append(
            f"No device given: using {DEFAULT_LOCATION}, a ring in memory that sends back what it "
            "gets."
        )
    for index, location in enumerate(settings.locations):
        does = " and ".join(
            word
            for word, port in (("sends", settings.tx_port), ("receives", settings.rx_port))
            if port == index
        )
        lines.append(f"Port {index}: {location}, {does}")
    lines.append(
        f"Mode {traffic.mode.value}: {traffic.mode.text}. Frames of {traffic.frame_size} octets: "
        f"payload {_payload(settings)}, {traffic.frame_size + LINE_OVERHEAD_OCTETS} on the line."
    )
    lines.append(f"Flows: {_flows(settings)}, from {traffic.src_ip} to {traffic.dst_ip}.")
    return wrapped("\n".join([*lines, map_line(setup), ""]), terminal_columns())


def _payload(settings: FlowsSettings) -> str:
    """Of UDP; short ones are filled up to what the least frame has room for."""
    traffic = settings.traffic
    headers = 14 + (20 if traffic.src_ip.version == 4 else 40) + 8 + 4
    sent = traffic.frame_size - headers
    asked = f" (asked: {traffic.payload})" if sent != traffic.payload else ""
    return f"{sent}{asked}"


def _flows(settings: FlowsSettings) -> str:
    flows = f"{settings.traffic.flow_num:,}"
    if not settings.ramped or not settings.ramp:
        return f"{flows}, all from the start"
    down = ", and down again" if settings.ramp_down else ""
    return f"1 to {flows}, {_each(settings.traffic.cps)} more each second{down}"


def _each(cps: float) -> str:
    return f"{cps:,.0f}" if cps >= 1000 else f"{cps:.6g}"


def table(look: Look, settings: FlowsSettings) -> str:
    """The queues, how many flows there are, and the latency since the look before."""
    counted = bool(settings.distinct_max)
    busy = dict(look.busy)
    rows = [
        [str(number), *_tx_cells(tx, busy), *_rx_cells(rx, busy, counted=counted)]
        for number, (tx, rx) in enumerate(zip_longest(look.tx, look.rx))
    ]
    if len(rows) > 1:
        rows.append(_total_row(look, counted=counted))
    lines = table_lines(_COLUMNS, rows, terminal_columns())
    lines.append(_flows_line(look, settings))
    if look.latency is not None:
        lines.append(_latency_line(look.latency))
    return "\n".join(lines)


def _tx_cells(tx: TxLook | None, busy: Mapping[int, float]) -> list[str]:
    if tx is None:
        return ["-"] * 5
    return [
        f"{tx.fps:,.0f}",
        f"{tx.l1_bps / _GIGA:,.3f}",
        f"{tx.unsent_fps:,.0f}",
        f"{tx.flows:,}" if tx.flows else "-",
        _cpu(tx.lcore, busy),
    ]


def _rx_cells(rx: RxLook | None, busy: Mapping[int, float], *, counted: bool) -> list[str]:
    if rx is None:
        return ["-"] * 3
    return [f"{rx.fps:,.0f}", f"{rx.distinct:,}" if counted else "-", _cpu(rx.lcore, busy)]


def _cpu(lcore: int, busy: Mapping[int, float]) -> str:
    return f"{lcore}: {100 * busy.get(lcore, 0.0):.1f} %"


def _total_row(look: Look, *, counted: bool) -> list[str]:
    flows = sum(queue.flows for queue in look.tx)
    return [
        "Total",
        f"{sum(queue.fps for queue in look.tx):,.0f}",
        f"{sum(queue.l1_bps for queue in look.tx) / _GIGA:,.3f}",
        f"{sum(queue.unsent_fps for queue in look.tx):,.0f}",
        f"{flows:,}" if flows else "-",
        "",
        f"{sum(queue.fps for queue in look.rx):,.0f}",
        f"{look.distinct_flows:,}" if counted else "-",
        "",
    ]


def _flows_line(look: Look, settings: FlowsSettings) -> str:
    active = settings.traffic.flow_num if look.active_flows is None else look.active_flows
    text = f"{look.seconds:.1f} s: {active:,} of {settings.traffic.flow_num:,} flows active"
    if settings.distinct_max and look.rx:
        text += f", {look.distinct_flows:,} distinct received"
    if look.distinct_overflow:
        text += f" (no room to tell {look.distinct_overflow:,} more frames)"
    used = sum(share for _, share in look.busy)
    return f"{text}; CPU {used:.2f} of {_cores(len(look.busy))}"


def _latency_line(late: LatencyLook) -> str:
    return (
        f"latency of {late.count:,} frames: {_us(late.mean)} mean, {_us(late.p50)} p50, "
        f"{_us(late.p99)} p99, {_us(late.p99_9)} p99.9, {_us(late.maximum)} max"
    )


def _us(value_ns: float) -> str:
    return f"{value_ns / _US_NS:,.3f} us"


def summary(result: RunResult, settings: FlowsSettings) -> str:
    """What became of the flows, the table of the ends, and whether to believe it."""
    lines = ["Summary"]
    for flow in result.flows:
        lines += flow_lines(flow, result.final.tsc_hz)
    lines += _distinct_lines(result, settings)
    lines += _busy_lines(result)
    lines += ["", *_ends_lines(result, settings), ""]
    lines += [*peer_lines(result.peer), *engine_lines(result), *verdict_lines(result.verdict)]
    return wrapped("\n".join(lines), terminal_columns())


def _distinct_lines(result: RunResult, settings: FlowsSettings) -> Iterator[str]:
    queues = [queue for port in result.final.ports for queue in port.rx]
    if not settings.distinct_max or not queues:
        return
    seen = sum(queue.distinct_flows for queue in queues)
    beyond = sum(queue.distinct_overflow for queue in queues)
    more = f", no room to tell {format_count(beyond)} more frames" if beyond else ""
    yield (
        f"  distinct 5-tuples received: {format_count(seen)} of "
        f"{format_count(settings.traffic.flow_num)} flows{more}"
    )


def _busy_lines(result: RunResult) -> Iterator[str]:
    if result.cpu.busy:
        shares = ", ".join(f"lcore {lcore} {100 * share:.1f} %" for lcore, share in result.cpu.busy)
        used = sum(share for _, share in result.cpu.busy)
        yield f"  CPU {used:.2f} of {_cores(len(result.cpu.busy))} busy: {shares}"


def _ends_lines(result: RunResult, settings: FlowsSettings) -> Iterator[str]:
    ends = ends_of(result, settings)
    titles, rows = table_rows(ends)
    columns = [Column(titles[0], 9, name=True), *(Column(title, _END) for title in titles[1:])]
    yield from (f"  {line}" for line in table_lines(columns, rows, terminal_columns()))
    yield f"  Server: {ends.server}."


def _cores(number: int) -> str:
    return "1 core" if number == 1 else f"{number} cores"
