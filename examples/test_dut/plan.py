# SPDX-License-Identifier: BSD-3-Clause
"""The traffic: a plan in the language of docs/run.md, as a dict."""

from __future__ import annotations

from typing import Any


def plan(port_a: str, port_b: str, rate_pps: int, frame_size: int = 128) -> dict[str, Any]:
    """Two measured flows, one in each direction; ``frame_size`` [octets, with FCS]."""
    return {
        "ports": [{"name": "a", "location": port_a}, {"name": "b", "location": port_b}],
        "flows": [
            flow("there", "a", "b", rate_pps, frame_size),
            flow("back", "b", "a", rate_pps, frame_size),
        ],
    }


def flow(name: str, source: str, target: str, rate_pps: int, frame_size: int) -> dict[str, Any]:
    """UDP from a hundred hosts, each frame of which is measured."""
    return {
        "name": name,
        "tx_rx": {"port": {"tx_name": source, "rx_names": [target]}},
        "packet": [
            {"ethernet": {"dst": {"value": "02:00:00:00:00:01"}}},
            {
                "ipv4": {
                    "src": {"increment": {"start": "198.18.0.1", "count": 100}},
                    "dst": {"value": "198.19.0.1"},
                }
            },
            {"udp": {"dst_port": {"value": 9}}},
        ],
        "size": {"fixed": frame_size},
        "rate": {"pps": rate_pps},
        "metrics": {"enable": True},
    }
