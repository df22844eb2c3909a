# SPDX-License-Identifier: BSD-3-Clause
"""Doubts about what measured flows received: whose loss is it, the device's under test or ours?

Loss, duplicates and reordering are results, never reasons. What speaks against a result is what the
tester itself may have done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.trial.result import FlowResult, PortResult
    from wirerate.trial.snapshot import Port, RxQueue, Snapshot, Worker

PREEMPTED_S = 0.010
"""A worker that was away for longer makes every measured flow doubtful [s].

What was due meanwhile is unsent (worker.h, TX_WINDOW_NS), and receive rings are full."""


def awaited_ports(flows: Sequence[FlowResult]) -> frozenset[int]:
    """The places in the plan of all ports that are to receive a measured flow."""
    return frozenset(
        index for flow in flows if flow.received is not None for index in flow.plan.rx_ports
    )


def flow_reasons(flow: FlowResult) -> Iterator[str]:
    """More came back of a flow than was sent."""
    back = flow.received
    if back is not None and back.frames > back.sent:
        yield (
            f"{format_count(back.frames)} frames were received, but {format_count(back.sent)} "
            "sent: stamps of another run that still arrive, or copies at several ports; wait, and "
            "repeat"
        )


def preempted_reasons(
    snapshot: Snapshot, flows: Sequence[FlowResult], ports: Sequence[PortResult]
) -> Iterator[str]:
    """Workers that the kernel took away for too long, for any measured flow or for one with loss.

    Of what is not measured, frames that were due and not sent tell enough.
    """
    if not any(flow.received is not None for flow in flows):
        return
    for worker in snapshot.workers:
        away_s = worker.away_max_cycles / snapshot.tsc_hz
        if away_s > PREEMPTED_S:
            yield (
                f"{_taken_away(worker, away_s)}: what was due meanwhile left late or never, what "
                "arrived may have been dropped by the tester; isolate its CPU (wirerate doctor), "
                "and stop nothing in mid-run"
            )
        elif away_s > 0:
            yield from _overflow_reasons(snapshot, flows, ports, worker)


def _overflow_reasons(
    snapshot: Snapshot, flows: Sequence[FlowResult], ports: Sequence[PortResult], worker: Worker
) -> Iterator[str]:
    """Long enough to fill the Rx ring of a port at which a flow has lost frames."""
    losing = {
        index
        for flow in flows
        if flow.received is not None and flow.received.lost > 0
        for index in flow.plan.rx_ports
    }
    away_s = worker.away_max_cycles / snapshot.tsc_hz
    for port in ports:
        if port.plan.index not in losing:
            continue
        for queue in _queues_of(snapshot.port(port.plan.name), worker.lcore):
            full_s = _seconds_to_fill(queue, port.plan.rx_descriptors, snapshot.tsc_hz)
            if full_s is not None and away_s >= full_s:
                yield (
                    f"{_taken_away(worker, away_s)}, and Rx queue {queue.queue} of "
                    f"{port.plan.title} is full after {1000 * full_s:.3g} ms at the rate received: "
                    "the tester may have lost what is counted as lost; isolate its CPU (wirerate "
                    "doctor), or raise -d"
                )


def _taken_away(worker: Worker, away_s: float) -> str:
    return f"lcore {worker.lcore} was taken away for {1000 * away_s:.3g} ms by the kernel"


def _queues_of(port: Port, lcore: int) -> list[RxQueue]:
    return [queue for queue in port.rx if queue.lcore == lcore]


def _seconds_to_fill(queue: RxQueue, descriptors: int, hz: int) -> float | None:
    """How long a queue's descriptors last at its mean rate; None when that is not known."""
    cycles = queue.last_tsc - queue.first_tsc
    if queue.frames == 0 or cycles <= 0 or descriptors == 0:
        return None
    return descriptors * cycles / queue.frames / hz


def port_notes(port: Port) -> Iterator[str]:
    """What arrived beside the frames of this run, or damaged: nobody's fault here."""
    damaged = sum(queue.damaged_frames for queue in port.rx)
    foreign = sum(queue.foreign_frames for queue in port.rx)
    strange = sum(queue.strange_frames for queue in port.rx)
    if damaged > 0:
        yield f"{format_count(damaged)} frames arrived with a wrong checksum or length"
    if foreign > 0:
        yield f"{format_count(foreign)} frames without a stamp of this run arrived"
    if strange > 0:
        yield f"{format_count(strange)} frames with the stamp of no flow of this run arrived"


def flow_notes(flow: FlowResult) -> Iterator[str]:
    """Frames of a flow that took another way."""
    back = flow.received
    if back is not None and back.misdirected > 0:
        yield (
            f"{format_count(back.misdirected)} frames arrived at a port that is not among its "
            "receivers; they are not counted as received"
        )
