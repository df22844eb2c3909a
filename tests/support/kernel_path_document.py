# SPDX-License-Identifier: BSD-3-Clause
"""A made-up document of `wirerate kernel-path` (docs/design/0009-kernel-path.md)."""

from __future__ import annotations

from typing import Any

TESTS = ("tcp_read", "tcp_write", "udp_read", "udp_write")
CPU_PARTS = ("application", "near_iperf", "far_iperf", "machine")
_FRAME_OCTETS = 1518.0


def kernel_path_document(**other: Any) -> dict[str, Any]:
    """Every kind of row: without an engine, measured, with a failed test, failed, cannot run."""
    document = {
        "schema": "wirerate-kernel-path/1",
        "verdict": {
            "valid": False,
            "reasons": ["af_packet, dedicated: the engine died"],
            "notes": ["lcores shared CPUs"],
        },
        "environment": {"started": "2026-01-02T03:04:05.678+00:00"},
        "seconds": 432.1,
        "settings": {
            "groups": ["linux", "tap", "af_packet", "virtio-user", "kni"],
            "modes": ["shared", "dedicated"],
            "repeats": 2,
            "time_s": 3.0,
            "parallel": 1,
            "offloads": False,
            "udp_rate_bps": 0,
            "udp_length": 1470,
            "ipv6": False,
            "fast_path": True,
            "fast_path_work_ns": 5000,
            "cpu_saver": False,
            "setting": "self-contained",
            "real": None,
            "cpus": 2,
        },
        "rows": [
            linux_row(),
            measured_row("tap", "shared", 2.61),
            measured_row("tap", "dedicated", 3.67),
            _with_failed_test(measured_row("af_packet", "shared", 1.04)),
            absent_row("af_packet", "dedicated", "failed", "the engine died <there>"),
            absent_row(
                "virtio-user",
                "shared",
                "cannot run",
                "there is no /dev/vhost-net",
                "modprobe vhost_net",
            ),
            absent_row("kni", "shared", "cannot run", "DPDK 22.11 here is built without net_kni"),
        ],
    }
    return document | other


def stat(value: float) -> dict[str, float]:
    """A median, and repeats around it."""
    return {"median": value, "min": 0.97 * value, "max": 1.02 * value}


def ping(us: float, loss: float = 0.0) -> dict[str, Any]:
    """Replies within so many microseconds."""
    return {
        "sent": 300,
        "received": round(300 * (1 - loss)),
        "loss": loss,
        "p50_us": us,
        "p90_us": 1.5 * us,
        "p99_us": 3 * us,
        "max_us": 4 * us,
    }


def measured_row(group: str, mode: str, gbps: float) -> dict[str, Any]:
    """All of it measured; ``gbps`` of TCP read, the others are a little different."""
    saturated_loss = 0.0 if mode == "dedicated" else 0.42
    return {
        "group": group,
        "mode": mode,
        "status": "ok",
        "reason": "",
        "hint": "",
        "steering": {"by": "software", "reason": "the device has no flow rules"},
        "sleep_ns": 0,
        "verdict": {"valid": True, "reasons": [], "notes": []},
        "tests": {name: _test(name, gbps * (1 + 0.1 * place)) for place, name in enumerate(TESTS)},
        "ping": {
            "idle": ping(40.0),
            **{name: ping(900.0, 0.01) for name in TESTS},
            "saturated": ping(80.0, saturated_loss),
        },
        "fast_path": {
            "idle": _fast(0, 60.0),
            "loaded": _fast(3000, 2100.0),
            "saturated": {"offered_fps": 400_000.0, "forwarded_fps": 183_456.0},
        },
        "limits": ["TCP write: one CPU, the near iperf3 was busy to 99 %"],
    }


def linux_row() -> dict[str, Any]:
    """The kernel's own: no application, no fast path."""
    row = measured_row("linux", "", 9.47)
    for test in row["tests"].values():
        for figures in (test["cpu"]["ns_per_frame"], test["cpu"]["s_per_gb"]):
            figures["application"] = None
        test["cpu"]["application_busy"] = None
    ends: dict[str, Any] = {"steering": None, "sleep_ns": None, "fast_path": None, "limits": []}
    return row | ends | {"ping": row["ping"] | {"saturated": None}}


def absent_row(group: str, mode: str, status: str, reason: str, hint: str = "") -> dict[str, Any]:
    """Nothing measured."""
    return {
        "group": group,
        "mode": mode,
        "status": status,
        "reason": reason,
        "hint": hint,
        "steering": None,
        "sleep_ns": None,
        "verdict": {"valid": False, "reasons": [reason], "notes": []},
        "tests": {},
        "ping": {},
        "fast_path": None,
        "limits": [],
    }


def _with_failed_test(row: dict[str, Any]) -> dict[str, Any]:
    row["tests"]["udp_write"] = {"status": "failed", "reason": "iperf3: unable to connect"}
    row["ping"]["udp_write"] = ping(1.0) | dict.fromkeys(("p50_us", "p90_us", "p99_us", "max_us"))
    row["verdict"] = {"valid": False, "reasons": ["UDP write: iperf3: unable to connect"]} | {
        "notes": ["the ring lost 12 frames"]
    }
    return row


def _test(name: str, gbps: float) -> dict[str, Any]:
    pps = gbps * 1e9 / 8 / _FRAME_OCTETS
    tcp = name.startswith("tcp")
    return {
        "status": "ok",
        "reason": "",
        "gbps": stat(gbps),
        "pps": stat(pps),
        "goodput_of": "receiver",
        "frame_octets": stat(_FRAME_OCTETS),
        "kernel_pps": stat(pps),
        "socket_pps": None if tcp else stat(pps),
        "udp_loss": None if tcp else stat(0.125),
        "retransmits": stat(12.0) if tcp else None,
        "back_pps": stat(pps / 2),
        "cpu": {
            "application_busy": stat(0.75),
            "ns_per_frame": {
                part: stat(500.0 * (place + 1)) for place, part in enumerate(CPU_PARTS[:-1])
            }
            | {"machine": stat(3300.0)},
            "s_per_gb": {part: stat(1.5) for part in CPU_PARTS},
        },
        "repeats": [_repeat(gbps * factor, pps * factor) for factor in (0.97, 1.02)],
    }


def _repeat(gbps: float, pps: float) -> dict[str, Any]:
    return {
        "gbps": gbps,
        "seconds": 3.0,
        "octets": round(gbps * 3e9 / 8),
        "wire_frames": round(3 * pps),
        "wire_octets": round(3 * pps * _FRAME_OCTETS),
        "valid": True,
        "reasons": [],
    }


def _fast(lost: int, us: float) -> dict[str, Any]:
    return {
        "offered_fps": 10_000.0,
        "sent": 30_000,
        "lost": lost,
        "loss": lost / 30_000,
        "p50_us": us,
        "p99_us": 2 * us,
    }
