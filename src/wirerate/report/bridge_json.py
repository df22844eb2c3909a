# SPDX-License-Identifier: BSD-3-Clause
"""The result of `wirerate bridge` for programs: schema wirerate-bridge/1.

Described in docs/bridge.md.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wirerate.report.bridge_text import bridge_shares, lcore_roles
from wirerate.report.parts_json import (
    device_document,
    engine_facts,
    lcores_document,
    verdict_document,
)
from wirerate.trial.cpu_lost import all_times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.trial.bridge import Bridge
    from wirerate.trial.bridge_look import BridgeLook
    from wirerate.trial.bridge_verdict import BridgeEnd

SCHEMA = "wirerate-bridge/1"


def document(bridge: Bridge, end: BridgeEnd, environment: Mapping[str, Any]) -> dict[str, Any]:
    """The whole document; octets count the FCS. ``environment``: `wirerate.host.environment`."""
    shares, roles = bridge_shares(end), lcore_roles(bridge)
    return {
        "schema": SCHEMA,
        "verdict": verdict_document(end.verdict),
        "seconds": end.seconds,
        "settings": _settings(bridge),
        "kernel_interface": bridge.kernel_interface,
        "checksums": "completed" if bridge.completes else "as-is",
        "steering": asdict(bridge.steering),
        "counters": counters_document(end.look),
        "lcores": [
            {"role": roles[found["lcore"]], **found}
            for found in lcores_document(
                {lcore: shares.get(lcore, 0.0) for lcore in roles}.items(), all_times(end.looks)
            )
        ],
        "ports": [
            {
                "port": info["name"],
                "location": info["location"],
                "driver": info["driver"],
                "device": device_document(device),
            }
            for info, (_, device) in zip(bridge.infos, end.devices, strict=True)
        ],
        "engine": engine_facts(bridge.about, end.looks[-1]),
        "environment": dict(environment),
    }


def counters_document(look: BridgeLook) -> dict[str, Any]:
    """The fields of a look, without its time."""
    words = asdict(look)
    del words["at_ns"]
    return words | {"busy_ns": {str(lcore): busy for lcore, busy in look.busy_ns.items()}}


def _settings(bridge: Bridge) -> dict[str, Any]:
    settings = bridge.settings
    return {
        "port": settings.port.text,
        "kernel_port": settings.kernel_port.text,
        "mode": settings.mode.value,
        "addresses": [str(address) for address in settings.addresses],
        "offloads": asdict(settings.offloads),
        "fast_path": settings.fast_path.value,
        "work_cycles": bridge.work_cycles,
        "ring_frames": settings.ring_frames,
        "kernel_queues": settings.kernel_queues,
        "burst": settings.burst,
        "mbufs": settings.mbufs,
        "sleep_ns": bridge.setup.sleep_ns,
    }
