# SPDX-License-Identifier: BSD-3-Clause
"""What a port does beside the traffic of flows: answer for its devices, and record.

Parts of what `wirerate.plan.program` tells the engine, as docs/design/0005-measurement.md says
(Answering, Capturing). Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.plan.devices import interfaces_on, ip_text, mac_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from wirerate.plan.model import Plan

_BURST = 32


def answers(plan: Plan, port: int) -> bool:
    """Whether port number ``port`` has addresses to answer for."""
    return next(interfaces_on(plan.devices, plan.ports[port].name), None) is not None


def must_receive(plan: Plan, port: int) -> bool:
    """Whether a port has to receive though no flow may name it: it answers, or is recorded."""
    name = plan.ports[port].name
    return answers(plan, port) or any(capture.port == name for capture in plan.captures)


def check_receivers(plan: Plan, receiving: Collection[int], lcore_map: str) -> None:
    """Raise PlanError where the user's map has no lcore to receive on a port that must.

    ``receiving`` are the numbers of those that do.
    """
    for index, port in enumerate(plan.ports):
        if index not in receiving and must_receive(plan, index):
            raise PlanError(
                f"{port.path}: port {port.name} has devices or is captured, so it must receive, "
                f"but the lcore map {lcore_map} has no lcore to receive on port {index}; add "
                f"LCORE:.{index}"
            )


def rx_words(plan: Plan, port: int) -> dict[str, Any]:
    """What an rx task of the port does besides counting."""
    words: dict[str, Any] = {}
    if answers(plan, port):
        words["answer"] = True
    name = plan.ports[port].name
    if any(capture.bad and capture.port == name for capture in plan.captures):
        words["verify"] = True
    return words


def reply_task(plan: Plan, port: int, name: str) -> dict[str, Any]:
    """The task that sends the port's answers on its first Tx queue; ``name`` is the engine's."""
    addresses = [
        {
            "mac": mac_text(interface.mac),
            f"ipv{address.version}": ip_text(address.value, address.version),
        }
        for interface in interfaces_on(plan.devices, plan.ports[port].name)
        for address in interface.addresses
    ]
    return {"kind": "reply", "port": name, "queue": 0, "burst": _BURST, "addresses": addresses}
