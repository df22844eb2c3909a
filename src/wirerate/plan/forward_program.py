# SPDX-License-Identifier: BSD-3-Clause
"""From lanes to what the engine is told: ports, forward, rx and reply tasks.

As docs/design/0002-engine-interface.md and 0005-measurement.md say. The engine knows location
number i as ``p<i>``. Called by the commands `forward` and `reflect`; pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.plan.compile import PortFacts
from wirerate.plan.forward_lanes import lcores_of
from wirerate.plan.location import MIXING
from wirerate.plan.pools import flow_table_octets, rx_pool_octets
from wirerate.plan.port_params import queue_numbers
from wirerate.plan.program import port_name
from wirerate.units import FRAME_SIZE_JUMBO, FRAME_SIZE_ORDINARY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.plan.forward_lanes import Lane
    from wirerate.plan.forward_settings import Capture, ForwardSettings

_REPLY_BURST = 32
LINE_FRAMES = 262_144
"""A delay line's room, for each queue (engine/program/forward_build.c)."""
_LINE_FRAMES_NO_DELAY = 4096
_LINE_ENTRY_OCTETS = 16
_PLAIN_MBUFS = 8192
_DELAY_FPS = 10_000_000
_DELAY_SCALED_MAX_NS = 10_000_000
_NS_PER_S = 1_000_000_000


def default_mbufs(delay_ns: int) -> int:
    """Receive mbufs of a port, which delayed frames stay in: 10 million frames/s for up to 10 ms.

    A longer delay does not get more: it would take gigabytes that nobody asked for.
    """
    return _PLAIN_MBUFS + _DELAY_FPS * min(delay_ns, _DELAY_SCALED_MAX_NS) // _NS_PER_S


def delayed_fps_max(settings: ForwardSettings, queues: int) -> float:
    """What a port of so many Rx queues may receive while all of it is delayed [frames/s]."""
    room = min(settings.mbufs, queues * LINE_FRAMES)
    return room * _NS_PER_S / settings.impairments.delay_ns


def queues_of(lanes: Sequence[Lane], port: int) -> tuple[int, int]:
    """Rx and Tx queues of a port; what it answers is sent on Tx queue 0, see `_replies`."""
    return (
        sum(lane.source == port for lane in lanes),
        sum(lane.target == port for lane in lanes),
    )


def forward_ports(settings: ForwardSettings, lanes: Sequence[Lane]) -> list[dict[str, Any]]:
    """PORT objects of all locations, in order."""
    answering = {host.port for host in settings.addresses}
    ports = []
    for index, location in enumerate(settings.locations):
        rx, tx = queues_of(lanes, index)
        ports.append(
            {
                "name": port_name(index),
                "location": location.text,
                **queue_numbers(location, rx, max(tx, 1) if index in answering else tx),
                "rx_descriptors": settings.rx_descriptors,
                "tx_descriptors": settings.tx_descriptors,
                "mbufs": settings.mbufs,
                "frame_size_max": _frame_size_max(settings),
                "promiscuous": True,
                "one_pool": _sends_of_one_pool(settings, lanes, index),
            }
        )
    return ports


def _sends_of_one_pool(settings: ForwardSettings, lanes: Sequence[Lane], port: int) -> bool:
    """Whether all that a port sends was received on one port; answers are not, rings mix.

    The engine refuses what is not so (engine/program/tx_pools.h).
    """
    sources = {lane.source for lane in lanes if lane.target == port}
    if any(host.port == port for host in settings.addresses) or len(sources) != 1:
        return False
    return settings.locations[sources.pop()].kind not in MIXING


def _frame_size_max(settings: ForwardSettings) -> int:
    return FRAME_SIZE_JUMBO if settings.jumbo else FRAME_SIZE_ORDINARY


def forward_memory_octets(settings: ForwardSettings, lanes: Sequence[Lane]) -> int:
    """What receive mbufs, delay lines and counted flows take, the most that it can be [octets]."""
    total = 0
    for index, location in enumerate(settings.locations):
        queues = max(queues_of(lanes, index))
        size = _frame_size_max(settings)
        total += rx_pool_octets(settings, queues, size, nic=location.needs_pci)
    frames = LINE_FRAMES if settings.impairments.delay_ns else _LINE_FRAMES_NO_DELAY
    return total + len(lanes) * (
        frames * _LINE_ENTRY_OCTETS + flow_table_octets(settings.distinct_max)
    )


def forward_program(
    settings: ForwardSettings,
    lanes: Sequence[Lane],
    infos: Sequence[Mapping[str, Any]],
    tsc_hz: int,
) -> dict[str, Any]:
    """Params of `program.load`; ``infos`` are the PORT_INFOs of all locations, in order."""
    answering = {host.port for host in settings.addresses}
    work_cycles = settings.impairments.work.in_cycles(tsc_hz)
    tasks: dict[int, list[dict[str, Any]]] = {lcore: [] for lcore in lcores_of(lanes)}
    for lane in lanes:
        task = _task(settings, lane, work_cycles)
        if lane.source in answering:
            task["answer"] = True
        tasks[lane.lcore].append(task)
    for port in sorted(answering):
        tasks[_reply_lcore(lanes, port)].append(_reply(settings, port, infos[port]))
    program: dict[str, Any] = {
        "workers": [
            {"lcore": lcore, "sleep_ns": settings.cpu_saver_ns, "tasks": own}
            for lcore, own in tasks.items()
        ],
        "streams": [],
    }
    if settings.captures:
        program["captures"] = [_capture(capture) for capture in settings.captures]
    return program


def _task(settings: ForwardSettings, lane: Lane, work_cycles: int) -> dict[str, Any]:
    task = {"port": port_name(lane.source), "queue": lane.queue, "burst": settings.burst}
    if settings.distinct_max:
        task["distinct_max"] = settings.distinct_max
    if lane.target is None:
        return {"kind": "rx"} | task
    impairments = settings.impairments
    return (
        {"kind": "forward"}
        | task
        | {
            "to_port": port_name(lane.target),
            "to_queue": lane.queue,
            "rewrite": settings.rewrite.value,
            "work_cycles": work_cycles,
            "drop": impairments.drop,
            "duplicate": impairments.duplicate,
            "reorder": impairments.reorder,
            "delay_ns": impairments.delay_ns,
            "seed": impairments.seed,
        }
    )


def _reply_lcore(lanes: Sequence[Lane], port: int) -> int:
    """Who may send on Tx queue 0 of a port: who does already, else who receives there."""
    senders = [lane.lcore for lane in lanes if lane.target == port and lane.queue == 0]
    receivers = [lane.lcore for lane in lanes if lane.source == port and lane.queue == 0]
    return (senders or receivers)[0]


def _reply(settings: ForwardSettings, port: int, info: Mapping[str, Any]) -> dict[str, Any]:
    mac = mac_of(settings, port, info)
    return {
        "kind": "reply",
        "port": port_name(port),
        "queue": 0,
        "burst": _REPLY_BURST,
        "addresses": [
            {"mac": mac, f"ipv{host.address.version}": str(host.address)}
            for host in settings.addresses
            if host.port == port
        ],
    }


def mac_of(settings: ForwardSettings, port: int, info: Mapping[str, Any]) -> str:
    """The Ethernet address that a port answers with: a NIC's own, else a made-up one."""
    own = info["mac"] if settings.locations[port].needs_pci else None
    return PortFacts(port, own, None).mac_octets.hex(":")


def _capture(capture: Capture) -> dict[str, Any]:
    asked = {
        "port": port_name(capture.port),
        "path": capture.path,
        "format": "pcap" if capture.path.endswith(".pcap") else "pcapng",
        "frames": capture.frames,
    }
    return asked | {"filter": capture.filter} if capture.filter else asked
