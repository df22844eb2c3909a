# SPDX-License-Identifier: BSD-3-Clause
"""Which stamps the measured flows of a plan have (docs/design/0005-measurement.md). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.compile import CompiledFlow

STAMP_IDS = 65_535
"""How many a program may have: CONFIG_STAMPS_MAX of engine/config/config_limits.h."""


def stamps_needed(flows: Sequence[CompiledFlow], queues: Sequence[int]) -> list[int]:
    """How many ids each flow takes: one for each of its Tx ``queues`` when it is measured."""
    return [count if flow.measured else 0 for flow, count in zip(flows, queues, strict=True)]


def first_stamps(flows: Sequence[CompiledFlow], queues: Sequence[int]) -> list[int | None]:
    """The id of part 0 of each flow, part p has p more; None where it is not measured.

    ``queues``: how many Tx queues send each flow. Raises PlanError when there are not enough ids.
    """
    needed = stamps_needed(flows, queues)
    if sum(needed) > STAMP_IDS:
        raise PlanError(
            f"flows: the measured ones take {sum(needed):,} stamps, one for each Tx queue of each, "
            f"but there are {STAMP_IDS:,}; measure fewer flows, or send them over fewer queues"
        )
    stamps: list[int | None] = []
    number = 0
    for count in needed:
        stamps.append(number if count else None)
        number += count
    return stamps
