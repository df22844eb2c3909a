# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate flows` for programs: schema wirerate-flows/1, see docs/flows.md.

It is that of `wirerate run` (wirerate-run/1), and what flows have besides.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.report import run_json
from wirerate.report.flows_ends import ends_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.flows_settings import FlowsSettings
    from wirerate.report.flows_ends import Ends, Passed
    from wirerate.report.flows_live import Look
    from wirerate.trial.result import RunResult

SCHEMA = "wirerate-flows/1"


def document(result: RunResult, settings: FlowsSettings, looks: Sequence[Look]) -> dict[str, Any]:
    """The whole document; frames and octets are integers, octets count the FCS."""
    whole = run_json.document(result) | {"schema": SCHEMA}
    del whole["captures"]
    queues = [queue for port in result.final.ports for queue in port.rx]
    return whole | {
        "traffic": _traffic(settings),
        "distinct": {
            "flows": sum(queue.distinct_flows for queue in queues),
            "overflow_frames": sum(queue.distinct_overflow for queue in queues),
            "room_per_queue": settings.distinct_max,
        },
        "ends": _ends(ends_of(result, settings)),
        "series": [_look(look) for look in looks],
    }


def _traffic(settings: FlowsSettings) -> dict[str, Any]:
    traffic = settings.traffic
    return {
        "mode": traffic.mode.value,
        "src_mac": traffic.src_mac,
        "dst_mac": traffic.dst_mac,
        "src_ip": str(traffic.src_ip),
        "dst_ip": str(traffic.dst_ip),
        "src_port": traffic.src_port,
        "dst_port": traffic.dst_port,
        "flow_num": traffic.flow_num,
        "cps": traffic.cps,
        "payload_octets": traffic.payload,
        "frame_size_octets": traffic.frame_size,
        "rx_port": settings.rx_port,
        "tx_port": settings.tx_port,
        "queues": settings.queues,
        "oneway": settings.oneway,
        "ramp": settings.ramped and settings.ramp,
        "ramp_down": settings.ramped and settings.ramp_down,
        "hold_ns": settings.hold_ns,
    }


def _ends(ends: Ends) -> dict[str, Any]:
    return {
        "client_tx": _passed(ends.client_tx),
        "client_rx": _passed(ends.client_rx),
        "server_rx": _passed(ends.server_rx),
        "server_tx": _passed(ends.server_tx),
        "client_cores": ends.client_cores,
        "server_cores": ends.server_cores,
        "server": ends.server,
    }


def _passed(passed: Passed | None) -> dict[str, Any] | None:
    return None if passed is None else asdict(passed)


def _look(look: Look) -> dict[str, Any]:
    late = look.latency
    return {
        "seconds": look.seconds,
        "active_flows": look.active_flows,
        "distinct_flows": look.distinct_flows,
        "tx_fps": sum(queue.fps for queue in look.tx),
        "rx_fps": sum(queue.fps for queue in look.rx),
        "tx_queues": [asdict(queue) for queue in look.tx],
        "rx_queues": [asdict(queue) for queue in look.rx],
        "lcores": [{"lcore": lcore, "busy": busy} for lcore, busy in look.busy],
        "latency_ns": None
        if late is None
        else {
            "count": late.count,
            "mean": late.mean,
            "p50": late.p50,
            "p99": late.p99,
            "p99_9": late.p99_9,
            "max": late.maximum,
        },
    }
