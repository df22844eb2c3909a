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
    """What a Tx queue does for one stream: a queue that serves several has one of these for each.

    Frames, octets (with FCS), clock readings and cycles, as the engine has them.
    """

    queue: int
    lcore: int
    stream: str
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
    """The device's own counters (rte_eth_stats) since the program was loaded, and its link.

    ``ibytes`` and ``obytes`` are octets as the device counts them, with FCS or without.
    """

    ipackets: int
    opackets: int
    ibytes: int
    obytes: int
    imissed: int
    ierrors: int
    oerrors: int
    rx_nombuf: int
    link_up: bool
    link_changes: int
    resets: int


@dataclass(frozen=True)
class Port:
    """All of one port; by ascending queue, then in the engine's order of streams."""

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
    """Everything at about one time.

    ``now_tsc`` is the latest clock that any worker has seen; ``cpu_ns``, the engine's CPU time
    (getrusage), is that of ``heartbeat_tsc``, at most 100 ms ago.
    """

    tsc_hz: int
    now_tsc: int
    heartbeat_tsc: int
    start_tsc: int
    stop_tsc: int
    cpu_ns: int
    resident_max_octets: int
    ports: tuple[Port, ...]
    workers: tuple[Worker, ...]

    def port(self, name: str) -> Port:
        """The port called name."""
        return next(port for port in self.ports if port.name == name)

    @property
    def sending_until(self) -> int:
        """The clock to which counts belong: now, or when sending ended."""
        queues = [queue for port in self.ports for queue in port.tx]
        end = min(self.now_tsc, self.stop_tsc)
        if queues and all(queue.done for queue in queues):
            end = min(end, max(queue.last_tsc for queue in queues))
        return max(end, self.start_tsc)

    def seconds_since(self, before: Snapshot | None) -> float:
        """The time to which a difference of counts belongs [s]; before None: from the start."""
        start = self.start_tsc if before is None else before.sending_until
        return max(1, self.sending_until - start) / self.tsc_hz


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
        heartbeat_tsc=engine["heartbeat_tsc"],
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
        ibytes=block["ibytes"],
        obytes=block["obytes"],
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
        stream=block.labels["stream"],
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
