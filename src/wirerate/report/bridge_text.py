# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate bridge` shows: a row per way while frames pass, then a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.bridge_program import Layout
from wirerate.plan.bridge_settings import FastPath
from wirerate.plan.forward_settings import Work
from wirerate.plan.placement import placement_lines
from wirerate.report.columns import Column, table_lines, terminal_columns, wrapped
from wirerate.report.parts_text import cpu_lost_text, load_text, seconds_text, verdict_lines
from wirerate.trial.bridge_verdict import TITLES
from wirerate.trial.cpu_lost import all_times
from wirerate.units import LINE_OVERHEAD_OCTETS, format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirerate.trial.bridge import Bridge
    from wirerate.trial.bridge_look import BridgeLook, Flow
    from wirerate.trial.bridge_verdict import BridgeEnd

_MEGA = 1e6
_NS_PER_S = 1_000_000_000
_COLUMNS = (
    Column("Way", 15, name=True),
    Column("frames/s", 14),
    Column("Mbit/s L1", 12, 4),
    Column("frames", 16, 2),
    Column("lost", 12),
)
_LAYOUTS = {
    Layout.SHARED: "shared: the data path's worker receives, and passes on the kernel's by a ring",
    Layout.DEVICE: "dedicated, by the device: the kernel's worker has an Rx queue of its own",
    Layout.SOFTWARE: "dedicated, in software: the kernel's worker receives",
}


def setup_text(bridge: Bridge) -> str:
    """Ports, who gets what, checksums, lcores and memory, once all is open."""
    settings, setup = bridge.settings, bridge.setup
    lines = [
        *placement_lines(setup.placements),
        f"Port: {settings.port}",
        f"Kernel port: {settings.kernel_port}, {interface_text(bridge)}",
        f"Mode: {_LAYOUTS[bridge.layout]}",
        f"The kernel's: {_kernels(bridge)}",
        f"Fast path: {_fast_path(bridge)}",
        f"Checksums of what the kernel sends: {checksums_text(bridge)}",
        _lcores_line(bridge),
        *(f"Note: {note}" for note in bridge.notes),
    ]
    return wrapped("\n".join([*lines, ""]), terminal_columns())


def _lcores_line(bridge: Bridge) -> str:
    lcores = bridge.setup.lcores
    chosen = "" if bridge.settings.lcore_map else " (chosen; -m sets them)"
    return (
        f"Lcores: data path {lcores.data}, kernel port {lcores.kernel}{chosen}. "
        f"Memory: {bridge.setup.memory.text}."
    )


def interface_text(bridge: Bridge) -> str:
    """The kernel's end of the kernel port."""
    if bridge.kernel_interface:
        return f"the kernel's interface is {bridge.kernel_interface}"
    return "nobody tells which interface the kernel has there"


def checksums_text(bridge: Bridge) -> str:
    """Who computes them."""
    return "completed by the bridge" if bridge.completes else "computed by the kernel"


def _kernels(bridge: Bridge) -> str:
    if not bridge.settings.addresses:
        return "all frames"
    named = ", ".join(map(str, bridge.settings.addresses))
    return f"{named}, broadcast and multicast, all that is not IP"


def _fast_path(bridge: Bridge) -> str:
    settings = bridge.settings
    if not settings.addresses:
        return "none; --address tells frames apart"
    does = "is sent back" if settings.fast_path is FastPath.REFLECT else "is dropped"
    cost = "" if settings.work == Work() else f", {bridge.work_cycles:,} cycles each"
    return f"what is left {does}{cost}"


def _rows(now: BridgeLook) -> list[tuple[str, Flow, int]]:
    """Each way, what went there and what was lost on it, since the start."""
    return [
        ("wire > kernel", now.to_kernel, now.ring_lost + now.kernel_lost),
        ("kernel > wire", now.from_kernel, now.wire_lost),
        ("fast path", now.fast, now.fast_lost),
    ]


def table(bridge: Bridge, now: BridgeLook, before: BridgeLook) -> str:
    """Rates between two looks; frames and losses since the start."""
    seconds = max(1, now.at_ns - before.at_ns) / _NS_PER_S
    rows = []
    for (title, late, lost), (_, early, _) in zip(_rows(now), _rows(before), strict=True):
        recent = late - early
        bits = 8 * (recent.octets + LINE_OVERHEAD_OCTETS * recent.frames)
        rows.append(
            (
                title,
                f"{round(recent.frames / seconds):,}",
                f"{bits / seconds / _MEGA:,.2f}",
                f"{late.frames:,}",
                f"{lost:,}",
            )
        )
    below = [_cpu_line(bridge, _recent_shares(now, before))]
    if bridge.steering.by == "software":
        below.append(f"Steering in software: {bridge.steering.reason}")
    below += _device_lines(bridge)
    room = terminal_columns()
    return "\n".join([*table_lines(_COLUMNS, rows, room), wrapped("\n".join(below), room)])


def lcore_roles(bridge: Bridge) -> dict[int, str]:
    """What each lcore does."""
    lcores = bridge.setup.lcores
    if lcores.data == lcores.kernel:
        return {lcores.data: "data path and kernel"}
    return {lcores.data: "data path", lcores.kernel: "kernel"}


def _cpu_line(bridge: Bridge, shares: Mapping[int, float]) -> str:
    """Each lcore's share of time spent with frames."""
    parts = [
        f"lcore {lcore} ({role}) {100 * shares.get(lcore, 0.0):.1f} %"
        for lcore, role in lcore_roles(bridge).items()
    ]
    return f"CPU: {', '.join(parts)}"


def _recent_shares(now: BridgeLook, before: BridgeLook) -> dict[int, float]:
    """As `bridge_shares`, of the time between two looks."""
    span_ns = max(1, now.at_ns - before.at_ns)
    return {
        lcore: (busy - before.busy_ns.get(lcore, 0)) / span_ns
        for lcore, busy in now.busy_ns.items()
    }


def _device_lines(bridge: Bridge) -> Iterator[str]:
    """What devices dropped since the program was loaded, where they did."""
    for port in bridge.snapshots()[-1].ports:
        device = port.device
        if device.imissed + device.rx_nombuf + device.socket_drops:
            yield (
                f"Dropped by the {TITLES[port.name]}: no descriptor {device.imissed:,}, "
                f"no mbuf {device.rx_nombuf:,}, socket full {device.socket_drops:,}"
            )


def summary(bridge: Bridge, end: BridgeEnd) -> str:
    """Each way's counts, checksums, CPU, and the verdict."""
    look = end.look
    lines = [f"Summary of {seconds_text(end.seconds)}"]
    lines.append(
        f"  wire            {format_count(look.wire_rx.frames)} frames received, "
        f"{format_count(look.wire_tx.frames)} sent"
    )
    for title, flow, lost in _rows(look):
        lines.append(f"  {title:<15} {format_count(flow.frames)} frames{_rate(flow, end.seconds)}")
        lines.append(f"    lost          {format_count(lost)}")
    lines.append(
        f"  checksums       {checksums_text(bridge)}; {format_count(look.completed)} completed"
    )
    if bridge.settings.offloads.segments:
        lines.append(
            f"  segments        {format_count(look.split)} frames cut into "
            f"{format_count(look.parts)}, {format_count(look.merged)} merged into larger ones"
        )
    lines += [
        f"  {line}" for line in (_cpu_line(bridge, bridge_shares(end)), *_device_lines(bridge))
    ]
    if times := all_times(end.looks):
        lines.append(f"  CPU lost: {cpu_lost_text(times)}")
    lines.append(f"  engine          {look.cpu_ns / _NS_PER_S:.2f} s of CPU time")
    lines += verdict_lines(end.verdict)
    return wrapped("\n".join(lines), terminal_columns())


def _rate(flow: Flow, seconds: float) -> str:
    if flow.frames == 0:
        return ""
    return f": {load_text(flow.frames / seconds, flow.octets / flow.frames)}"


def bridge_shares(end: BridgeEnd) -> dict[int, float]:
    """Each lcore's share of the whole time that it spent with frames."""
    return {
        lcore: busy / (end.seconds * _NS_PER_S) for lcore, busy in sorted(end.look.busy_ns.items())
    }
