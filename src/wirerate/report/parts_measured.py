# SPDX-License-Identifier: BSD-3-Clause
"""What reports say about measured flows: lines, cells of tables, parts of JSON documents. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.trial.received import arrivals
from wirerate.trial.rx_times import rx_clock
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.received import Arrivals, Received
    from wirerate.trial.result import RunResult
    from wirerate.trial.snapshot import Port, Snapshot

_US_NS = 1000.0
_NOTHING = "-"


def received_lines(
    back: Received, indent: str = "    ", width: int = 14, label: str = "received"
) -> list[str]:
    """Loss, order, latency and jitter in a few lines; labels, the first one given, fill ``width``.

    None where nothing was sent.
    """
    if back.sent == 0 and back.frames == 0:
        return []

    def line(name: str, text: str) -> str:
        return f"{indent}{name:<{width}}{text}"

    ratio = "" if back.loss_ratio is None else f" ({100 * back.loss_ratio:.4g} %)"
    too_late = f" ({format_count(back.too_late)} too late to tell)" if back.too_late else ""
    impossible = f", impossible {format_count(back.impossible)}" if back.impossible else ""
    lines = [
        line(
            label,
            f"{format_count(back.frames)} frames, lost {format_count(back.lost)}{ratio}, "
            f"duplicated {format_count(back.duplicates)}, "
            f"reordered {format_count(back.reordered)}{too_late}{impossible}",
        )
    ]
    if back.misdirected:
        lines.append(line("misdirected", f"{format_count(back.misdirected)} frames"))
    late = back.latency
    if late.count == 0:
        return lines
    floor = f" (floor of {_us(late.floor_ns)} us taken off)" if late.floor_ns else ""
    ranks = (
        ("p50", late.p50),
        ("p90", late.p90),
        ("p99", late.p99),
        ("p99.9", late.p99_9),
        ("p99.99", late.p99_99),
    )
    lines += [
        line(
            "latency",
            f"{_us(late.minimum)} us min, {_us(late.mean)} us mean, {_us(late.maximum)} us max"
            f"{floor}",
        ),
        line("", ", ".join(f"{name} {_us(value)} us" for name, value in ranks)),
    ]
    jitter = back.jitter
    lines.append(
        line(
            "jitter",
            f"{_us(jitter.ipdv_mean)} us mean IPDV, {_us(jitter.pdv_p99_9)} us p99.9 PDV",
        )
    )
    return lines


def total_lines(result: RunResult, width: int = 14) -> list[str]:
    """All measured flows together, where there is more than one; none otherwise."""
    measured = sum(flow.received is not None for flow in result.flows)
    if result.total is None or measured < 2:
        return []
    return [
        f"  Total of {measured:,} measured flows",
        f"    {'sent':<{width}}{format_count(result.total.sent)} frames",
        *received_lines(result.total, width=width),
    ]


def _us(value_ns: float | None) -> str:
    return _NOTHING if value_ns is None else f"{value_ns / _US_NS:,.3f}"


class LiveFlows:
    """What measured flows received between two looks, as cells of a table."""

    def __init__(
        self, ready: ReadyPlan, now: Snapshot, before: Snapshot | None, seconds: float
    ) -> None:
        self.measured = any(flow.measured for flow in ready.flows)
        self._now = arrivals(now, ready.flows)
        self._before = {} if before is None else arrivals(before, ready.flows)
        self._seconds = seconds
        self._ns_per_cycle = 1e9 / now.tsc_hz
        self._floor_ns = ready.settings.floor_ns

    def cells(self, stream: str) -> tuple[str, str]:
        """Frames/s received, and their mean latency [us]; dashes for what is not known."""
        now = self._now.get(stream)
        if now is None:
            return _NOTHING, _NOTHING
        frames, count, cycles = _since(now, self._before.get(stream))
        rate = f"{round(frames / self._seconds):,}"
        if count <= 0:
            return rate, _NOTHING
        return rate, _us(max(0.0, cycles / count * self._ns_per_cycle - self._floor_ns))


def _since(now: Arrivals, before: Arrivals | None) -> tuple[int, int, int]:
    """Frames, latencies, and the sum of these [cycles]."""
    then = (0, 0, 0)
    if before is not None:
        then = before.frames, before.latency_count, before.latency_sum_cycles
    return (
        now.frames - then[0],
        now.latency_count - then[1],
        now.latency_sum_cycles - then[2],
    )


def received_document(back: Received) -> dict[str, Any]:
    """The parts of a document about a measured flow, or about all: keys and their values."""
    late, jitter = back.latency, back.jitter
    return {
        "received": {
            "frames": back.frames,
            "lost": back.lost,
            "loss_ratio": back.loss_ratio,
            "duplicates": back.duplicates,
            "reordered": back.reordered,
            "too_late": back.too_late,
            "impossible": back.impossible,
            "octets": back.octets,
            "misdirected": back.misdirected,
            "first_s": back.first_s,
            "last_s": back.last_s,
            "forwarding_fps": back.forwarding_fps,
        },
        "latency_ns": {
            "min": late.minimum,
            "mean": late.mean,
            "p50": late.p50,
            "p90": late.p90,
            "p99": late.p99,
            "p99_9": late.p99_9,
            "p99_99": late.p99_99,
            "max": late.maximum,
            "count": late.count,
            "floor_ns": late.floor_ns,
        },
        "jitter_ns": {"ipdv_mean": jitter.ipdv_mean, "pdv_p99_9": jitter.pdv_p99_9},
    }


_UNMEASURED: dict[str, Any] = {"received": None, "latency_ns": None, "jitter_ns": None}


def flow_document(back: Received | None) -> dict[str, Any]:
    """Likewise, of a flow that may not be measured: all null then."""
    return dict(_UNMEASURED) if back is None else received_document(back)


def total_document(result: RunResult) -> dict[str, Any] | None:
    """All measured flows together; None without any."""
    total = result.total
    return None if total is None else {"tx_frames": total.sent, **received_document(total)}


def replies_document(port: Port) -> dict[str, int] | None:
    """What a port has answered as a host; None where it is none."""
    if port.replies is None:
        return None
    words = vars(port.replies)
    return {word: words[word] for word in words if word not in {"lcore", "busy_cycles"}}


def device_facts(info: Mapping[str, Any], port: Port) -> dict[str, Any]:
    """What a result must name of a device: firmware, NUMA node, and by which clock it received.

    ``tx_loop``: the Tx ring that loops, None with the normal engine. ``flow_control``: none, rx, tx
    or full; None where the device does not say.
    """
    return {
        "firmware": info["firmware"] or None,
        "numa_node": info["socket"],
        "rx_clock": rx_clock(info["rx_clock"], port),
        "tx_loop": info.get("tx_loop"),
        "flow_control": info.get("flow_control"),
    }
