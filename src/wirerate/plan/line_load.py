# SPDX-License-Identifier: BSD-3-Clause
"""Do the flows of a port fit on its line together? Each alone does: `wirerate.units.Rate` says so.

Only flows that send at the same time add up. A flow sends from its delay to its last frame, as far
as the plan says when that is; bursts count by their mean rate. What has no rate of its own, unpaced
flows and traces at their own times, is left out. Called by the commands; pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.program import mean_fps
from wirerate.units import RATE_ROUNDING, format_engineering, l1_bps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.model import Plan

_NAMED_MAX = 6
_NS_PER_S = 1_000_000_000


def check_line_loads(
    plan: Plan,
    flows: Sequence[CompiledFlow],
    line_rates: Sequence[int | None],
    titles: Sequence[str],
    until_ns: int | None = None,
) -> None:
    """Raise PlanError for the first port whose flows ask for more than its line carries.

    ``flows`` are compiled for ``line_rates`` [bit/s], of each of the plan's ports in order, None =
    not known; ``titles`` are the ports', ``until_ns`` is when the run ends (None: does not).
    """
    for port, line_bps, title in zip(plan.ports, line_rates, titles, strict=True):
        if line_bps is None:
            continue
        own = [flow for flow in flows if flow.flow.tx_port == port.name]
        asked_bps, names = _greatest(own, line_bps * (1 + RATE_ROUNDING), until_ns)
        if names:
            raise PlanError(
                f"{title}: at one time flows {_listed(names)} ask for "
                f"{format_engineering(asked_bps, 'bit/s', 6)} at layer 1, but its line carries "
                f"{format_engineering(line_bps, 'bit/s')}; lower their rates, let some start "
                "later, or correct --line-rate if one was given"
            )


def _greatest(
    flows: Sequence[CompiledFlow], limit_bps: float, until_ns: int | None
) -> tuple[float, list[str]]:
    """The greatest sum of rates [bit/s] and whose it is; no names where it is within the limit."""
    loads = [(*_time_ns(flow, until_ns), _load_bps(flow), flow.flow.name) for flow in flows]
    active = [load for load in loads if load[2] > 0 and load[0] < load[1]]
    if sum(load[2] for load in active) <= limit_bps:
        return 0.0, []
    peak_bps, when_ns = 0.0, 0.0
    now_bps = 0.0
    # At one time the ends come first: a flow that takes over from another does not meet it.
    events = [(end, 0, -bps) for _, end, bps, _ in active]
    events += [(start, 1, bps) for start, _, bps, _ in active]
    for at_ns, _, change_bps in sorted(events):
        now_bps += change_bps
        if now_bps > peak_bps:
            peak_bps, when_ns = now_bps, at_ns
    there = [load for load in active if load[0] <= when_ns < load[1]]
    together_bps = math.fsum(load[2] for load in there)
    if together_bps <= limit_bps:
        return 0.0, []
    return together_bps, [load[3] for load in there]


def _load_bps(flow: CompiledFlow) -> float:
    """What a flow takes of the line on average, 0 for one without a rate [bit/s]."""
    fps = mean_fps(flow.stream["fps"], flow.stream.get("burst"))
    return 0.0 if fps is None else l1_bps(fps, flow.mean_size)


def _time_ns(flow: CompiledFlow, until_ns: int | None) -> tuple[float, float]:
    """From the first frame of a flow to the last one [ns]; infinity where there is no last one."""
    stream = flow.stream
    start: float = stream.get("delay_ns", 0)
    end = math.inf if until_ns is None else until_ns
    if stream.get("duration_ns") is not None:
        end = min(end, start + stream["duration_ns"])
    if stream.get("frames") is not None and stream["fps"] is not None:
        end = min(end, start + _sending_ns(stream["frames"], stream["fps"], stream.get("burst")))
    return start, end


def _sending_ns(frames: int, fps: float, burst: dict[str, float] | None) -> float:
    gaps_ns = 0.0
    if burst is not None:
        gaps_ns = (frames - 1) // burst["frames"] * burst["gap_ns"]
    return (frames - 1) / fps * _NS_PER_S + gaps_ns


def _listed(names: Sequence[str]) -> str:
    """The names, or the first of many."""
    if len(names) > _NAMED_MAX:
        return f"{', '.join(names[:_NAMED_MAX])} and {len(names) - _NAMED_MAX} more"
    return " and ".join((", ".join(names[:-1]), names[-1]))
