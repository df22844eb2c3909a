# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate forward` and `reflect` for programs: schema wirerate-forward/1.

Described in docs/forward.md.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.plan.forward_program import mac_of
from wirerate.plan.program import port_name
from wirerate.report.parts_json import (
    device_document,
    engine_facts,
    lcores_document,
    load_document,
    verdict_document,
)
from wirerate.trial.forward_result import busy_share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.forward_settings import ForwardSettings
    from wirerate.trial.forward_result import ForwardResult, LaneResult, WayResult
    from wirerate.trial.forward_snapshot import LaneCounts

SCHEMA = "wirerate-forward/1"


def document(result: ForwardResult, environment: Mapping[str, Any]) -> dict[str, Any]:
    """The whole document; frames and octets are integers, octets count the FCS.

    ``environment``: see `wirerate.host.environment`.
    """
    ready = result.ready
    return {
        "schema": SCHEMA,
        "command": ready.settings.command,
        "verdict": verdict_document(result.verdict),
        "seconds": result.seconds,
        "settings": _settings(ready.settings, ready.work_cycles),
        "ways": [_way(way, result) for way in result.ways],
        "total": _counts(result.total),
        "cpu": {
            "utilisation": sum(busy for _, busy in result.busy),
            "lcores": lcores_document(result.busy, result.times),
        },
        "ports": [_port(index, result) for index in range(len(ready.settings.locations))],
        "captures": [
            {"port": capture.port, "path": capture.path, "frames": result.captured[capture.path]}
            for capture in ready.settings.captures
            if capture.path in result.captured
        ],
        "engine": engine_facts(ready.about, result.final.base),
        "environment": dict(environment),
    }


def _settings(settings: ForwardSettings, work_cycles: int) -> dict[str, Any]:
    impairments = settings.impairments
    return {
        "rewrite": settings.rewrite.value,
        "work_cycles": work_cycles,
        "drop": impairments.drop,
        "duplicate": impairments.duplicate,
        "reorder": impairments.reorder,
        "delay_ns": impairments.delay_ns,
        "seed": impairments.seed,
        "distinct_max": settings.distinct_max,
        "burst": settings.burst,
        "mbufs": settings.mbufs,
    }


def _way(way: WayResult, result: ForwardResult) -> dict[str, Any]:
    counts = way.counts
    fps = None if way.seconds is None else counts.rx_frames / way.seconds
    size = counts.rx_octets / counts.rx_frames if counts.rx_frames else 0.0
    return {
        "port": way.way.source,
        "to_port": way.way.target,
        **_counts(counts),
        "busy": way.busy,
        "active_seconds": way.seconds,
        "received_load": load_document(fps, size),
        "queues": [_queue(lane, result) for lane in way.lanes],
    }


def _queue(lane: LaneResult, result: ForwardResult) -> dict[str, Any]:
    cycles = result.seconds * result.final.tsc_hz
    return {
        "queue": lane.lane.queue,
        "lcore": lane.lane.lcore,
        **_counts(lane.counts),
        "busy": busy_share(lane.counts, [lane], cycles),
    }


def _counts(counts: LaneCounts) -> dict[str, int]:
    return {name: value for name, value in asdict(counts).items() if not name.endswith("_tsc")}


def _port(index: int, result: ForwardResult) -> dict[str, Any]:
    ready, name = result.ready, port_name(index)
    info = ready.infos[index]
    hosts = [str(host.address) for host in ready.settings.addresses if host.port == index]
    answers = result.final.answers.get(name)
    return {
        "port": index,
        "location": str(ready.settings.locations[index]),
        "driver": info["driver"],
        "mac": mac_of(ready.settings, index, info) if hosts else info["mac"],
        "addresses": hosts,
        "answers": None if answers is None else asdict(answers),
        "socket_drops": result.final.base.port(name).device.socket_drops,
        "device": device_document(result.final.base.port(name).device),
    }
