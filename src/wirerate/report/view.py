# SPDX-License-Identifier: BSD-3-Clause
"""How a command shows a run: the one thing in which `run`, `perf` and `replay` differ.

`wirerate.cli.execute` calls the methods in this order: titles, ``setup`` before the engine
starts, ``tick`` each period while frames are sent (and once at the end of a run that was shorter),
then ``document`` with --json, else ``summary``. None of them prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from wirerate.plan.titles import Titles

if TYPE_CHECKING:
    from wirerate.engine.eal import Memory
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.model import Plan
    from wirerate.plan.placement import Placement
    from wirerate.plan.run_settings import RunSettings
    from wirerate.session.prepare import Prepared
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.result import RunResult
    from wirerate.trial.snapshot import Snapshot


@dataclass(frozen=True)
class Setup:
    """What is settled before the engine starts.

    Ports of ``plan`` that ``lcore_map`` lacks are left alone. ``notes`` are what compiling the
    flows had to say; they stand in the verdict, too. ``placements`` are those of the mapped ports.
    """

    plan: Plan
    settings: RunSettings
    lcore_map: LcoreMap
    memory: Memory
    notes: tuple[str, ...] = ()
    placements: tuple[Placement, ...] = ()

    @classmethod
    def of(cls, prepared: Prepared) -> Setup:
        """What is to be shown of a plan that is prepared."""
        return cls(
            prepared.plan,
            prepared.settings,
            prepared.lcore_map,
            prepared.memory,
            prepared.notes,
            tuple(prepared.placements.values()),
        )


class View(Titles, Protocol):
    """What people and programs see of a run."""

    def setup(self, setup: Setup) -> str:
        """What is printed before the engine starts, unless with --json."""

    def tick(self, ready: ReadyPlan, now: Snapshot, before: Snapshot | None, number: int) -> str:
        """The block for the time from ``before`` (None: from the start) to ``now``, the number-th.

        ``number`` counts from 0.
        """

    def summary(self, result: RunResult) -> str:
        """The result and the verdict, for people."""

    def document(self, result: RunResult) -> dict[str, Any]:
        """The result for --json."""
