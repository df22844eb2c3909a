# SPDX-License-Identifier: BSD-3-Clause
"""From a trial that has ended to all that is known of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wirerate.trial.cpu import cpu_use
from wirerate.trial.cpu_lost import lcore_times, stolen_notes
from wirerate.trial.peer import own_counts
from wirerate.trial.result import RunResult, flow_results, port_results, total_received
from wirerate.trial.verdict import Ending, judge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.trial.cpu_lost import LcoreTime
    from wirerate.trial.peer_client import PeerWatch
    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.snapshot import Snapshot
    from wirerate.trial.trial import Trial


def run_result(
    trial: Trial, ready: ReadyPlan, facts: Mapping[str, Any], watch: PeerWatch | None = None
) -> RunResult:
    """What the trial came to; ``facts`` are those of its environment, ``watch`` of its peer."""
    final = trial.final
    assert final is not None
    floor_ns = ready.settings.floor_ns
    times = _times(trial, final)
    flows = flow_results(final, ready.flows, floor_ns, times)
    ports = port_results(final, ready.ports, ready.flows, times)
    ending = Ending(
        trial.sent,
        trial.interrupted,
        trial.death,
        trial.duration_ns,
        trial.arriving_s,
        trial.unloaded.get("loops", ()),
        trial.growth,
        trial.counted,
        times,
    )
    peer = None if watch is None else watch.result(own_counts(ports))
    stolen = stolen_notes(trial.stolen_s, times)
    notes = (*ready.notes, *(() if peer is None else peer.notes), *stolen)
    verdict = judge(final, flows, ports, ending, notes)
    cpu = replace(cpu_use(trial.began, trial.sent), times=times)
    captures = tuple(trial.unloaded.get("captures", ()))
    total = total_received(final, flows, floor_ns)
    return RunResult(ready, flows, ports, verdict, final, cpu, total, facts, captures, peer)


def _times(trial: Trial, final: Snapshot) -> tuple[LcoreTime, ...]:
    """What lcores had of their CPUs while frames were sent; gaps after that count, too."""
    times = lcore_times(trial.began, trial.stopped or final)
    longest = {time.lcore: time.longest_s for time in lcore_times(None, final)}
    return tuple(replace(time, longest_s=longest[time.lcore]) for time in times)
