# SPDX-License-Identifier: BSD-3-Clause
"""What the JSON documents of several commands have in common."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.units import l1_bps, l2_bps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wirerate.trial.cpu import CpuUse
    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import Percentiles, RunResult
    from wirerate.trial.snapshot import Device, Port, Snapshot
    from wirerate.trial.verdict import Verdict

_NS_PER_S = 1_000_000_000


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Valid or not, and why."""
    return {
        "valid": verdict.valid,
        "reasons": list(verdict.reasons),
        "notes": list(verdict.notes),
    }


def engine_document(result: RunResult) -> dict[str, Any]:
    """The engine, how it transmits and what it took."""
    facts = engine_facts(result.ready.about, result.final)
    return facts | {"transmit_engine": result.ready.settings.engine}


def engine_facts(engine: Mapping[str, Any], final: Snapshot) -> dict[str, Any]:
    """The same of its `engine.info` and the last counts."""
    return {
        "version": engine["version"],
        "dpdk": engine["dpdk"],
        "transmit_link": engine["transmit"],
        "hugepages": engine["hugepages"],
        "tsc_hz": final.tsc_hz,
        "cpu_ns": final.cpu_ns,
        "resident_max_octets": final.resident_max_octets,
    }


def lcores_document(
    busy: Iterable[tuple[int, float]], times: Iterable[LcoreTime]
) -> list[dict[str, Any]]:
    """For each lcore, how busy it was and what it lost of its CPU; null: not known."""
    shares = dict(busy)
    lost = {time.lcore: time for time in times}
    return [
        {
            "lcore": lcore,
            "busy": shares.get(lcore),
            "cpu_lost": lost[lcore].share if lcore in lost else None,
            "cpu_lost_max_ns": round(lost[lcore].longest_s * _NS_PER_S) if lcore in lost else None,
        }
        for lcore in sorted(shares.keys() | lost.keys())
    ]


def cpu_document(cpu: CpuUse) -> dict[str, Any]:
    """What a run took of its CPUs."""
    return {"share": cpu.share, "lcores": lcores_document(cpu.busy, cpu.times)}


def queues_document(port: Port) -> dict[str, Any]:
    """What each queue did, a Tx queue for all its flows together."""
    sent: dict[int, dict[str, int]] = {}
    for task in port.tx:
        queue = sent.setdefault(
            task.queue,
            {
                "queue": task.queue,
                "lcore": task.lcore,
                "frames": 0,
                "octets": 0,
                "frames_unsent": 0,
            },
        )
        queue["frames"] += task.frames
        queue["octets"] += task.octets
        queue["frames_unsent"] += task.frames_unsent
    received = [
        {
            "queue": queue.queue,
            "lcore": queue.lcore,
            "frames": queue.frames,
            "octets": queue.octets,
            "foreign_frames": queue.foreign_frames,
            "strange_frames": queue.strange_frames,
            "damaged_frames": queue.damaged_frames,
        }
        for queue in port.rx
    ]
    return {"tx_queues": list(sent.values()), "rx_queues": received}


def device_document(device: Device) -> dict[str, Any]:
    """The device's own counters, but for octets: some count the FCS, some do not."""
    words = asdict(device)
    return {word: words[word] for word in words if word not in {"ibytes", "obytes"}}


def placement_document(ready: ReadyPlan, name: str) -> dict[str, Any] | None:
    """The NUMA nodes of a port's lcores and memory, by the engine's name; None: not looked up."""
    placement = ready.placements.get(name)
    return None if placement is None else placement.document()


def lateness_document(late: Percentiles, hz: int) -> dict[str, float | None]:
    """Lateness of the first frame of each burst [ns]."""
    to_ns = 1e9 / hz
    return {
        "p50": None if late.p50 is None else late.p50 * to_ns,
        "p99": None if late.p99 is None else late.p99 * to_ns,
        "max": None if late.p50 is None or late.maximum is None else late.maximum * to_ns,
    }


def load_document(fps: float | None, frame_size: float) -> dict[str, float] | None:
    """A load in frames/s and bit/s of both layers; ``frame_size`` may be a mean."""
    if fps is None:
        return None
    return {"fps": fps, "l1_bps": l1_bps(fps, frame_size), "l2_bps": l2_bps(fps, frame_size)}
