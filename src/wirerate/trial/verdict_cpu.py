# SPDX-License-Identifier: BSD-3-Clause
"""Doubts about a trial whose lcores lost their CPUs, by the rule of cpu_lost.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.trial.cpu_lost import duties_of, lcore_times, lost_reasons
from wirerate.trial.verdict_received import overflow_reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.result import FlowResult, PortResult
    from wirerate.trial.snapshot import Snapshot


def cpu_reasons(
    snapshot: Snapshot,
    flows: Sequence[FlowResult],
    ports: Sequence[PortResult],
    times: Sequence[LcoreTime] | None,
) -> Iterator[str]:
    """Each lcore that lost its CPU for too long; ``times`` None: those since the workers began."""
    duties = duties_of(snapshot, [flow.plan for flow in flows])
    for time in lcore_times(None, snapshot) if times is None else times:
        judged = _while_sending(time, snapshot, flows)
        found = list(lost_reasons([judged], duties))
        yield from found or overflow_reasons(snapshot, flows, ports, judged)


def _while_sending(time: LcoreTime, snapshot: Snapshot, flows: Sequence[FlowResult]) -> LcoreTime:
    """An unpaced flow may have been sent for a part of the time only: all may be lost in that."""
    own = {task.stream for port in snapshot.ports for task in port.tx if task.lcore == time.lcore}
    spans = [flow.seconds for flow in flows if flow.plan.unpaced and flow.plan.name in own]
    return time.within(min(spans)) if spans else time
