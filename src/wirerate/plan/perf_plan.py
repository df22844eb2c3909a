# SPDX-License-Identifier: BSD-3-Clause
"""From what `wirerate perf` was asked to what the engine is told.

Two steps, because rates in percent need the line rate that only an open port knows: `port_params`
before, `make_program` after. Both as docs/design/0002-engine-interface.md says. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import EngineRefusedError
from wirerate.plan.frames import make_stream

_PAGE_OCTETS = 4096
#: Beside the frame: object header 64, struct rte_mbuf 128, headroom 128, rounding to cache lines.
_MBUF_OCTETS = 384

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.perf_settings import PerfSettings


@dataclass(frozen=True)
class PortPlan:
    """What one mapped port is to do.

    ``intended_fps`` None = as fast as the device takes frames; ``line_rate_bps`` None = no line.
    """

    index: int
    name: str
    location: str
    rx_lcores: tuple[int, ...]
    tx_lcores: tuple[int, ...]
    line_rate_bps: int | None
    intended_fps: float | None


def port_name(index: int) -> str:
    """The engine's name of port number ``index``."""
    return f"p{index}"


def port_params(settings: PerfSettings, lcore_map: LcoreMap) -> list[dict[str, Any]]:
    """PORT objects for the mapped ports, in order of the map."""
    return [
        {
            "name": port_name(entry.port),
            "location": settings.locations[entry.port].text,
            "rx_queues": len(entry.rx),
            "tx_queues": len(entry.tx),
            "rx_descriptors": settings.rx_descriptors,
            "tx_descriptors": settings.tx_descriptors,
            "mbufs": settings.mbufs,
            "frame_size_max": settings.frame_size_max,
            "promiscuous": settings.promiscuous,
        }
        for entry in lcore_map.ports
    ]


def named_refusal(error: EngineRefusedError, lcore_map: LcoreMap) -> EngineRefusedError:
    """The engine's refusal of a port in the user's words: the port's number, and its map."""
    place = re.match(r"ports\[(\d+)\](\.\w+)?", error.path or "")
    if place is None:
        return error
    entry = lcore_map.ports[int(place[1])]
    text = str(error).removeprefix(f"{error.path}: ")
    if place[2] in {".rx_queues", ".tx_queues"}:
        text = f"{text} {entry.text}"
    text = f"port {entry.port}: {text}"
    return EngineRefusedError(text, path=error.path, errno_name=error.errno_name)


def plan_ports(
    settings: PerfSettings, lcore_map: LcoreMap, infos: Sequence[Mapping[str, Any]]
) -> tuple[PortPlan, ...]:
    """Settle the line rate and the intended load of each open port (same order as the map).

    Raises PlanError when the rate needs a line rate and there is none, or exceeds it.
    """
    plans = []
    for entry, info in zip(lcore_map.ports, infos, strict=True):
        line_rate_bps = settings.line_rate_bps or info["link_speed_bps"]
        fps = settings.rate.to_fps(settings.frame_size, line_rate_bps) if entry.tx else None
        location = settings.locations[entry.port].text
        name = port_name(entry.port)
        plans.append(PortPlan(entry.port, name, location, entry.rx, entry.tx, line_rate_bps, fps))
    return tuple(plans)


def make_program(
    settings: PerfSettings, lcore_map: LcoreMap, ports: Sequence[PortPlan], macs: Mapping[int, str]
) -> dict[str, Any]:
    """Params of `program.load`: one stream per sending port, shared out over its Tx queues."""
    streams = [
        make_stream(
            f"s{port.index}",
            settings.frame_spec(port.index, src_mac=macs.get(port.index)),
            fps=port.intended_fps,
            frames=settings.frames,
        )
        for port in ports
        if port.tx_lcores
    ]
    return {"workers": _workers(settings, lcore_map), "streams": streams}


def _workers(settings: PerfSettings, lcore_map: LcoreMap) -> list[dict[str, Any]]:
    workers = []
    for lcore in lcore_map.lcores:
        tasks = []
        for task in lcore_map.of_lcore(lcore):
            entry: dict[str, Any] = {
                "kind": task.direction,
                "port": port_name(task.port),
                "queue": task.queue,
                # As pktperf: receive up to twice what is sent, so that receiving keeps up.
                "burst": settings.burst if task.direction == "tx" else min(512, 2 * settings.burst),
            }
            if task.direction == "tx":
                parts = len(lcore_map.of_port(task.port).tx)
                entry |= {"stream": f"s{task.port}", "part": task.queue, "parts": parts}
            tasks.append(entry)
        workers.append({"lcore": lcore, "tasks": tasks})
    return workers


def _share_of_page(octets: int) -> int:
    """What an mbuf takes of 4 KiB pages: none lies across two (rte_mempool_get_page_size)."""
    if octets > _PAGE_OCTETS:
        return -(-octets // _PAGE_OCTETS) * _PAGE_OCTETS
    return _PAGE_OCTETS // (_PAGE_OCTETS // octets)


def memory_octets(settings: PerfSettings, lcore_map: LcoreMap) -> int:
    """What the mbufs of all ports take on ordinary pages, the most that it can be [octets]."""
    rx_mbuf = _share_of_page(max(settings.frame_size_max, 2048) + _MBUF_OCTETS)
    tx_mbuf = _share_of_page(settings.frame_size + _MBUF_OCTETS)
    total = 0
    for entry in lcore_map.ports:
        if entry.rx:
            queues = max(len(entry.rx), len(entry.tx))
            total += (settings.mbufs + queues * max(settings.rx_descriptors, 1024)) * rx_mbuf
        # Each part's ring: its share of whole periods, at most flows + a burst (see frame_ring.c).
        total += len(entry.tx) * (settings.flows + max(settings.burst, 64)) * tx_mbuf
    return total
