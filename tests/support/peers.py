# SPDX-License-Identifier: BSD-3-Clause
"""The other end: testpmd that forwards, a kernel that routes; and plans that measure both."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.host import CPUS, run, testpmd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def measured_plan(
    file: Path,
    locations: Sequence[str],
    *,
    frames: int,
    pps: int,
    receiver: int = -1,
    size: int = 100,
    packet: Sequence[dict[str, Any]] = (),
    flows: int = 1,
) -> str:
    """Write a plan: flows from the first location to the receiver's, every frame measured.

    ``frames`` and ``pps`` are those of each flow.
    """
    names = [f"p{index}" for index in range(len(locations))]
    headers = list(packet) or [
        {"choice": "ethernet"},
        {"choice": "ipv4", "ipv4": {"src": _value("10.1.0.2"), "dst": _value("10.2.0.2")}},
        {"choice": "udp", "udp": {"dst_port": {"increment": {"start": 1000, "count": 64}}}},
    ]
    document = {
        "ports": [
            {"name": name, "location": location}
            for name, location in zip(names, locations, strict=True)
        ],
        "flows": [
            {
                "name": f"f{number}",
                "tx_rx": {"port": {"tx_name": names[0], "rx_names": [names[receiver]]}},
                "packet": headers,
                "size": {"fixed": size},
                "rate": {"pps": pps},
                "duration": {"fixed_packets": {"packets": frames}},
                "metrics": {"enable": True, "loss": True, "latency": {"enable": True}},
            }
            for number in range(flows)
        ],
    }
    file.write_text(json.dumps(document))
    return str(file)


def _value(text: str) -> dict[str, str]:
    return {"value": text}


@contextmanager
def forwarding_testpmd(
    devices: Sequence[str], mode: str, memory: str = "ordinary"
) -> Iterator[None]:
    """A testpmd that forwards between its devices, or back out of the only one, until the end."""
    eal = ["--lcores", f"0@{CPUS[-1]},1@{CPUS[0]}", "-m", "256"]
    eal += ["--no-huge" if memory == "ordinary" else "--single-file-segments"]
    words = [f"--forward-mode={mode}", "--total-num-mbufs=16384"]
    words += ["--port-topology=loop"] if len(devices) == 1 else []
    with testpmd(devices, eal, *words) as terminal:
        os.write(terminal, b"start\n")
        yield


@dataclass(frozen=True)
class Router:
    """A kernel that routes between two wires: its namespace, our ends, and the way in to them."""

    routes: str
    inside: tuple[str, ...]
    left: str
    right: str


@contextmanager
def kernel_router() -> Iterator[Router]:
    """Our ends in one namespace, the router in another: 10.1.0.0/24, fd01::/64 and 10.2, fd02."""
    ours, routes = f"wr-{secrets.token_hex(4)}", f"wr-{secrets.token_hex(4)}"
    run("ip", "netns", "add", ours)
    run("ip", "netns", "add", routes)
    try:
        for number, name in enumerate(("wr-left", "wr-right"), start=1):
            far = f"wr-far{number}"
            run("ip", "-n", ours, "link", "add", name, "type", "veth", "peer", far)
            run("ip", "-n", ours, "link", "set", far, "netns", routes)
            _quiet(ours, name)
            run("ip", "-n", ours, "link", "set", name, "arp", "off", "up")
            ip = ("ip", "-n", routes)
            run(*ip, "addr", "add", f"10.{number}.0.1/24", "dev", far)
            run(*ip, "-6", "addr", "add", f"fd0{number}::1/64", "dev", far, "nodad")
            run(*ip, "link", "set", far, "up")
        for setting in ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"):
            run("ip", "netns", "exec", routes, "sysctl", "-qw", setting)
        yield Router(routes, ("ip", "netns", "exec", ours), "wr-left", "wr-right")
    finally:
        run("ip", "netns", "del", ours)
        run("ip", "netns", "del", routes)


def _quiet(namespace: str, name: str) -> None:
    """Let the kernel send nothing of its own on an interface that is ours."""
    setting = f"net.ipv6.conf.{name}.disable_ipv6=1"
    run("ip", "netns", "exec", namespace, "sysctl", "-qw", setting)
