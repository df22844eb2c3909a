# SPDX-License-Identifier: BSD-3-Clause
"""Doubts about what measured flows received: whose loss is it, the device's under test or ours?

Loss, duplicates and reordering are results, never reasons. What speaks against a result is what the
tester itself may have done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.trial.flow_control import pause_notes
from wirerate.trial.rx_times import time_notes
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.received import Received
    from wirerate.trial.result import FlowResult, PortResult
    from wirerate.trial.snapshot import Port, RxQueue, Snapshot


def awaited_ports(flows: Sequence[FlowResult]) -> frozenset[int]:
    """The places in the plan of all ports that are to receive a measured flow."""
    return frozenset(
        index for flow in flows if flow.received is not None for index in flow.plan.rx_ports
    )


_BELOW_FLOOR = 0.01
"""A floor that is above the latency of more than this share of the frames is wrong [ratio]."""


def flow_reasons(flow: FlowResult) -> Iterator[str]:
    """What a flow's frames say that cannot be, or is not known."""
    back = flow.received
    if back is None:
        return
    yield from _stamp_reasons(back)
    if back.below_floor > _BELOW_FLOOR * back.latency.count:
        yield f"--floor is too high: {_below_floor(back)}"
    if back.frames > back.sent:
        yield (
            f"{format_count(back.frames)} frames were received, but {format_count(back.sent)} "
            "sent: stamps of another run that still arrive; wait, and repeat"
        )


def _stamp_reasons(back: Received) -> Iterator[str]:
    if back.impossible > 0:
        yield (
            f"{format_count(back.impossible)} frames had a stamp that the sender cannot have "
            "written: a sequence number not sent yet, or a time of departure before the start, "
            "after the arrival or out of order; something forges or alters frames, and the figures "
            "may have more of them in them"
        )
    if back.too_late > 0:
        yield (
            f"{format_count(back.too_late)} frames were too late (more than 65,536 frames behind) "
            "to know whether they had arrived before: duplicates may be counted as received, and "
            "hide loss; lower the rate, or measure in more flows"
        )


def _below_floor(back: Received) -> str:
    share = 100 * back.below_floor / back.latency.count
    least_ns = 0.0 if back.least_ns is None else back.least_ns
    return (
        f"{format_count(back.below_floor)} frames ({share:.3g} %) had a latency below the floor of "
        f"{back.latency.floor_ns:,.0f} ns, {least_ns:,.0f} ns at the least; they count as 0"
    )


def overflow_reasons(
    snapshot: Snapshot, flows: Sequence[FlowResult], ports: Sequence[PortResult], time: LcoreTime
) -> Iterator[str]:
    """An lcore lost its CPU long enough to fill the Rx ring of a port at which a flow lost frames.

    The only doubt about lost CPUs that depends on loss: how long is too long depends on the rate.
    """
    losing = {
        index
        for flow in flows
        if flow.received is not None and flow.received.lost > 0
        for index in flow.plan.rx_ports
    }
    for port in ports:
        if port.plan.index not in losing:
            continue
        for queue in _queues_of(snapshot.port(port.plan.name), time.lcore):
            full_s = _seconds_to_fill(queue, port.plan.rx_descriptors, snapshot.tsc_hz)
            if full_s is not None and 0 < time.longest_s >= full_s:
                yield (
                    f"{time.text()}, and Rx queue {queue.queue} of {port.plan.title} is full after "
                    f"{1000 * full_s:.3g} ms at the rate received: the tester may have lost what "
                    "is counted as lost; isolate its CPU (wirerate doctor), or raise -d"
                )


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
    yield from time_notes(port)
    yield from pause_notes(port.device)


def flow_notes(flow: FlowResult) -> Iterator[str]:
    """Frames of a flow that took another way, or less time than the floor."""
    back = flow.received
    if back is not None and 0 < back.below_floor <= _BELOW_FLOOR * back.latency.count:
        yield _below_floor(back)
    if back is not None and back.misdirected > 0:
        yield (
            f"{format_count(back.misdirected)} frames arrived at a port that is not among its "
            "receivers; they are not counted as received"
        )
