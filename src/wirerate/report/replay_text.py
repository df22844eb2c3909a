# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate replay` shows: the trace and the ports, a row per port each second, the sum.

The last table has the columns of loadgen's own performance table. Pure text.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.report.columns import Column, table_lines, terminal_columns
from wirerate.report.parts_text import cpu_lost_text
from wirerate.units import FCS_OCTETS, LINE_OVERHEAD_OCTETS, format_count, format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wirerate.plan.replay_document import TraceFacts
    from wirerate.trial.result import PortResult, RunResult
    from wirerate.trial.snapshot import Port, Snapshot

GOOD, BAD, UNKNOWN = "good", "bad", "-"
_GIGA = 1e9
_MEGA = 1e6
_NS_PER_S = 10**9
_COLUMNS = (
    Column("Port", 4),
    Column("Mpps", 9),
    Column("Gbit/s L1", 10),
    Column("frames", 16),
    Column("laps", 14),
    Column("opackets", 16, 1),
    Column("obytes", 18, 3),
    Column("ipackets", 14, 2),
    Column("ibytes", 16, 4),
    Column("oerrors", 8),
)

_DEVICE = ("opackets", "obytes", "ipackets", "ibytes", "oerrors")


@dataclass(frozen=True)
class ReplayPort:
    """A port that replays.

    ``lcore`` None = nobody sends. ``numa`` is ``good`` where the lcore is of the device's node,
    ``bad`` where it is not, ``-`` where the device has none.
    """

    location: str
    lcore: int | None
    numa: str


@dataclass(frozen=True)
class Load:
    """Frames and octets (with FCS) that ports sent in some time [s], 0 s: nothing to tell."""

    frames: int
    octets: int
    seconds: float

    @property
    def mpps(self) -> float:
        """Million frames per second."""
        return self.frames / self.seconds / _MEGA if self.seconds > 0 else 0.0

    @property
    def l1_gbps(self) -> float:
        """Gbit/s of line: frames with preamble and gap."""
        octets = self.octets + LINE_OVERHEAD_OCTETS * self.frames
        return octets * 8 / self.seconds / _GIGA if self.seconds > 0 else 0.0


def numa_word(device_node: int, lcore_node: int) -> str:
    """Loadgen's word: is the memory that a device reads on the device's own node? -1: no node."""
    if device_node < 0 or lcore_node < 0:
        return UNKNOWN
    return GOOD if device_node == lcore_node else BAD


def numa_of_all(words: Sequence[str]) -> str:
    """``bad`` when one port is, ``good`` when all others are."""
    known = [word for word in words if word != UNKNOWN]
    if not known:
        return UNKNOWN
    return BAD if BAD in known else GOOD


def trace_lines(file: Path, facts: TraceFacts) -> list[str]:
    """The file in three lines."""
    sizes = f"{facts.shortest + FCS_OCTETS:,} to {facts.longest + FCS_OCTETS:,}"
    octets = facts.octets + FCS_OCTETS * facts.frames
    mean = f"mean {float(facts.mean_size):,.1f}, {sizes}"
    return [
        f"Trace: {file} ({facts.format})",
        f"  {plural_frames(facts.frames)}, {format_count(octets)} octets with FCS; {mean}",
        f"  recorded from {_date(facts.first_ns)} in {_span(facts.span_ns)}",
    ]


def trace_warnings(facts: TraceFacts, *, by_times: bool) -> list[str]:
    """What of the file will not be sent as it was on the wire."""
    warnings = []
    if facts.truncated:
        warnings.append(
            f"{_frames_were(facts.truncated)} cut by the capture: padded with zeros to the length "
            "on the wire; --strict refuses that"
        )
    if facts.short:
        warnings.append(
            f"{_frames_were(facts.short)} shorter than 60 octets: padded with zeros to that, as "
            "Ethernet does"
        )
    if facts.backwards:
        how = "sent at once" if by_times else "the order of the file is kept"
        warnings.append(f"{_frames_were(facts.backwards)} recorded before the previous one: {how}")
    return warnings


def port_line(index: int, port: ReplayPort) -> str:
    """One port, before the start."""
    lcore = "" if port.lcore is None else f", lcore {port.lcore}"
    return f"Port {index}: {port.location}{lcore}, NUMA {port.numa}"


def table(
    now: Snapshot,
    before: Snapshot | None,
    ports: Mapping[int, str],
    trace_frames: int,
    room: int | None = None,
) -> str:
    """A row per port and their sum: rates since ``before``, all else since the start.

    ``ports``: the engine's names by the ports' places in the plan. ``room``: columns to fit into;
    None: those of the terminal, if there is one.
    """
    seconds = _seconds_between(now, before)
    there = [now.port(name) for name in ports.values()]
    earlier = [None if before is None else before.port(name) for name in ports.values()]
    loads = [_load(a, b, seconds) for a, b in zip(there, earlier, strict=True)]
    rows = [
        _row(str(index), load, [port], trace_frames)
        for index, load, port in zip(ports, loads, there, strict=True)
    ]
    if len(rows) > 1:
        rows.append(_row("sum", _sum(loads), there, trace_frames))
    return "\n".join(table_lines(_COLUMNS, rows, room or terminal_columns()))


def final_table(result: RunResult, trace_frames: int) -> str:
    """The same rows for the whole run; each port's rates over the time in which it sent."""
    rows, loads = [], []
    for port in result.ports:
        there = result.final.port(port.plan.name)
        loads.append(load_of(port))
        rows.append(_row(str(port.plan.index), loads[-1], [there], trace_frames))
    if len(rows) > 1:
        rows.append(_row("sum", _sum(loads), result.final.ports, trace_frames))
    return "\n".join(table_lines(_COLUMNS, rows, terminal_columns()))


def load_of(port: PortResult) -> Load:
    """What a port has sent, over the time in which it was to send."""
    return Load(port.tx_frames, port.tx_octets, port.seconds)


def performance(result: RunResult, numa: str) -> list[str]:
    """Loadgen's table: all ports together, and the CPU time of the engine (getrusage)."""
    loads = [load_of(port) for port in result.ports]
    frames = sum(load.frames for load in loads)
    size = sum(load.octets for load in loads) / frames if frames else 0.0
    mpps = sum(load.mpps for load in loads)
    l1_gbps = sum(load.l1_gbps for load in loads)
    share = result.cpu.share
    cells = [
        f"{len(loads):>7}",
        f"{size:>10.1f}",
        f"{numa:<4}",
        f"{mpps:>8.3f}",
        f"{mpps / max(1, len(loads)):>9.3f}",
        f"{l1_gbps:>9.3f}",
        f"{'-' if share is None else f'{100 * share:.1f} %':>15}",
    ]
    return [
        "# ports | frame size | NUMA | Mpps     | Mpps/port | Gbit/s L1 | CPU of one core",
        "--------+------------+------+----------+-----------+-----------+----------------",
        " | ".join(cells),
    ]


def cpu_lines(result: RunResult) -> list[str]:
    """What lcores lost of their CPUs, and what ports without a rate sent per second of the rest."""
    lines = [f"CPU lost: {cpu_lost_text(result.cpu.times)}"] if result.cpu.times else []
    rates = [port.per_cpu_second_fps for port in result.ports]
    known = [rate for rate in rates if rate is not None]
    if known and len(known) == len(rates):
        lines.append(f"Per second of CPU time that lcores had: {sum(known) / _MEGA:.3f} Mpps")
    return lines


def pacing_lines(result: RunResult) -> list[str]:
    """How late the bursts of each port were; none where nothing was due at any time."""
    to_us = 1e6 / result.final.tsc_hz
    lines = []
    for port in result.ports:
        late = port.lateness_cycles
        if late.p50 is not None and late.p99 is not None and late.maximum is not None:
            lines.append(
                f"Port {port.plan.index}: pacing error {late.p50 * to_us:.2f} us p50, "
                f"{late.p99 * to_us:.2f} us p99, {late.maximum * to_us:.2f} us max "
                "(first frame of each burst)"
            )
    return lines


def _row(label: str, load: Load, ports: Sequence[Port], trace_frames: int) -> Sequence[str]:
    frames = sum(port.tx_frames for port in ports)
    laps = frames / trace_frames

    own = [label, f"{load.mpps:.3f}", f"{load.l1_gbps:.3f}", f"{frames:,}", f"{laps:,.2f}"]
    counts = (sum(getattr(port.device, word) for port in ports) for word in _DEVICE)
    return [*own, *(f"{count:,}" for count in counts)]


def _sum(loads: Sequence[Load]) -> Load:
    """All ports together; their times are alike, or the longest counts."""
    return Load(
        sum(load.frames for load in loads),
        sum(load.octets for load in loads),
        max(load.seconds for load in loads),
    )


def _octets(port: Port) -> int:
    return sum(queue.octets for queue in port.tx)


def _load(now: Port, before: Port | None, seconds: float) -> Load:
    if before is None:
        return Load(now.tx_frames, _octets(now), seconds)
    return Load(now.tx_frames - before.tx_frames, _octets(now) - _octets(before), seconds)


def _seconds_between(now: Snapshot, before: Snapshot | None) -> float:
    """Time to which the difference of two snapshots belongs [s]; before None: from the start."""
    start = now.start_tsc if before is None else _sending_until(before)
    return max(0, _sending_until(now) - start) / now.tsc_hz


def _sending_until(snapshot: Snapshot) -> int:
    """The clock at the snapshot, or when the last frame left [cycles]."""
    queues = [queue for port in snapshot.ports for queue in port.tx]
    end = min(snapshot.now_tsc, snapshot.stop_tsc)
    if queues and all(queue.done for queue in queues):
        end = min(end, max(queue.last_tsc for queue in queues))
    return max(end, snapshot.start_tsc)


def plural_frames(count: int) -> str:
    """``1 frame``, ``1,000 frames``."""
    return "1 frame" if count == 1 else f"{count:,} frames"


def _frames_were(count: int) -> str:
    return f"{plural_frames(count)} {'was' if count == 1 else 'were'}"


def _span(span_ns: int) -> str:
    """As a duration; below a second with all digits, since gaps are what timing is about."""
    if span_ns >= _NS_PER_S:
        return format_duration_ns(span_ns)
    unit, size_ns = ("ms", 10**6) if span_ns >= 10**6 else ("us", 10**3)
    digits = f"{span_ns / size_ns:.{len(str(size_ns)) - 1}f}"
    return f"{digits.rstrip('0').rstrip('.')} {unit}"


def _date(time_ns: int) -> str:
    """The day and second of a capture's time, UTC; 1970 where the file has no real clock."""
    seconds = time_ns // _NS_PER_S
    try:
        moment = datetime.datetime.fromtimestamp(seconds, tz=datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{seconds} s after 1970"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
