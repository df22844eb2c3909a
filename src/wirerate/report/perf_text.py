# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate perf` shows: pktperf's rows per queue while it runs, then a summary. Pure text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.trial.result import percentiles
from wirerate.units import (
    format_count,
    format_engineering,
    l1_bps,
    l2_bps,
    line_rate_fps,
    wire_bits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wirerate.plan.perf_plan import PortPlan
    from wirerate.plan.perf_settings import PerfSettings
    from wirerate.trial.result import Percentiles, PortResult
    from wirerate.trial.snapshot import Port, Snapshot, TxQueue
    from wirerate.trial.verdict import Verdict

_COLUMN = 14
_GIGA = 1e9
_WHOLE_FPS = 1000.0
_SHORT_S = 0.1
_SPINNER = "-\\|/"


def header(tick: int) -> str:
    """Pktperf's first line, with its turning bar."""
    return f"Port    : Rate Statistics per queue ({_SPINNER[tick % len(_SPINNER)]})"


def table(
    now: Snapshot,
    before: Snapshot | None,
    plans: Sequence[PortPlan],
    *,
    infos: Mapping[str, Mapping[str, Any]],
    settings: PerfSettings,
    tick: int,
) -> str:
    """All ports' rows for the time between two snapshots (since the start when before is None)."""
    lines = [header(tick)]
    for plan in plans:
        earlier = None if before is None else before.port(plan.name)
        cycles = _clock(now) - (now.start_tsc if before is None else _clock(before))
        rows = _Rows(now.port(plan.name), earlier, max(1, cycles) / now.tsc_hz)
        up = now.port(plan.name).device.link_up
        lines.append(_link_line(plan, infos[plan.name], settings, now.tsc_hz, up=up))
        lines += rows.lines()
    lines += ["", _settings_line(settings, infos.values())]
    return "\n".join(lines)


def _clock(snapshot: Snapshot) -> int:
    """The time to which counts belong: now, or when sending ended."""
    queues = [queue for port in snapshot.ports for queue in port.tx]
    end = min(snapshot.now_tsc, snapshot.stop_tsc)
    if queues and all(queue.done for queue in queues):
        end = min(end, max(queue.last_tsc for queue in queues))
    return max(end, snapshot.start_tsc)


def _link_line(
    plan: PortPlan, info: Mapping[str, Any], settings: PerfSettings, hz: int, *, up: bool
) -> str:
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
    budget = "unpaced"
    if plan.intended_fps is not None and plan.tx_lcores:
        queues = len(plan.tx_lcores)
        budget = format_count(int(hz / plan.intended_fps * settings.burst * queues))
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


def summary(results: Sequence[PortResult], verdict: Verdict, final: Snapshot) -> str:
    """The result in RFC terms, and whether to believe it."""
    lines = ["Summary"]
    for result in results:
        lines += _port_summary(result, final.tsc_hz)
    lines.append(
        f"  engine          {final.cpu_ns / _GIGA:.2f} s of CPU time, "
        f"{final.resident_max_octets / (1 << 20):.0f} MiB resident at most"
    )
    lines.append(f"Verdict: {verdict}")
    lines += [f"  - {reason}" for reason in verdict.reasons]
    lines += [f"  note: {note}" for note in verdict.notes]
    return "\n".join(lines)


def _load(fps: float | None, frame_size: int) -> str:
    if fps is None:
        return "-"
    number = f"{fps:,.0f}" if fps >= _WHOLE_FPS else f"{fps:.4g}"
    return (
        f"{number} frames/s = {format_engineering(l1_bps(fps, frame_size), 'bit/s')} at L1, "
        f"{format_engineering(l2_bps(fps, frame_size), 'bit/s')} at L2"
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds >= _SHORT_S else f"{1000 * seconds:.3f} ms"


def _port_summary(result: PortResult, hz: int) -> Iterator[str]:
    plan = result.plan
    yield f"  port {plan.index}          {plan.location}, {result.frame_size}-octet frames"
    if plan.tx_lcores:
        intended = "as fast as the device takes frames"
        if result.intended_fps is not None:
            intended = _load(result.intended_fps, result.frame_size)
        yield f"  intended load   {intended}"
        yield f"  offered load    {_load(result.offered_fps, result.frame_size)}"
        yield (
            f"  sent            {format_count(result.tx_frames)} frames in "
            f"{_seconds(result.seconds)}, "
            f"unsent {format_count(result.tx_frames_unsent)}"
        )
        yield from _cycle_lines(result, hz)
    if plan.rx_lcores:
        yield f"  forwarding rate {_load(result.forwarding_fps, result.frame_size)}"
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
