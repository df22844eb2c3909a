# SPDX-License-Identifier: BSD-3-Clause
"""One look at all counters of a running or finished program."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wirerate.engine.counters import Block, Counters, Histogram

TX_DONE = 2
WORKER_STOPPED = 2


@dataclass(frozen=True)
class TxQueue:
    """What a Tx queue does for one stream: a queue that serves several has one of these for each.

    Frames, octets (with FCS), clock readings and cycles, as the engine has them. ``active_flows``
    are those of a ramp at the last burst, 0 without one.
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
    active_flows: int = 0


@dataclass(frozen=True)
class RxQueue:
    """An Rx queue: frames and octets (with FCS).

    Of a queue that measures, ``foreign_frames`` have no stamp, ``strange_frames`` one of a stream
    that is not this program's; ``damaged_frames`` have a wrong checksum or length.
    Of frames of flows, ``own_times`` arrived by the device's time, ``bad_times`` have none of use.
    ``distinct_flows`` are the 5-tuples it has seen, where it counts them, ``distinct_overflow``
    frames of flows for which there was no room.
    """

    queue: int
    lcore: int
    frames: int
    octets: int
    busy_cycles: int
    first_frames: int
    first_tsc: int
    last_tsc: int
    foreign_frames: int
    strange_frames: int
    damaged_frames: int
    own_times: int = 0
    bad_times: int = 0
    distinct_flows: int = 0
    distinct_overflow: int = 0


@dataclass(frozen=True)
class FlowQueue:
    """What an Rx queue has received of one part of a measured stream.

    The words are those of docs/design/0005-measurement.md; a frame may be ``too_late`` to know
    whether it is a duplicate, or one of the ``copies`` that another queue received before. Of
    ``impossible`` frames nothing else is counted. ``latency_cycles`` is None in a snapshot that
    leaves it out.
    """

    queue: int
    lcore: int
    stream: str
    frames: int
    octets: int
    duplicates: int
    reordered: int
    too_late: int
    copies: int
    impossible: int
    first_tsc: int
    last_tsc: int
    latency_count: int
    latency_min_cycles: int
    latency_max_cycles: int
    latency_sum_cycles: int
    ipdv_sum_cycles: int
    latency_cycles: Histogram | None


@dataclass(frozen=True)
class Replies:
    """What a port has answered as a host: frames and octets (with FCS) sent, answers by kind."""

    lcore: int
    frames: int
    octets: int
    arp: int
    neighbors: int
    echoes: int
    not_taken: int
    overflowed: int
    busy_cycles: int


@dataclass(frozen=True)
class Device:
    """The device's own counters (rte_eth_stats) since the program was loaded, and its link.

    ``ibytes`` and ``obytes`` are octets as the device counts them, with FCS or without.
    ``socket_drops`` are frames that the kernel dropped at the device's sockets. Of ``ipackets``,
    ``drained_frames`` were read after the workers had stopped, and as many as ``uncertain_frames``
    may be in it or not: they arrived while the device's counters were read.
    ``pause_frames`` are those received by which the link partner asked the port to wait.
    """

    ipackets: int
    opackets: int
    ibytes: int
    obytes: int
    imissed: int
    ierrors: int
    oerrors: int
    rx_nombuf: int
    socket_drops: int
    pause_frames: int
    link_up: bool
    link_changes: int
    resets: int
    drained_frames: int = 0
    uncertain_frames: int = 0


@dataclass(frozen=True)
class Port:
    """All of one port; by ascending queue, then in the engine's order of streams.

    ``flows``: what it has received of measured streams. ``replies`` None = it answers nothing.
    """

    name: str
    rx: tuple[RxQueue, ...]
    tx: tuple[TxQueue, ...]
    device: Device
    flows: tuple[FlowQueue, ...] = ()
    replies: Replies | None = None

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
    """A worker's clock, the gaps in it, and what it had of its CPU.

    ``cpu_lost_ns`` is time in which it had none, from ``began_ns`` to ``sampled_ns`` (at most
    100 ms ago), ``cpu_lost_max_ns`` the longest such gap; see `wirerate.trial.cpu_lost`.
    """

    lcore: int
    now_tsc: int
    stalls: int
    stall_cycles: int
    stall_max_cycles: int
    began_ns: int
    sampled_ns: int
    cpu_lost_ns: int
    cpu_lost_max_ns: int
    stopped: bool


@dataclass(frozen=True)
class Snapshot:
    """Everything at about one time.

    ``now_tsc`` is the latest clock that any worker has seen; ``cpu_ns``, the engine's CPU time
    (getrusage), is that of ``heartbeat_tsc``, at most 100 ms ago.

    ``schedule_hz`` is the frequency of the TSC by which the program counts, known before it began;
    ``tsc_hz`` that over the run so far, by which results are converted. In ``clock_watched_ns`` of
    the kernel's raw clock the TSC, counted by the former, drifted away by ``clock_drift_ns``, and
    by ``clock_error_ns`` in one step; ``time_jump_ns`` is how far the time of day was set.
    """

    tsc_hz: int
    schedule_hz: int
    now_tsc: int
    heartbeat_tsc: int
    start_tsc: int
    stop_tsc: int
    cpu_ns: int
    resident_max_octets: int
    clock_error_ns: int
    clock_drift_ns: int
    clock_watched_ns: int
    time_jump_ns: int
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


def take(counters: Counters, *, latencies: bool = False) -> Snapshot:
    """Read the segment; the histograms of latencies, by far its largest part, only when asked."""
    engine = counters.engine
    workers = tuple(_worker(block) for block in counters.of_kind("worker"))
    blocks = {kind: _by_port(counters.of_kind(kind)) for kind in ("rx", "tx", "flow", "reply")}
    return Snapshot(
        tsc_hz=engine["run_hz"] or counters.tsc_hz,
        schedule_hz=counters.tsc_hz,
        now_tsc=max((worker.now_tsc for worker in workers), default=0),
        heartbeat_tsc=engine["heartbeat_tsc"],
        start_tsc=engine["start_tsc"],
        stop_tsc=engine["stop_tsc"],
        cpu_ns=engine["user_ns"] + engine["system_ns"],
        resident_max_octets=engine["resident_max_octets"],
        clock_error_ns=engine["clock_error_ns"],
        clock_drift_ns=engine["clock_drift_ns"],
        clock_watched_ns=engine["clock_watched_ns"],
        time_jump_ns=engine["time_jump_ns"],
        ports=tuple(
            _port(block, blocks, latencies=latencies) for block in counters.of_kind("port")
        ),
        workers=workers,
    )


def _by_port(blocks: Iterable[Block]) -> dict[str, list[Block]]:
    """The blocks of each port, by ascending queue."""
    found: dict[str, list[Block]] = defaultdict(list)
    for block in sorted(blocks, key=lambda block: block.labels["queue"]):
        found[block.labels["port"]].append(block)
    return found


def _worker(block: Block) -> Worker:
    return Worker(
        lcore=block.labels["lcore"],
        now_tsc=block["now_tsc"],
        stalls=block["stalls"],
        stall_cycles=block["stall_cycles"],
        stall_max_cycles=block["stall_max_cycles"],
        began_ns=block["began_ns"],
        sampled_ns=block["sampled_ns"],
        cpu_lost_ns=block["cpu_lost_ns"],
        cpu_lost_max_ns=block["cpu_lost_max_ns"],
        stopped=block["state"] == WORKER_STOPPED,
    )


def _port(
    block: Block, blocks: Mapping[str, Mapping[str, list[Block]]], *, latencies: bool
) -> Port:
    name = block.labels["port"]
    rx, tx, flows, reply = (blocks[kind].get(name, []) for kind in ("rx", "tx", "flow", "reply"))
    return Port(
        name=name,
        rx=tuple(map(_rx_queue, rx)),
        tx=tuple(map(_tx_queue, tx)),
        device=_device(block),
        flows=tuple(_flow_queue(flow, latencies=latencies) for flow in flows),
        replies=_replies(reply[0]) if reply else None,
    )


def _device(block: Block) -> Device:
    words: dict[str, Any] = {field.name: block[field.name] for field in fields(Device)}
    return Device(**words | {"link_up": bool(block["link_up"])})


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
        foreign_frames=block["foreign_frames"],
        strange_frames=block["strange_frames"],
        damaged_frames=block["damaged_frames"],
        own_times=block["own_times"],
        bad_times=block["bad_times"],
        distinct_flows=block["distinct_flows"],
        distinct_overflow=block["distinct_overflow"],
    )


def _flow_queue(block: Block, *, latencies: bool) -> FlowQueue:
    return FlowQueue(
        queue=block.labels["queue"],
        lcore=block.labels["lcore"],
        stream=block.labels["stream"],
        frames=block["frames"],
        octets=block["octets"],
        duplicates=block["duplicates"],
        reordered=block["reordered"],
        too_late=block["too_late"],
        copies=block["copies"],
        impossible=block["impossible"],
        first_tsc=block["first_tsc"],
        last_tsc=block["last_tsc"],
        latency_count=block["latency_count"],
        latency_min_cycles=block["latency_min_cycles"],
        latency_max_cycles=block["latency_max_cycles"],
        latency_sum_cycles=block["latency_sum_cycles"],
        ipdv_sum_cycles=block["ipdv_sum_cycles"],
        latency_cycles=_latencies(block) if latencies else None,
    )


def _latencies(block: Block) -> Histogram:
    least, greatest = block["latency_min_cycles"], block["latency_max_cycles"]
    return block.histogram("latency_cycles", least, greatest)


def _replies(block: Block) -> Replies:
    return Replies(
        lcore=block.labels["lcore"],
        frames=block["frames"],
        octets=block["octets"],
        arp=block["arp"],
        neighbors=block["neighbors"],
        echoes=block["echoes"],
        not_taken=block["not_taken"],
        overflowed=block["overflowed"],
        busy_cycles=block["busy_cycles"],
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
        active_flows=block["active_flows"],
    )
