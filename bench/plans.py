# SPDX-License-Identifier: BSD-3-Clause
"""The traffic of the benchmarks, as plans: the same path from OTG to frames as `wirerate run`."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING, Any

from wirerate.engine.scan import scan_trace
from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_UNPACED = {"percentage": 100}
_PORTS = [{"name": "p0", "location": "null:bench"}]
_IMIX_SIZES = (64,) * 7 + (570,) * 4 + (1518,)


def udp_flow(
    name: str = "f", *, tuples: int = 1, ports: int = 1, size: Any = 64, rate: Any = None
) -> dict[str, Any]:
    """A flow of UDP frames with ``tuples`` sources and ``ports`` source ports, checksums right."""

    def steps(start: Any, count: int) -> dict[str, Any]:
        return {"increment": {"start": start, "step": "0.0.0.1", "count": count}}

    source_port = {"increment": {"start": 1024, "step": 1, "count": ports}}
    return {
        "name": name,
        "tx_rx": {"port": {"tx_name": "p0"}},
        "packet": [
            {
                "ethernet": {
                    "src": {"value": "02:57:52:00:00:00"},
                    "dst": {"value": "02:57:52:01:00:00"},
                }
            },
            {"ipv4": {"src": steps("198.18.0.1", tuples), "dst": {"value": "198.19.0.1"}}},
            {"udp": {"src_port": source_port, "dst_port": {"value": 9}}},
        ],
        "size": {"fixed": size} if isinstance(size, int) else size,
        "rate": rate or _UNPACED,
    }


def imix_flow() -> dict[str, Any]:
    """Seven of 64 octets, four of 570, one of 1518."""
    return udp_flow(size={"weight_pairs": {"predefined": "imix"}})


def mixed_flows(count: int, total_fps: float) -> list[dict[str, Any]]:
    """``count`` flows of different sizes and rates, ``total_fps`` frames/s together."""
    shares = [index + 1 for index in range(count)]
    return [
        udp_flow(
            f"f{index}", size=64 + 60 * index, rate={"pps": int(total_fps * share / sum(shares))}
        )
        for index, share in enumerate(shares)
    ]


def trace_flow(path: Path) -> dict[str, Any]:
    """A capture file, in a loop."""
    return {
        "name": "trace",
        "tx_rx": {"port": {"tx_name": "p0"}},
        "x-wirerate": {"trace": {"file": str(path)}},
        "rate": _UNPACED,
    }


def ramp_of(flows: int) -> list[dict[str, Any]]:
    """Over 65,536 flows in turn, numbered as BiTester does: all ports of an address, then the next.

    All are active from the start; a ramp all the same, with its look at the clock.
    """
    ports = 1 << 16
    (stream,) = streams_of([udp_flow(tuples=-(-flows // ports), ports=ports)])
    address, port = stream["fields"]
    ramp = {"flows": flows, "per_second": 10_000.0, "start": flows}
    return [stream | {"fields": [address | {"every": ports}, port], "ramp": ramp}]


def streams_of(flows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The engine's STREAMs of the flows."""
    plan = decode_plan({"ports": _PORTS, "flows": list(flows)})
    facts = PortFacts(0, None, None)
    return [
        compile_flow(
            flow,
            f"s{index}",
            facts,
            None if flow.trace is None else scan_trace(flow.trace.file),
        ).stream
        for index, flow in enumerate(plan.flows)
    ]


def write_mixed_trace(path: Path, frames: int) -> None:
    """A nanosecond pcap of IPv4 frames of IMIX sizes with random octets, always the same."""
    chance = random.Random(1)  # noqa: S311 -- repeatable, not secret
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for number in range(frames):
            length = chance.choice(_IMIX_SIZES) - 4
            head = bytes.fromhex("025752010000025752000000") + b"\x08\x00"
            octets = head + chance.randbytes(length - len(head))
            seconds, rest = divmod(number * 1000, 10**9)
            file.write(struct.pack("<IIII", seconds, rest, length, length) + octets)
