# SPDX-License-Identifier: BSD-3-Clause
"""How busy workers are: the share of time that they spend in calls which send or receive something.

A poll-mode worker takes all of its CPU whatever it does, so that the kernel's figures say nothing.
A worker's utilisation over a time is the cycles of its useful calls over the cycles gone by; that
of a run is the sum over the workers that send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.trial.cpu import busy_cycles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.trial.snapshot import Snapshot


@dataclass(frozen=True)
class Utilisation:
    """``workers``: the utilisation of each lcore (0…1); ``senders`` are the lcores that send."""

    workers: Mapping[int, float]
    senders: frozenset[int]

    @property
    def sending(self) -> float:
        """The run's: the sum over the workers that send."""
        return sum(share for lcore, share in self.workers.items() if lcore in self.senders)


def utilisation(before: Snapshot, after: Snapshot) -> Utilisation:
    """What lies between two looks at the same program; 0 for a worker whose clock stood still.

    Both have to be taken while frames move: the cycles of a worker that has nothing to do count.
    """
    busy = busy_cycles(after)
    busy.subtract(busy_cycles(before))
    began = {worker.lcore: worker.now_tsc for worker in before.workers}
    workers = {}
    for worker in after.workers:
        cycles = worker.now_tsc - began[worker.lcore]
        workers[worker.lcore] = busy[worker.lcore] / cycles if cycles > 0 else 0.0
    senders = frozenset(task.lcore for port in after.ports for task in port.tx)
    return Utilisation(workers, senders)
