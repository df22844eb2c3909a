# SPDX-License-Identifier: BSD-3-Clause
"""From a bridge's settings to what the engine is told: ports, rings and bridge tasks.

As docs/design/0009-kernel-path.md says: three layouts, of which two stand for `dedicated`. The
engine knows the port as ``p0``, the kernel port as ``k0``. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from wirerate.plan.bridge_settings import FastPath, Mode
from wirerate.plan.pools import rx_pool_octets
from wirerate.units import FRAME_SIZE_JUMBO, FRAME_SIZE_ORDINARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.bridge_settings import BridgeSettings

PORT = "p0"
KERNEL = "k0"
KERNEL_RING = "kernel"
FAST_RING = "fast"
_DATA_QUEUE = 0
_KERNEL_QUEUE = 1
_POINTER_OCTETS = 8
_FIFO_FRAMES = 1024
"""Of each Tx queue of a way (engine/worker/bridge_task.h)."""
_TASKS_MAX = 6


class Layout(Enum):
    """Who receives, tells frames apart and passes on what to whom."""

    SHARED = "shared"
    DEVICE = "device"
    """Dedicated: the device gives the kernel's worker a queue of its own."""
    SOFTWARE = "software"
    """Dedicated: the kernel's worker receives, and gives the data path its own."""


@dataclass(frozen=True)
class BridgeLcores:
    """Of the data path and of the kernel port; one lcore may be both."""

    data: int
    kernel: int

    @property
    def used(self) -> tuple[int, ...]:
        """Ascending."""
        return tuple(sorted({self.data, self.kernel}))


@dataclass(frozen=True)
class BridgeFacts:
    """What is known only once ports are open.

    ``queues`` of the port that are received from, ``work_cycles`` of a frame of the fast path,
    ``complete``: the bridge computes the checksums of what the kernel sends; ``sleep_ns`` of the
    workers.
    """

    layout: Layout
    queues: int
    work_cycles: int = 0
    complete: bool = False
    sleep_ns: int = 0


def bridge_ports(settings: BridgeSettings) -> list[dict[str, Any]]:
    """PORT objects of both ports.

    Where both workers use the port, it is opened with two queues each way: the queues of many
    devices come in pairs, and a device may receive on any that it has.
    """
    queues = 2 if settings.two_queues else 1
    return [
        _port(settings, PORT, settings.port.text, queues),
        _port(settings, KERNEL, settings.kernel_port.text, settings.kernel_queues),
    ]


def _port(settings: BridgeSettings, name: str, location: str, queues: int) -> dict[str, Any]:
    port = {
        "name": name,
        "location": location,
        "rx_queues": queues,
        "tx_queues": queues,
        "rx_descriptors": settings.rx_descriptors,
        "tx_descriptors": settings.tx_descriptors,
        "mbufs": settings.mbufs,
        "frame_size_max": _frame_size_max(settings),
        "promiscuous": True,
    }
    asked = settings.offloads
    if asked.checksums or asked.segments:
        port["offloads"] = {"checksums": asked.checksums, "segments": asked.segments}
    return port


def _frame_size_max(settings: BridgeSettings) -> int:
    return FRAME_SIZE_JUMBO if settings.jumbo else FRAME_SIZE_ORDINARY


def bridge_memory_octets(settings: BridgeSettings) -> int:
    """What receive mbufs, rings and FIFOs take, the most that it can be [octets]."""
    pools = sum(
        rx_pool_octets(
            settings, port["rx_queues"], _frame_size_max(settings), nic=location.needs_pci
        )
        for port, location in zip(bridge_ports(settings), settings.locations, strict=True)
    )
    pointers = 2 * settings.ring_frames + 2 * _TASKS_MAX * settings.kernel_queues * _FIFO_FRAMES
    return pools + _POINTER_OCTETS * pointers


def layout_of(settings: BridgeSettings, *, by_device: bool) -> Layout:
    """The layout that a mode comes to; ``by_device``: the device is believed to steer."""
    if settings.mode is Mode.SHARED:
        return Layout.SHARED
    return Layout.DEVICE if by_device else Layout.SOFTWARE


def steer_params(settings: BridgeSettings, *, give: bool) -> dict[str, Any]:
    """Params of `ports.steer`: the kernel's addresses to its queue, or (not ``give``) no rule."""
    rules = [
        {f"ipv{address.version}_dst": str(address), "queue": _KERNEL_QUEUE}
        for address in settings.addresses
    ]
    return {"port": PORT, "rules": rules if give else []}


def bridge_program(
    settings: BridgeSettings, lcores: BridgeLcores, facts: BridgeFacts
) -> dict[str, Any]:
    """Params of `program.load`."""
    tasks = {
        Layout.SHARED: _shared,
        Layout.DEVICE: _by_device,
        Layout.SOFTWARE: _in_software,
    }[facts.layout](settings, facts)
    by_lcore: dict[int, list[dict[str, Any]]] = {}
    for lcore, own in zip((lcores.data, lcores.kernel), tasks, strict=True):
        if own:
            by_lcore.setdefault(lcore, []).extend(own)
    return {
        "rings": [
            {"name": name, "frames": settings.ring_frames}
            for name in (KERNEL_RING, FAST_RING)
            if any(task["from"] == {"ring": name} for own in tasks for task in own)
        ],
        "workers": [
            {"lcore": lcore, "sleep_ns": facts.sleep_ns, "tasks": own}
            for lcore, own in sorted(by_lcore.items())
        ],
        "streams": [],
    }


_Tasks = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""Of the data path's lcore and of the kernel's."""


def _shared(settings: BridgeSettings, facts: BridgeFacts) -> _Tasks:
    to_ring = {"to": {"ring": KERNEL_RING}}
    data = [
        _told_apart(settings, queue, to_ring, _fast_way(settings, facts))
        for queue in range(facts.queues)
    ]
    return data, [_from_ring(settings), *_to_wire(settings, facts)]


def _by_device(settings: BridgeSettings, facts: BridgeFacts) -> _Tasks:
    """What no rule catches (ARP, neighbour discovery) comes to the data path's queue."""
    to_ring = {"to": {"ring": KERNEL_RING}}
    data = _told_apart(settings, _DATA_QUEUE, to_ring, _fast_way(settings, facts))
    steered = _task(settings, {"port": PORT, "queue": _KERNEL_QUEUE}, _kernel_way(settings))
    return [data], [steered, _from_ring(settings), *_to_wire(settings, facts)]


def _in_software(settings: BridgeSettings, facts: BridgeFacts) -> _Tasks:
    to_ring = {"to": {"ring": FAST_RING}}
    receiving = [
        _told_apart(settings, queue, _kernel_way(settings), to_ring)
        for queue in range(facts.queues)
    ]
    kernel = [*receiving, *_to_wire(settings, facts)]
    if not settings.addresses:
        return [], kernel
    return [_task(settings, {"ring": FAST_RING}, _fast_way(settings, facts))], kernel


def _task(settings: BridgeSettings, source: Mapping[str, Any], way: Any) -> dict[str, Any]:
    """A task that sends everything one way."""
    return {"kind": "bridge", "from": dict(source), "burst": settings.burst, "kernel": way}


def _told_apart(settings: BridgeSettings, queue: int, kernel: Any, fast: Any) -> dict[str, Any]:
    """A task that receives from the wire; without addresses everything is the kernel's."""
    task = _task(settings, {"port": PORT, "queue": queue}, kernel)
    if settings.addresses:
        task |= {"addresses": [str(address) for address in settings.addresses], "fast": fast}
    return task


def _from_ring(settings: BridgeSettings) -> dict[str, Any]:
    return _task(settings, {"ring": KERNEL_RING}, _kernel_way(settings))


def _kernel_way(settings: BridgeSettings) -> dict[str, Any]:
    way: dict[str, Any] = {"to": {"port": KERNEL, "queues": [*range(settings.kernel_queues)]}}
    return way | {"segments": "merge"} if settings.offloads.segments else way


def _to_wire(settings: BridgeSettings, facts: BridgeFacts) -> list[dict[str, Any]]:
    """What each queue of the kernel port brings."""
    queue = _KERNEL_QUEUE if settings.two_queues else 0
    way: dict[str, Any] = {"to": {"port": PORT, "queues": [queue]}}
    if facts.complete:
        way["checksums"] = "complete"
    if settings.offloads.segments:
        way["segments"] = "split"
    return [
        _task(settings, {"port": KERNEL, "queue": queue}, way)
        for queue in range(settings.kernel_queues)
    ]


def _fast_way(settings: BridgeSettings, facts: BridgeFacts) -> dict[str, Any]:
    way: dict[str, Any] = {"to": None, "work_cycles": facts.work_cycles}
    if settings.fast_path is FastPath.REFLECT:
        way |= {"to": {"port": PORT, "queues": [_DATA_QUEUE]}, "rewrite": "reverse"}
    return way
