# SPDX-License-Identifier: BSD-3-Clause
"""How much CPU a trial took: what the kernel counted, and what the workers were busy with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.snapshot import Snapshot

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class CpuUse:
    """CPU time of the engine's process while frames were sent.

    ``share`` is that by getrusage over the time, 1.0 = one core; None when the time was too short
    to be measured (it is read every 100 ms). ``busy`` is, for each lcore, the share of time spent
    in calls that sent or received something. ``times``: what lcores had of their CPUs.
    """

    share: float | None
    busy: tuple[tuple[int, float], ...]
    times: tuple[LcoreTime, ...] = ()


def cpu_use(began: Snapshot | None, sent: Snapshot | None) -> CpuUse:
    """What lies between two looks; nothing is known without both."""
    if began is None or sent is None:
        return CpuUse(None, ())
    wall_ns = (sent.heartbeat_tsc - began.heartbeat_tsc) * _NS_PER_S / sent.tsc_hz
    share = (sent.cpu_ns - began.cpu_ns) / wall_ns if wall_ns > 0 else None
    return CpuUse(share, busy_shares(began, sent))


def busy_shares(before: Snapshot | None, now: Snapshot) -> tuple[tuple[int, float], ...]:
    """For each lcore, the share of time spent in useful calls; before None: since the start."""
    elapsed = max(1, now.now_tsc - (now.start_tsc if before is None else before.now_tsc))
    busy = busy_cycles(now)
    if before is not None:
        busy.subtract(busy_cycles(before))
    return tuple((lcore, cycles / elapsed) for lcore, cycles in sorted(busy.items()))


def busy_cycles(snapshot: Snapshot) -> Counter[int]:
    """Cycles of useful calls by lcore."""
    busy: Counter[int] = Counter()
    for port in snapshot.ports:
        for task in port.tx:
            busy[task.lcore] += task.busy_cycles
        for queue in port.rx:
            busy[queue.lcore] += queue.busy_cycles
        if port.replies is not None:
            busy[port.replies.lcore] += port.replies.busy_cycles
    return busy
