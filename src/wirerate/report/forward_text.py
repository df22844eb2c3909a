# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate forward` and `reflect` show: a row per queue while they work, then a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.forward_lanes import map_text
from wirerate.plan.forward_program import delayed_fps_max, mac_of, queues_of
from wirerate.plan.forward_settings import Rewrite
from wirerate.report.columns import Column, table_lines, terminal_columns, wrapped
from wirerate.report.parts_text import (
    LCORES_SHOWN,
    cpu_lost_text,
    load_text,
    seconds_text,
    verdict_lines,
)
from wirerate.trial.forward_result import LaneResult, busy_share, lcores_busy, way_title
from wirerate.trial.forward_snapshot import LaneCounts, add_up
from wirerate.units import (
    LINE_OVERHEAD_OCTETS,
    format_count,
    format_duration_ns,
    format_engineering,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.engine.eal import Memory
    from wirerate.plan.forward_lanes import Lane
    from wirerate.plan.forward_settings import ForwardSettings, Way
    from wirerate.trial.forward_result import ForwardResult, ReadyForward, WayResult
    from wirerate.trial.forward_snapshot import ForwardSnapshot

LANES_SHOWN = 64
"""More queues than this are shown live by direction."""
_MEGA = 1e6
_COUNT_COLUMNS = (
    Column("Way", 10, name=True),
    Column("queue", 5),
    Column("lcore", 5, 3),
    Column("Rx frames/s", 14),
    Column("Mbit/s L1", 12, 4),
    Column("busy", 7),
    Column("received", 16, 2),
)
_COLUMNS = (
    *_COUNT_COLUMNS[:-1],
    Column("Tx frames/s", 14),
    Column("Mbit/s L1", 12, 5),
    Column("dropped", 10, 2),
    Column("duplicated", 10, 2),
    Column("reordered", 10, 2),
    Column("lost", 10),
)
_FLOWS_COLUMN = Column("flows", 10, 1)
"""Last, where flows are counted."""
_REWRITES = {
    Rewrite.NONE: "unchanged",
    Rewrite.MAC_SWAP: "Ethernet addresses exchanged",
    Rewrite.REVERSE: "addresses and UDP/TCP ports exchanged",
}


def setup_text(settings: ForwardSettings, lanes: Sequence[Lane], memory: Memory) -> str:
    """Ports, ways, what is done to frames, the map and the memory, before the start."""
    lines = [f"Port {index}: {location}" for index, location in enumerate(settings.locations)]
    lines += [f"Way: {_way_sentence(settings, way)}" for way in settings.ways]
    lines += [f"Impairments: {text}" for text in _impairment_texts(settings)]
    lines += _delay_lines(settings, lanes)
    lines += [
        f"Capture: port {capture.port} into {capture.path}, {capture.frames:,} frames at most, "
        "kept in memory until the end"
        for capture in settings.captures
    ]
    chosen = "" if settings.lcore_map else " (chosen; -m sets it)"
    lines.append(f"Lcore map: {map_text(lanes)}{chosen}. Memory: {memory.text}.")
    return wrapped("\n".join([*lines, ""]), terminal_columns())


def _way_sentence(settings: ForwardSettings, way: Way) -> str:
    if way.target is None:
        return f"what port {way.source} receives is counted and freed"
    how = _REWRITES[settings.rewrite]
    if way.target == way.source:
        return f"what port {way.source} receives goes back, {how}"
    return f"what port {way.source} receives leaves by port {way.target}, {how}"


def _impairment_texts(settings: ForwardSettings) -> Iterator[str]:
    impairments = settings.impairments
    parts = [
        f"{name} {100 * getattr(impairments, name):.6g} %"
        for name in ("drop", "duplicate", "reorder")
        if getattr(impairments, name) > 0
    ]
    if parts:
        parts.append(f"seed {impairments.seed}")
    if impairments.delay_ns:
        parts.append(f"delay {format_duration_ns(impairments.delay_ns)}")
    work = impairments.work
    if work.cycles:
        parts.append(f"work {work.cycles:,} cycles per frame")
    elif work.time_ns:
        parts.append(f"work {work.time_ns:g} ns per frame")
    if parts:
        yield ", ".join(parts)


def _delay_lines(settings: ForwardSettings, lanes: Sequence[Lane]) -> Iterator[str]:
    """What rate the memory allows to be delayed."""
    if not settings.impairments.delay_ns:
        return
    queues = min(queues_of(lanes, way.source)[0] for way in settings.ways)
    fps = format_engineering(delayed_fps_max(settings, queues), "frames/s", 3)
    advice = "" if settings.mbufs_given else " (chosen; -M sets it)"
    yield (
        f"Delayed frames stay in receive mbufs, {settings.mbufs:,} for each port{advice}: enough "
        f"for {fps}"
    )


def table(ready: ReadyForward, now: ForwardSnapshot, before: ForwardSnapshot | None) -> str:
    """Rates and busy shares between two looks; impairments and losses since the start.

    ``before`` None: the start.
    """
    seconds = now.seconds_since(before)
    groups = _groups(ready)
    earlier = [LaneCounts()] * len(now.lanes) if before is None else before.lanes
    recent = [
        LaneResult(lane, _difference(late, early))
        for lane, late, early in zip(ready.lanes, now.lanes, earlier, strict=True)
    ]
    columns = _COLUMNS if any(lane.target is not None for lane in ready.lanes) else _COUNT_COLUMNS
    flows = bool(ready.settings.distinct_max)
    rows = []
    for cells, members in [*groups, (("total", "", ""), range(len(recent)))]:
        counted = add_up(now.lanes[at] for at in members)
        own = [recent[at] for at in members]
        row = (*cells, *_cells(own, counted, seconds, now.tsc_hz, len(columns)))
        rows.append((*row, _flows_cell(counted)) if flows else row)
    shown = (*columns, _FLOWS_COLUMN) if flows else columns
    below = [_cpu_line(lcores_busy(ready.lanes, now, before)), *_device_lines(now)]
    room = terminal_columns()
    return "\n".join([*table_lines(shown, rows, room), wrapped("\n".join(below), room)])


def _flows_cell(counts: LaneCounts) -> str:
    """How many, and a plus sign where there was no room for more."""
    return f"{counts.distinct_flows:,}{'+' if counts.distinct_overflow else ''}"


def _cpu_line(lcores: Sequence[tuple[int, float]]) -> str:
    """Each lcore's share of time spent with frames, and their sum."""
    whole = sum(busy for _, busy in lcores)
    if len(lcores) > LCORES_SHOWN:
        shares = [busy for _, busy in lcores]
        each = f"{len(lcores)} lcores {100 * min(shares):.1f} % to {100 * max(shares):.1f} %"
    else:
        each = ", ".join(f"lcore {lcore} {100 * busy:.1f} %" for lcore, busy in lcores)
    return f"CPU: {each}; sum {100 * whole:.1f} %"


def _device_lines(now: ForwardSnapshot) -> Iterator[str]:
    """What devices dropped since the start, where they did."""
    for index, port in enumerate(now.base.ports):
        device = port.device
        if device.imissed + device.rx_nombuf + device.socket_drops:
            yield (
                f"Dropped by port {index}: no descriptor {device.imissed:,}, "
                f"no mbuf {device.rx_nombuf:,}, socket full {device.socket_drops:,}"
            )


def _groups(ready: ReadyForward) -> list[tuple[tuple[str, str, str], Sequence[int]]]:
    """The rows: their first cells and the lanes that they add up."""
    if len(ready.lanes) <= LANES_SHOWN:
        return [
            ((_short(lane.source, lane.target), str(lane.queue), str(lane.lcore)), [at])
            for at, lane in enumerate(ready.lanes)
        ]
    return [
        (
            (_short(way.source, way.target), "all", ""),
            [at for at, lane in enumerate(ready.lanes) if lane.source == way.source],
        )
        for way in ready.settings.ways
    ]


def _short(source: int, target: int | None) -> str:
    return str(source) if target is None else f"{source} > {target}"


def _difference(late: LaneCounts, early: LaneCounts) -> LaneCounts:
    """What has been counted between two looks."""
    words = {name: value - getattr(early, name) for name, value in vars(late).items()}
    return LaneCounts(**words)


def _cells(
    recent: Sequence[LaneResult],
    counted: LaneCounts,
    seconds: float,
    hz: int,
    columns: int,
) -> tuple[str, ...]:
    own = add_up(one.counts for one in recent)
    busy = f"{100 * busy_share(own, recent, seconds * hz):.1f} %"
    received = (*_rates(own.rx_frames, own.rx_octets, seconds), busy)
    if columns == len(_COUNT_COLUMNS):
        return (*received, f"{counted.rx_frames:,}")
    sent = _rates(own.tx_frames, own.tx_octets, seconds)
    lost = counted.not_taken + counted.overflowed
    counts = (counted.dropped, counted.duplicated, counted.reordered, lost)
    return (*received, *sent, *(f"{count:,}" for count in counts))


def _rates(frames: int, octets: int, seconds: float) -> tuple[str, str]:
    """Frames/s and Mbit/s of line."""
    bits = 8 * (octets + LINE_OVERHEAD_OCTETS * frames)
    return f"{round(frames / seconds):,}", f"{bits / seconds / _MEGA:,.2f}"


def summary(result: ForwardResult) -> str:
    """Each direction's counts, what was answered and captured, and the verdict."""
    lines = [f"Summary of {seconds_text(result.seconds)}"]
    for way in result.ways:
        lines += _way_lines(way)
        if result.ready.settings.distinct_max:
            lines.append(f"    flows         {_flows_cell(way.counts)} distinct")
    lines += _answer_lines(result)
    lines.append(f"  {_cpu_line(result.busy)}")
    if result.times:
        lines.append(f"  CPU lost: {cpu_lost_text(result.times)}")
    lines += [f"  {line}" for line in _device_lines(result.final)]
    for path, frames in result.captured.items():
        lines.append(f"  captured        {format_count(frames)} frames into {path}")
    lines += verdict_lines(result.verdict)
    return wrapped("\n".join(lines), terminal_columns())


def _way_lines(way: WayResult) -> Iterator[str]:
    counts = way.counts
    yield f"  {way_title(way.way)}: lcores {100 * way.busy:.1f} % busy"
    yield f"    received      {format_count(counts.rx_frames)} frames{_rate(way)}"
    if way.way.target is None:
        return
    yield f"    sent          {format_count(counts.tx_frames)} frames"
    yield (
        f"    impaired      dropped {format_count(counts.dropped)}, "
        f"duplicated {format_count(counts.duplicated)}, "
        f"reordered {format_count(counts.reordered)}"
    )
    yield (
        f"    lost          not taken {format_count(counts.not_taken)}, "
        f"overflowed {format_count(counts.overflowed)}; "
        f"still held at the end {format_count(counts.held)}"
    )


def _rate(way: WayResult) -> str:
    """The mean rate from the first frame to the last, where there were two."""
    if way.seconds is None:
        return ""
    size = way.counts.rx_octets / way.counts.rx_frames
    fps = way.counts.rx_frames / way.seconds
    return f" in {seconds_text(way.seconds)}: {load_text(fps, size)}"


def _answer_lines(result: ForwardResult) -> Iterator[str]:
    settings = result.ready.settings
    for port in sorted({host.port for host in settings.addresses}):
        answers = result.final.answers[f"p{port}"]
        hosts = [str(host.address) for host in settings.addresses if host.port == port]
        mac = mac_of(settings, port, result.ready.infos[port])
        yield f"  port {port} answers as {', '.join(hosts)} at {mac}"
        yield (
            f"    answered      {format_count(answers.arp)} ARP requests, "
            f"{format_count(answers.neighbors)} neighbour solicitations, "
            f"{format_count(answers.echoes)} pings"
        )
