# SPDX-License-Identifier: BSD-3-Clause
"""One look at all counters of a running or finished program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.engine.counters import Block, Counters, Histogram

TX_DONE = 2
WORKER_STOPPED = 2


@dataclass(frozen=True)
class TxQueue:
    """A Tx queue: frames, octets (with FCS), clock readings and cycles, as the engine has them."""

    queue: int
    lcore: int
    frames: int
    octets: int
    frames_unsent: int
    frames_due: int
    bursts_short: int
    busy_cycles: int
    first_tsc: int
    last_tsc: int
    lateness_max_cycles: int
    done: bool
    burst_cycles: Histogram
    lateness_cycles: Histogram


@dataclass(frozen=True)
class RxQueue:
    """An Rx queue: frames and octets (with FCS)."""

    queue: int
    lcore: int
    frames: int
    octets: int
    busy_cycles: int
    first_frames: int
    first_tsc: int
    last_tsc: int


@dataclass(frozen=True)
class Device:
    """The device's own counters (rte_eth_stats) since the program was loaded, and its link."""

    ipackets: int
    opackets: int
    imissed: int
    ierrors: int
    oerrors: int
    rx_nombuf: int
    link_up: bool
    link_changes: int
    resets: int


@dataclass(frozen=True)
class Port:
    """All of one port; queues in ascending order."""

    name: str
    rx: tuple[RxQueue, ...]
    tx: tuple[TxQueue, ...]
    device: Device

    @property
    def rx_frames(self) -> int:
        """Over all Rx queues."""
        return sum(queue.frames for queue in self.rx)

    @property
    def tx_frames(self) -> int:
        """Over all Tx queues."""
        return sum(queue.frames for queue in self.tx)

    @property
    def tx_frames_unsent(self) -> int:
        """Over all Tx queues."""
        return sum(queue.frames_unsent for queue in self.tx)


@dataclass(frozen=True)
class Worker:
    """A worker's clock and the gaps in it."""

    lcore: int
    now_tsc: int
    stalls: int
    stall_max_cycles: int
    stopped: bool


@dataclass(frozen=True)
class Snapshot:
    """Everything at about one time; ``now_tsc`` is the latest clock that any worker has seen."""

    tsc_hz: int
    now_tsc: int
    start_tsc: int
    stop_tsc: int
    cpu_ns: int
    resident_max_octets: int
    ports: tuple[Port, ...]
    workers: tuple[Worker, ...]

    def port(self, name: str) -> Port:
        """The port called name."""
        return next(port for port in self.ports if port.name == name)


def transmission_done(counters: Counters) -> bool:
    """All tx tasks have ended; True when there are none."""
    return all(block["state"] == TX_DONE for block in counters.of_kind("tx"))


def take(counters: Counters) -> Snapshot:
    """Read the whole segment."""
    engine = counters.engine
    workers = tuple(_worker(block) for block in counters.of_kind("worker"))
    tx, rx = counters.of_kind("tx"), counters.of_kind("rx")
    return Snapshot(
        tsc_hz=counters.tsc_hz,
        now_tsc=max((worker.now_tsc for worker in workers), default=0),
        start_tsc=engine["start_tsc"],
        stop_tsc=engine["stop_tsc"],
        cpu_ns=engine["user_ns"] + engine["system_ns"],
        resident_max_octets=engine["resident_max_octets"],
        ports=tuple(_port(block, rx, tx) for block in counters.of_kind("port")),
        workers=workers,
    )


def _worker(block: Block) -> Worker:
    return Worker(
        lcore=block.labels["lcore"],
        now_tsc=block["now_tsc"],
        stalls=block["stalls"],
        stall_max_cycles=block["stall_max_cycles"],
        stopped=block["state"] == WORKER_STOPPED,
    )


def _port(block: Block, rx: Sequence[Block], tx: Sequence[Block]) -> Port:
    name = block.labels["port"]
    received = [_rx_queue(queue) for queue in rx if queue.labels["port"] == name]
    sent = [_tx_queue(queue) for queue in tx if queue.labels["port"] == name]
    device = Device(
        ipackets=block["ipackets"],
        opackets=block["opackets"],
        imissed=block["imissed"],
        ierrors=block["ierrors"],
        oerrors=block["oerrors"],
        rx_nombuf=block["rx_nombuf"],
        link_up=bool(block["link_up"]),
        link_changes=block["link_changes"],
        resets=block["resets"],
    )
    received.sort(key=lambda queue: queue.queue)
    sent.sort(key=lambda queue: queue.queue)
    return Port(name, tuple(received), tuple(sent), device)


def _rx_queue(block: Block) -> RxQueue:
    return RxQueue(
        queue=block.labels["queue"],
        lcore=block.labels["lcore"],
        frames=block["frames"],
        octets=block["octets"],
        busy_cycles=block["busy_cycles"],
        first_frames=block["first_frames"],
        first_tsc=block["first_tsc"],
        last_tsc=block["last_tsc"],
    )


def _tx_queue(block: Block) -> TxQueue:
    return TxQueue(
        queue=block.labels["queue"],
        lcore=block.labels["lcore"],
        frames=block["frames"],
        octets=block["octets"],
        frames_unsent=block["frames_unsent"],
        frames_due=block["frames_due"],
        bursts_short=block["bursts_short"],
        busy_cycles=block["busy_cycles"],
        first_tsc=block["first_tsc"],
        last_tsc=block["last_tsc"],
        lateness_max_cycles=block["lateness_max_cycles"],
        done=block["state"] == TX_DONE,
        burst_cycles=block.histogram("burst_cycles"),
        lateness_cycles=block.histogram("lateness_cycles"),
    )
