# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate run` for programs: schema wirerate-run/1, described in docs/run.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.report.parts_json import (
    cpu_document,
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
from wirerate.report.run_text import mean_size

if TYPE_CHECKING:
    from wirerate.trial.result import FlowResult, PortResult, RunResult

SCHEMA = "wirerate-run/1"


def document(result: RunResult) -> dict[str, Any]:
    """The whole document; frames and octets are integers, octets count the FCS."""
    return {
        "schema": SCHEMA,
        "verdict": verdict_document(result.verdict),
        "environment": dict(result.environment),
        "flows": [_flow(flow, result) for flow in result.flows],
        "total": total_document(result),
        "ports": [_port(port, result) for port in result.ports],
        "captures": [
            {"path": capture["path"], "frames": capture["frames"]} for capture in result.captures
        ],
        "cpu": cpu_document(result.cpu),
        "engine": engine_document(result),
        **peer_part(result),
    }


def _flow(flow: FlowResult, result: RunResult) -> dict[str, Any]:
    plan = flow.plan
    return {
        "name": plan.label,
        "port": result.ready.plan.ports[plan.port].name,
        "frame_size_octets": mean_size(flow),
        "frames": plan.frames,
        "seconds": flow.seconds,
        "intended_load": load_document(plan.intended_fps, plan.mean_size),
        "offered_load": load_document(flow.offered_fps, mean_size(flow)),
        "per_cpu_second_fps": flow.per_cpu_second_fps,
        "tx_frames_due": flow.frames_due,
        "tx_frames": flow.tx_frames,
        "tx_octets": flow.tx_octets,
        "tx_frames_unsent": flow.tx_frames_unsent,
        "tx_bursts_short": flow.tx_bursts_short,
        "pacing_error_ns": lateness_document(flow.lateness_cycles, result.final.tsc_hz),
        **flow_document(flow.received),
    }


def _port(port: PortResult, result: RunResult) -> dict[str, Any]:
    info = result.ready.infos[port.plan.name]
    size = port.rx_octets / port.rx_frames if port.rx_frames else 0.0
    counted = result.final.port(port.plan.name)
    return {
        "port": port.plan.index,
        "name": result.ready.plan.ports[port.plan.index].name,
        "location": port.plan.location,
        "driver": info["driver"],
        "mac": info["mac"],
        **device_facts(info, counted),
        "placement": placement_document(result.ready, port.plan.name),
        "line_rate_bps": port.plan.line_rate_bps,
        "seconds": port.seconds,
        "tx_frames": port.tx_frames,
        "tx_octets": port.tx_octets,
        "tx_frames_unsent": port.tx_frames_unsent,
        "cycles_per_frame": port.cycles_per_frame,
        "rx_frames": port.rx_frames,
        "rx_octets": port.rx_octets,
        "forwarding_rate": load_document(port.forwarding_fps, size),
        "replies": replies_document(counted),
        **queues_document(counted),
        "device": asdict(port.device),
    }
