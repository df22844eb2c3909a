# SPDX-License-Identifier: BSD-3-Clause
"""Lcores for `wirerate flows`: a number of queues, each with a core, or with two. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.lcore_map import LcoreMap, PortLcores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wirerate.plan.lcore_map import Direction


def flows_map(
    uses: Sequence[Collection[Direction]], queues: int, lcores: Sequence[int], *, separate: bool
) -> LcoreMap:
    """The first of ``lcores`` serve the queues of all ports, in the directions of ``uses``.

    Lcore i serves queue i of every port: receives and sends, or with ``separate`` receives, and
    lcore ``queues`` + i sends. Raises PlanError when there are too few.
    """
    both = {way for use in uses for way in use} == {"rx", "tx"}
    needed = queues * (2 if separate and both else 1)
    if len(lcores) < needed:
        why = "to receive, and as many to send" if needed > queues else "one for each"
        raise PlanError(
            f"-n {queues}: {queues} queues need {needed} lcores ({why}), but {len(lcores)} may be "
            "used; lower -n, or share lcores out with -m"
        )
    rx, tx = tuple(lcores[:queues]), tuple(lcores[needed - queues : needed])
    return LcoreMap(
        tuple(
            PortLcores(port, rx if "rx" in use else (), tx if "tx" in use else ())
            for port, use in enumerate(uses)
        )
    )


def ordered_lcores(
    lcores: Collection[int], nodes: Mapping[int, int], node: int, control: int | None
) -> list[int]:
    """Lcores in the order in which they are to be taken: those on the port's NUMA ``node`` first.

    The last is the one that the control thread runs on: ``control``, by default the lowest.
    """
    keep = min(lcores, default=None) if control is None else control
    return sorted(lcores, key=lambda cpu: (cpu == keep, nodes.get(cpu) != node, cpu))
