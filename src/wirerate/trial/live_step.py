# SPDX-License-Identifier: BSD-3-Clause
"""A step of a search between two looks at a trial that goes on. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wirerate.search.step import Step
from wirerate.trial.cpu_lost import Duty, duties_of, lcore_times, lost_reasons
from wirerate.trial.received import arrivals
from wirerate.trial.utilisation import utilisation
from wirerate.trial.verdict import LOAD_TOLERANCE
from wirerate.trial.verdict_clock import clock_reasons

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirerate.trial.ready_plan import ReadyPlan
    from wirerate.trial.snapshot import Port, Snapshot


def live_step(before: Snapshot, after: Snapshot, ready: ReadyPlan, fps: float) -> Step:
    """What was sent at ``fps`` between two looks, and how busy the workers were with it.

    Loss is that of frames sent minus received in that time: what is under way at either look makes
    it inexact. Frames that were due and not sent, or too few frames, say that the load was not
    offered.
    """
    seconds = after.seconds_since(before)
    frames, unsent = (
        sum(getattr(port, name) for port in after.ports)
        - sum(getattr(port, name) for port in before.ports)
        for name in ("tx_frames", "tx_frames_unsent")
    )
    reasons = tuple(_reasons(before, after, ready, unsent))
    # A burst of each task more or less is no matter.
    slack = 2 * ready.settings.burst * sum(len(port.tx) for port in after.ports)
    asked = fps * seconds
    return Step(
        intended_fps=fps,
        offered_fps=frames / seconds,
        loss_ratio=_loss_ratio(before, after, ready, frames),
        utilisation=utilisation(before, after).sending,
        valid=not reasons,
        reasons=reasons,
        offered=unsent == 0 and frames >= asked * (1 - LOAD_TOLERANCE) - slack,
    )


def _loss_ratio(before: Snapshot, after: Snapshot, ready: ReadyPlan, sent: int) -> float | None:
    if sent == 0 or not all(flow.measured for flow in ready.flows):
        return None
    came = sum(own.frames for own in arrivals(after, ready.flows).values())
    came -= sum(own.frames for own in arrivals(before, ready.flows).values())
    return min(1.0, max(0.0, 1 - came / sent))


def _reasons(before: Snapshot, after: Snapshot, ready: ReadyPlan, unsent: int) -> Iterator[str]:
    for plan in ready.ports:
        was, now = before.port(plan.name), after.port(plan.name)
        if plan.tx_lcores:
            yield from (f"{plan.title}: {reason}" for reason in _link_reasons(was, now))
    yield from lost_reasons(lcore_times(before, after), _duties(after, ready, unsent))
    yield from clock_reasons(_clocks_between(before, after))


def _clocks_between(before: Snapshot, after: Snapshot) -> Snapshot:
    """The later snapshot, its clocks' errors only as far as they are new."""
    stepped = after.clock_error_ns > before.clock_error_ns
    jumped = after.time_jump_ns > before.time_jump_ns
    return replace(
        after,
        clock_error_ns=after.clock_error_ns if stepped else 0,
        time_jump_ns=after.time_jump_ns if jumped else 0,
        clock_drift_ns=max(0, after.clock_drift_ns - before.clock_drift_ns),
        clock_watched_ns=after.clock_watched_ns - before.clock_watched_ns,
    )


def _duties(after: Snapshot, ready: ReadyPlan, unsent: int) -> dict[int, Duty]:
    """Those of a trial; and how busy senders are is a result, and why frames were not sent."""
    duties = duties_of(after, ready.flows)
    for lcore in {task.lcore for port in after.ports for task in port.tx}:
        duties[lcore] |= Duty.TIMED | (Duty.MEASURED if unsent else Duty.NONE)
    return duties


def _link_reasons(before: Port, after: Port) -> Iterator[str]:
    changes = after.device.link_changes - before.device.link_changes
    if not after.device.link_up:
        yield "the link is down"
    if changes > 0:
        yield f"the link changed {changes} times"
