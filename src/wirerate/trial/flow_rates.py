# SPDX-License-Identifier: BSD-3-Clause
"""All flows of a run as shares of one rate, which a search may change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError

if TYPE_CHECKING:
    from wirerate.plan.program import FlowPlan
    from wirerate.trial.ready_plan import ReadyPlan


@dataclass(frozen=True)
class FlowRates:
    """The flows of ``ready``, whose streams are those of ``program`` (params of `program.load`).

    ``total_fps`` is the sum of the rates in the plan, infinite where flows are not paced;
    ``shares`` are the flows' parts of it, in the plan's order.
    """

    ready: ReadyPlan
    program: dict[str, Any]
    total_fps: float
    shares: tuple[float, ...]

    @classmethod
    def of(cls, ready: ReadyPlan, program: dict[str, Any]) -> FlowRates:
        """Raises PlanError where the flows do not have one rate that could be changed."""
        if "captures" in program:
            raise PlanError(
                "--converge: a capture belongs to one trial; leave it out, or run a trial at the "
                "rate found"
            )
        if not ready.flows:
            raise PlanError("--converge: no flow is sent; add one, or a port that transmits")
        for flow in ready.flows:
            _check(flow)
        rates = [flow.intended_fps for flow in ready.flows]
        paced = [rate for rate in rates if rate is not None]
        if paced and len(paced) < len(rates):
            raise PlanError(
                "--converge: some flows have a rate and others none; give all of them one, or none"
            )
        if not paced:
            return cls(ready, program, math.inf, (1 / len(rates),) * len(rates))
        total = sum(paced)
        return cls(ready, program, total, tuple(rate / total for rate in paced))

    def at(self, fps: float) -> list[float | None]:
        """Each flow's rate [fps] when their sum is ``fps``; None = as fast as can be."""
        return [None if math.isinf(fps) else fps * share for share in self.shares]

    def ready_at(self, fps: float) -> ReadyPlan:
        """The plan with these rates; flows are sent as long as the trial lasts."""
        flows = tuple(
            replace(flow, intended_fps=rate, duration_ns=None)
            for flow, rate in zip(self.ready.flows, self.at(fps), strict=True)
        )
        return replace(self.ready, flows=flows)

    def program_at(self, fps: float, *, whole_bursts: bool, grown: bool) -> dict[str, Any]:
        """The program likewise; ``grown``: ramps begin with all of their flows."""
        streams = []
        for stream, rate in zip(self.program["streams"], self.at(fps), strict=True):
            made = stream | {"fps": rate, "duration_ns": None}
            if whole_bursts and rate is not None:
                made["whole_bursts"] = True
            if grown and stream.get("ramp"):
                ramp = stream["ramp"]
                made["ramp"] = ramp | {"start": ramp["flows"], "hold_ns": None, "down": False}
            streams.append(made)
        return self.program | {"streams": streams}


def _check(flow: FlowPlan) -> None:
    if flow.traced or flow.burst_frames > 1:
        raise PlanError(
            f"--converge: {flow.title} has times of its own, or bursts, and so no rate that could "
            "be changed; give it a rate and a continuous duration"
        )
    if flow.frames is not None:
        raise PlanError(
            f"--converge: {flow.title} ends after {flow.frames:,} frames, at some rates before it "
            "could be measured; leave the number out (--count, fixed_packets)"
        )
