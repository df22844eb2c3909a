# SPDX-License-Identifier: BSD-3-Clause
"""Checks of wirerate's JSON documents that several jobs make.

An emulated lcore now and then loses its CPU for tens of milliseconds. What follows of that, frames
that were due and not sent, and a verdict that says so, is no failure here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.guest.checks import Checks

_OF_EMULATION = (
    *("load not offered", "offered load", "schedule not kept", "time overrun"),
    *("lost its CPU", "clock unsteady"),
)
"""What a verdict may say in a guest whose CPUs are emulated, and late."""
_LOSSES = ("imissed", "ierrors", "oerrors", "rx_nombuf")


def reasons_against(document: dict[str, Any]) -> list[str]:
    """The verdict's reasons, but for those that emulation alone explains."""
    reasons: list[str] = document["verdict"]["reasons"]
    return [reason for reason in reasons if not any(word in reason for word in _OF_EMULATION)]


def check_counts(checks: Checks, document: dict[str, Any]) -> None:
    """Check perf's document of two ports on one wire: counters agree, nothing is lost."""
    ports = document["ports"]
    checks.that(all(port["device"]["link_up"] for port in ports), "links are up")
    for port, other in zip(ports, reversed(ports), strict=True):
        name, device = f"port {port['port']}", port["device"]
        checks.that(port["tx_frames"] > 0, f"{name} sent", f"{port['tx_frames']:,} frames")
        checks.equal(
            f"{name}: the device's opackets are the frames sent",
            device["opackets"],
            port["tx_frames"],
        )
        checks.equal(
            f"{name}: the device's ipackets are the frames received",
            device["ipackets"],
            port["rx_frames"],
        )
        checks.equal(f"{name} received what the other sent", port["rx_frames"], other["tx_frames"])
        size = port["frame_size_octets"]
        checks.equal(f"{name}: octets received", port["rx_octets"], size * port["rx_frames"])
        checks.equal(
            f"{name}: sent and unsent are what was due",
            port["tx_frames"] + port["tx_frames_unsent"],
            port["tx_frames_due"],
        )
        checks.equal(
            f"{name}: the device's losses",
            {loss: device[loss] for loss in _LOSSES},
            dict.fromkeys(_LOSSES, 0),
        )
    checks.equal(
        "the verdict's reasons that emulation does not explain", reasons_against(document), []
    )


def check_came_back(checks: Checks, document: dict[str, Any]) -> None:
    """Check perf's document of measured flows that nothing may lose, change or reorder."""
    for port in document["ports"]:
        name, back, latency = f"port {port['port']}", port["received"], port["latency_ns"]
        checks.equal(
            f"{name}: all that it sent came back",
            (back["frames"], back["lost"]),
            (port["tx_frames"], 0),
        )
        checks.equal(
            f"{name}: duplicated, reordered, misdirected",
            (back["duplicates"], back["reordered"], back["misdirected"]),
            (0, 0, 0),
        )
        in_order = [latency[key] for key in ("min", "p50", "p99", "max")]
        checks.that(
            None not in in_order and in_order == sorted(in_order) and in_order[0] > 0,
            f"{name}: latency has a least, p50, p99 and greatest [ns]",
            in_order,
        )
