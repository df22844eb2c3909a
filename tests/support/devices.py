# SPDX-License-Identifier: BSD-3-Clause
"""Plans with devices: two hosts, each behind a router of its own port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

EAST_MAC, WEST_MAC = "02:00:00:00:0e:01", "02:00:00:00:0e:02"


def ipv4(name: str, address: str, gateway: str, **more: Any) -> dict[str, Any]:
    """One of ``ipv4_addresses`` (or, with other addresses, of ``ipv6_addresses``)."""
    return {"name": name, "address": address, "gateway": gateway, **more}


def ethernet(name: str, port: str, **more: Any) -> dict[str, Any]:
    """One of ``ethernets``."""
    return {"name": name, "connection": {"port_name": port}, **more}


def device(name: str, *ethernets: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One of ``devices``."""
    return {"name": name, "ethernets": list(ethernets), **more}


def two_hosts() -> list[dict[str, Any]]:
    """Devices d1 on port east and d2 on port west, both with IPv4 and IPv6."""
    return [
        device(
            "d1",
            ethernet(
                "d1.eth",
                "east",
                mac=EAST_MAC,
                ipv4_addresses=[ipv4("d1.4", "10.0.0.2", "10.0.0.1")],
                ipv6_addresses=[ipv4("d1.6", "fd00::2", "fd00::1")],
            ),
        ),
        device(
            "d2",
            ethernet(
                "d2.eth",
                "west",
                mac=WEST_MAC,
                ipv4_addresses=[ipv4("d2.4", "10.0.1.2", "10.0.1.1")],
                ipv6_addresses=[ipv4("d2.6", "fd00:1::2", "fd00:1::1")],
            ),
        ),
    ]


def routed_plan(
    devices: Sequence[dict[str, Any]],
    *,
    tx: Sequence[str] = ("d1",),
    rx: Sequence[str] = ("d2",),
    packet: Sequence[dict[str, Any]] = ({"ethernet": {}}, {"ipv4": {}}, {"udp": {}}),
    locations: Sequence[str] = ("null:east", "null:west"),
    ends: dict[str, Any] | None = None,
    **flow: Any,
) -> dict[str, Any]:
    """Ports east and west, devices, and one flow from ``tx`` to ``rx``."""
    names = {"tx_names": list(tx), "rx_names": list(rx), **(ends or {})}
    return {
        "ports": [
            {"name": name, "location": location}
            for name, location in zip(("east", "west"), locations, strict=True)
        ],
        "devices": list(devices),
        "flows": [
            {
                "name": "f",
                "tx_rx": {"device": names},
                "packet": list(packet),
                "size": {"fixed": 128},
                **flow,
            }
        ],
    }
