# SPDX-License-Identifier: BSD-3-Clause
"""A made-up document of `wirerate rss` (docs/design/0008-rss-sweep.md)."""

from __future__ import annotations

from typing import Any

HZ = 2.5e9
LINE_BPS = 10**10
QUEUES, WORKS, SIZES = (1, 2, 4), (100, 200, 300, 400), (64, 128, 256, 512, 1024)


def rss_document(**other: Any) -> dict[str, Any]:
    """All cells of a sweep on two CPUs; one of them failed."""
    cells = [
        _cell(queues, work, size) for work in (*WORKS, None) for queues in QUEUES for size in SIZES
    ]
    cells[7] = _failed(cells[7], "the peer <left>")
    document = {
        "schema": "wirerate-rss/1",
        "verdict": {"valid": True, "reasons": [], "notes": ["4 queues share CPUs"]},
        "environment": {"started": "2026-01-02T03:04:05.678+00:00"},
        "settings": {
            "queues": list(QUEUES),
            "work": list(WORKS),
            "sizes": list(SIZES),
            "work_unit": "cycles",
            "line_rate_bps": LINE_BPS,
            "flows": 1024,
        },
        "rss": {
            "key": "6d5a",
            "fields": ["ipv4-udp"],
            "reta": [0, 1, 2, 3],
            "spread": "even",
            "placed_by": "generator",
            "per_queue_flows": [
                {"queues": n, "flows": [1024 // n] * n, "max_over_mean": 1.0, "jain": 1.0}
                for n in QUEUES
            ],
        },
        "cells": cells,
        "fits": [
            {"queues": n, "a_cycles": 80.0, "b": 1.01, "residual": 0.01, "points": 4}
            for n in QUEUES
        ],
    }
    return document | other


def _cell(queues: int, work: int | None, size: int) -> dict[str, Any]:
    cost = 80.0 + (work or 0)
    able, line = queues * HZ / cost, LINE_BPS / 8 / (size + 20)
    fps = min(able, line)
    one = min(HZ / cost, line)
    return {
        "queues": queues,
        "work": work,
        "size": size,
        "status": "ok",
        "reason": "",
        "shared_cores": queues > 1,
        "trials": [],
        "forwarding_fps": _spread(fps),
        "l1_mbps": _spread(fps * (size + 20) * 8 / 1e6),
        "loss_ratio": _spread(1 - fps / line),
        "cycles_per_frame": cost,
        "binds": "line" if fps == line else "forwarder",
        "speed_up": fps / one,
        "efficiency": fps / one / queues,
    }


def _spread(value: float) -> dict[str, float]:
    return {"median": value, "min": 0.97 * value, "max": 1.02 * value}


def _failed(cell: dict[str, Any], reason: str) -> dict[str, Any]:
    measured = ("forwarding_fps", "l1_mbps", "loss_ratio", "cycles_per_frame", "speed_up")
    nothing = dict.fromkeys((*measured, "efficiency"))
    return cell | nothing | {"status": "failed", "reason": reason, "binds": "unknown"}
