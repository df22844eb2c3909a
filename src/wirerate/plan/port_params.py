# SPDX-License-Identifier: BSD-3-Clause
"""What the ports of a plan are opened with: queues, descriptors, mbufs, the largest frame. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.answers import answers
from wirerate.plan.location import LocationKind
from wirerate.plan.program import port_name
from wirerate.units import FRAME_SIZE_JUMBO, FRAME_SIZE_ORDINARY, HEADER_AND_FCS_OCTETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.location import Location
    from wirerate.plan.model import Flow, Plan
    from wirerate.plan.run_settings import RunSettings


def port_params(
    plan: Plan, settings: RunSettings, lcore_map: LcoreMap, sizes: Sequence[int]
) -> list[dict[str, Any]]:
    """PORT objects for the mapped ports, in order of the map.

    ``sizes``: the largest frame of each flow [octets, with FCS].
    """
    params = []
    timed = {name for flow in plan.flows if flow.measured for name in flow.rx_ports}
    for entry in lcore_map.ports:
        port = plan.ports[entry.port]
        # Answers for devices need a queue where no flow does.
        tx_queues = len(entry.tx) or int(answers(plan, entry.port))
        params.append(
            {
                "name": port_name(entry.port),
                "location": port.location.text,
                **queue_numbers(port.location, len(entry.rx), tx_queues),
                "rx_descriptors": settings.rx_descriptors,
                "tx_descriptors": settings.tx_descriptors,
                "mbufs": settings.mbufs,
                "frame_size_max": frame_size_max(plan, entry.port, sizes, jumbo=settings.jumbo),
                "promiscuous": port.promiscuous,
                "one_pool": True,  # streams and answers: ready frames only
                "rx_times": port.name in timed,
            }
        )
    return params


def queue_numbers(location: Location, rx: int, tx: int) -> dict[str, int]:
    """How many queues a port is opened with, of which ``rx`` and ``tx`` are served.

    A memif has as many of both: an end that offers a ring which the other has no queue for is
    turned away (DPDK's memif_socket.c, "Invalid ring index"), and most ends offer pairs.
    """
    if location.kind is LocationKind.MEMIF:
        rx = tx = max(rx, tx)
    return {"rx_queues": rx, "tx_queues": tx}


def frame_size_max(plan: Plan, port: int, sizes: Sequence[int], *, jumbo: bool = False) -> int:
    """The largest frame that a port is opened for [octets, with FCS].

    That of all flows that it sends or is to receive; at least what its MTU asks for, else that of
    ordinary Ethernet. Raises PlanError where the MTU is too small for a flow.
    """
    own = plan.ports[port]
    least = FRAME_SIZE_JUMBO if jumbo else FRAME_SIZE_ORDINARY
    if own.mtu is not None:
        least = own.mtu + HEADER_AND_FCS_OCTETS
    for flow, size in zip(plan.flows, sizes, strict=True):
        if own.name != flow.tx_port and own.name not in flow.rx_ports:
            continue
        if own.mtu is not None and size > least + _tags_octets(flow):
            raise PlanError(
                f"{flow.path}.size: frames of {size} octets, but port {own.name} has an MTU of "
                f"{own.mtu} ({least} octets with FCS); raise layer1's mtu, or lower the size"
            )
        least = max(least, size) if own.mtu is None else least
    return least


def _tags_octets(flow: Flow) -> int:
    """VLAN tags, which an MTU does not count."""
    return 4 * sum(header.kind == "vlan" for header in flow.packet)
