# SPDX-License-Identifier: BSD-3-Clause
"""A rate as OTG says it, for the plans that options stand for. Pure."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError
from wirerate.units import RateKind, line_octets

if TYPE_CHECKING:
    from wirerate.units import Rate

PPS_MIN = 1
BPS_MIN = 672
"""OTG's least rates: a frame a second, and 64 octets with preamble and gap in one."""


def plan_rate(rate: Rate, mean_size: Fraction) -> dict[str, Any]:
    """The rate in OTG's units, whole numbers of frames or bits of layer 2.

    Layer 1 becomes layer 2, and a fraction of a frame/s bits, by the mean frame size [octets, with
    FCS]: the error is at most half a bit per second. Raises PlanError below OTG's least rate.
    """
    if rate.kind is RateKind.PERCENT:
        return {"choice": "percentage", "percentage": rate.value}
    value = Fraction(rate.value)
    if rate.kind is RateKind.FPS and value.denominator == 1 and value >= PPS_MIN:
        return {"choice": "pps", "pps": int(value)}
    if rate.kind is RateKind.FPS:
        value *= mean_size * 8
    elif rate.kind is RateKind.L1_BPS:
        value *= mean_size / line_octets(mean_size)
    bps = round(value)
    if bps < BPS_MIN:
        raise PlanError(
            f"rate {rate}: {float(value):.3g} bit/s of frames with FCS; a plan says no less than "
            f"{BPS_MIN} bit/s or {PPS_MIN} frame/s; raise it"
        )
    return {"choice": "bps", "bps": bps}
