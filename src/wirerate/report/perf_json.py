# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate perf` for programs: schema wirerate-perf/1, described in docs/perf.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.report.parts_json import (
    cpu_document,
    device_document,
    engine_document,
    lateness_document,
    load_document,
    placement_document,
    queues_document,
    verdict_document,
)
from wirerate.report.parts_measured import (
    device_facts,
    flow_document,
    replies_document,
    total_document,
)
from wirerate.report.parts_peer import peer_part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.trial.result import Percentiles, PortResult, RunResult
    from wirerate.trial.snapshot import Port

SCHEMA = "wirerate-perf/1"


def document(result: RunResult, frame_size: int) -> dict[str, Any]:
    """The whole document; frames and octets are integers, octets count the FCS."""
    final = result.final
    infos = result.ready.infos
    back = {flow.plan.port: flow.received for flow in result.flows}
    return {
        "schema": SCHEMA,
        "verdict": verdict_document(result.verdict),
        "environment": dict(result.environment),
        "ports": [
            _port(port, frame_size, final.port(port.plan.name), infos[port.plan.name], final.tsc_hz)
            | flow_document(back.get(port.plan.index))
            | {"placement": placement_document(result.ready, port.plan.name)}
            for port in result.ports
        ],
        "total": total_document(result),
        "cpu": cpu_document(result.cpu),
        "engine": engine_document(result),
        **peer_part(result),
    }


def _cycles(value: Percentiles) -> dict[str, float | None]:
    return {"p50": value.p50, "p99": value.p99}


def _port(
    result: PortResult, frame_size: int, port: Port, info: Mapping[str, Any], hz: int
) -> dict[str, Any]:
    return {
        "port": result.plan.index,
        "location": result.plan.location,
        "driver": info["driver"],
        "mac": info["mac"],
        **device_facts(info, port),
        "line_rate_bps": result.plan.line_rate_bps,
        "frame_size_octets": frame_size,
        "seconds": result.seconds,
        "intended_load": load_document(result.intended_fps, frame_size),
        "offered_load": load_document(result.offered_fps, frame_size),
        "per_cpu_second_fps": result.per_cpu_second_fps,
        "forwarding_rate": load_document(result.forwarding_fps, frame_size),
        "tx_frames_due": result.frames_due,
        "tx_frames": result.tx_frames,
        "tx_octets": result.tx_octets,
        "tx_frames_unsent": result.tx_frames_unsent,
        "tx_bursts_short": result.tx_bursts_short,
        "rx_frames": result.rx_frames,
        "rx_octets": result.rx_octets,
        "cycles_per_frame": result.cycles_per_frame,
        "tx_burst_cycles": _cycles(result.burst_cycles),
        "pacing_error_ns": lateness_document(result.lateness_cycles, hz),
        "replies": replies_document(port),
        **queues_document(port),
        "device": device_document(port.device),
    }
