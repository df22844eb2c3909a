# SPDX-License-Identifier: BSD-3-Clause
"""What the two engines of an RSS sweep are told: the generator's load, the forwarder's work. Pure.

The generator has a stream for each queue, with the flows that Toeplitz, key and table give to it,
at its share of the load (docs/design/0008-rss-sweep.md). Where the forwarder's device spreads flows
itself, one stream has them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.plan.compile import PortFacts, compile_flow
from wirerate.plan.decode import decode_plan
from wirerate.plan.program import port_name, stream_name
from wirerate.units import LINE_OVERHEAD_OCTETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.rss_flows import FlowKind
    from wirerate.plan.rss_hash import Rss, RssFlow

_BURST = 32
_ANY_LINE_BPS = 10**14
_DST_MAC = "02:57:52:00:01:00"


@dataclass(frozen=True)
class Generator:
    """The generator's side: ``lcore`` does all; ports are places among its locations.

    ``rx_queues``: of the port that receives; the other has as many as there are shares of flows.
    ``tx_port`` and ``rx_port`` are the same where what is sent comes back. ``dst_mac``: whom frames
    are for.
    """

    lcore: int
    rx_queues: int
    tx_port: int = 0
    rx_port: int = 0
    dst_mac: str = _DST_MAC


def flows_of_queues(flows: Sequence[RssFlow], rss: Rss | None, queues: int) -> list[list[RssFlow]]:
    """The flows that each queue sends; ``rss`` None: the device spreads them, so one sends all."""
    if rss is None:
        return [list(flows)]
    found: list[list[RssFlow]] = [[] for _ in range(queues)]
    for flow in flows:
        found[rss.queue_of(rss.hash_of(flow))].append(flow)
    return found


def load_fps(size: int, line_bps: float | None) -> float | None:
    """All that the line carries of frames of that size [octets, with FCS]; None: no limit."""
    return None if line_bps is None else line_bps / 8 / (size + LINE_OVERHEAD_OCTETS)


def generator_program(
    generator: Generator,
    shares: Sequence[Sequence[RssFlow]],
    kind: FlowKind,
    size: int,
    line_bps: float | None,
) -> dict[str, Any]:
    """Params of `program.load`; ``shares``: the flows of each Tx queue, see `flows_of_queues`."""
    total = sum(map(len, shares))
    fps = load_fps(size, line_bps)
    streams = []
    tasks = [rx_task(generator.rx_port, queue) for queue in range(generator.rx_queues)]
    for queue, flows in enumerate(shares):
        if not flows:
            continue
        name = stream_name(queue)
        own_fps = None if fps is None else fps * len(flows) / total
        streams.append(_stream(name, flows, kind, size, generator.dst_mac) | {"fps": own_fps})
        sent = {"burst": _BURST, "stream": name, "part": 0, "parts": 1}
        tasks.append(_task("tx", generator.tx_port, queue) | sent)
    worker = {"lcore": generator.lcore, "sleep_ns": 0, "tasks": tasks}
    return {"workers": [worker], "streams": streams}


def rx_task(port: int, queue: int) -> dict[str, Any]:
    """A task of the generator that receives."""
    return _task("rx", port, queue) | {"burst": 2 * _BURST}


def _task(kind: str, port: int, queue: int) -> dict[str, Any]:
    return {"kind": kind, "port": port_name(port), "queue": queue}


def _stream(
    name: str, flows: Sequence[RssFlow], kind: FlowKind, size: int, dst_mac: str
) -> dict[str, Any]:
    """The STREAM whose frames are of these flows in turn, made by way of a plan."""
    ip = f"ipv{kind.version}"
    packet: list[dict[str, Any]] = [
        {"choice": "ethernet", "ethernet": {"dst": {"value": dst_mac}}},
        {
            "choice": ip,
            ip: {
                "src": _values(str(flow.source) for flow in flows),
                "dst": _values(str(flow.destination) for flow in flows),
            },
        },
    ]
    layer4 = kind.layer4.value
    if layer4:
        packet.append(
            {
                "choice": layer4,
                layer4: {
                    "src_port": _values(flow.source_port for flow in flows),
                    "dst_port": _values(flow.destination_port for flow in flows),
                },
            }
        )
    document = {
        "ports": [{"name": "p0", "location": "null:0"}],
        "flows": [
            {
                "name": name,
                "tx_rx": {"port": {"tx_name": "p0"}},
                "packet": packet,
                "size": {"fixed": size},
                "rate": {"pps": 1000},
            }
        ],
    }
    (flow,) = decode_plan(document).flows
    return dict(compile_flow(flow, name, PortFacts(0, None, _ANY_LINE_BPS)).stream)


def _values(values: Any) -> dict[str, Any]:
    return {"choice": "values", "values": list(values)}


def forwarder_program(
    lcores: Sequence[int], queues: int, work_cycles: int, ports: Mapping[int, int]
) -> dict[str, Any]:
    """Params of `program.load`: queues are dealt to lcores in turn.

    ``ports``: what is received on one leaves by the other.
    """
    tasks: dict[int, list[dict[str, Any]]] = {lcore: [] for lcore in lcores}
    for source, target in ports.items():
        for queue in range(queues):
            task = _task("forward", source, queue) | {
                "burst": _BURST,
                "to_port": port_name(target),
                "to_queue": queue,
                "rewrite": "none",
                "work_cycles": work_cycles,
            }
            tasks[lcores[queue % len(lcores)]].append(task)
    return {
        "workers": [{"lcore": lcore, "sleep_ns": 0, "tasks": own} for lcore, own in tasks.items()],
        "streams": [],
    }
