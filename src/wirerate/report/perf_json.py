# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate perf` for programs: schema wirerate-perf/1, described in docs/perf.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.units import l1_bps, l2_bps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.trial.result import Percentiles, PortResult
    from wirerate.trial.snapshot import Port, Snapshot
    from wirerate.trial.verdict import Verdict

SCHEMA = "wirerate-perf/1"


def document(
    results: Sequence[PortResult],
    verdict: Verdict,
    final: Snapshot,
    infos: Mapping[str, Mapping[str, Any]],
    engine: Mapping[str, Any],
) -> dict[str, Any]:
    """The whole document; frames and octets are integers, octets count the FCS."""
    return {
        "schema": SCHEMA,
        "verdict": {
            "valid": verdict.valid,
            "reasons": list(verdict.reasons),
            "notes": list(verdict.notes),
        },
        "ports": [
            _port(result, final.port(result.plan.name), infos[result.plan.name], final.tsc_hz)
            for result in results
        ],
        "engine": {
            "version": engine["version"],
            "dpdk": engine["dpdk"],
            "transmit_link": engine["transmit"],
            "hugepages": engine["hugepages"],
            "tsc_hz": final.tsc_hz,
            "cpu_ns": final.cpu_ns,
            "resident_max_octets": final.resident_max_octets,
        },
    }


def _load(fps: float | None, frame_size: int) -> dict[str, float] | None:
    if fps is None:
        return None
    return {"fps": fps, "l1_bps": l1_bps(fps, frame_size), "l2_bps": l2_bps(fps, frame_size)}


def _cycles(value: Percentiles) -> dict[str, float | None]:
    return {"p50": value.p50, "p99": value.p99}


def _port(result: PortResult, port: Port, info: Mapping[str, Any], hz: int) -> dict[str, Any]:
    late = result.lateness_cycles
    to_ns = 1e9 / hz
    return {
        "port": result.plan.index,
        "location": result.plan.location,
        "driver": info["driver"],
        "mac": info["mac"],
        "line_rate_bps": result.plan.line_rate_bps,
        "frame_size_octets": result.frame_size,
        "seconds": result.seconds,
        "intended_load": _load(result.intended_fps, result.frame_size),
        "offered_load": _load(result.offered_fps, result.frame_size),
        "forwarding_rate": _load(result.forwarding_fps, result.frame_size),
        "tx_frames_due": result.frames_due,
        "tx_frames": result.tx_frames,
        "tx_octets": result.tx_octets,
        "tx_frames_unsent": result.tx_frames_unsent,
        "tx_bursts_short": result.tx_bursts_short,
        "rx_frames": result.rx_frames,
        "rx_octets": result.rx_octets,
        "cycles_per_frame": result.cycles_per_frame,
        "tx_burst_cycles": _cycles(result.burst_cycles),
        "pacing_error_ns": {
            "p50": None if late.p50 is None else late.p50 * to_ns,
            "p99": None if late.p99 is None else late.p99 * to_ns,
            "max": None if late.p50 is None or late.maximum is None else late.maximum * to_ns,
        },
        "tx_queues": [
            {
                "queue": queue.queue,
                "lcore": queue.lcore,
                "frames": queue.frames,
                "octets": queue.octets,
                "frames_unsent": queue.frames_unsent,
            }
            for queue in port.tx
        ],
        "rx_queues": [
            {
                "queue": queue.queue,
                "lcore": queue.lcore,
                "frames": queue.frames,
                "octets": queue.octets,
            }
            for queue in port.rx
        ],
        "device": asdict(port.device),
    }
