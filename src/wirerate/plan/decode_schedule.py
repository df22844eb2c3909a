# SPDX-License-Identifier: BSD-3-Clause
"""OTG's ``rate`` and ``duration`` of a flow: how fast, and how long.

Octets of delays and gaps stay octets: what they take is known only with the line. Called by
`wirerate.plan.decode_flow`; pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.model import Burst, Duration
from wirerate.units import Rate, RateKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.reader import Reader

SECONDS_MAX = 366 * 86400
"""Longest duration, delay and gap [s]."""

_NS_PER_S = 10**9
_UINT32_MAX = 2**32 - 1
#: Of a whole flow; OTG stops at 2^32 - 1, five minutes of 64-octet frames at 10 Gbit/s.
_FRAMES_MAX = 2**63 - 1
_UINT64_MAX = 2**64 - 1
_GAP_DEFAULT = 12
_OCTETS_MAX = 1e18

# Choice: what it is of, unit, least value, greatest value, default.
_RATES = {
    "pps": (RateKind.FPS, 1, 1, _UINT64_MAX, 1000),
    "bps": (RateKind.L2_BPS, 1, 672, _UINT64_MAX, 10**9),
    "kbps": (RateKind.L2_BPS, 10**3, 1, _UINT64_MAX, 10**6),
    "mbps": (RateKind.L2_BPS, 10**6, 1, _UINT64_MAX, 1000),
    "gbps": (RateKind.L2_BPS, 10**9, 1, _UINT32_MAX, 1),
}
_DELAY_DEFAULTS = {"bytes": 0.0, "nanoseconds": 0.0, "microseconds": 0.0}
_BURST_GAP_DEFAULTS = {"bytes": 12.0, "nanoseconds": 96.0, "microseconds": 0.096}


def decode_rate(reader: Reader) -> Rate:
    """Read a flow's ``rate`` (an empty object: 1,000 frames/s). Raises PlanError.

    ``bps`` to ``gbps`` count the frames with their FCS (layer 2), ``percentage`` is of the line.
    """
    choice = reader.choice((*_RATES, "percentage"), "pps")
    if choice == "percentage":
        percent = float(reader.number("percentage", 0, 100, 100.0))
        if percent == 0:
            reader.fail("percentage", "0 sends nothing; leave the flow out")
        reader.done()
        return Rate(RateKind.PERCENT, percent)
    kind, unit, least, most, default = _RATES[choice]
    value = reader.integer(choice, least, most, default)
    reader.done()
    return Rate(kind, float(value * unit))


def decode_duration(reader: Reader) -> Duration:
    """Read a flow's ``duration`` (an empty object: for ever). Raises PlanError."""
    choice = reader.choice(("fixed_packets", "fixed_seconds", "burst", "continuous"), "continuous")
    branch = reader.branch(choice)
    _check_gap(branch)
    frames = duration_ns = burst = None
    if choice == "burst":
        frames, burst = _bursts(branch)
    elif choice == "fixed_packets":
        frames = branch.integer("packets", 1, _FRAMES_MAX, 1)
    elif choice == "fixed_seconds":
        duration_ns = round(branch.number("seconds", 0, SECONDS_MAX, 1.0) * _NS_PER_S)
        if duration_ns == 0:
            branch.fail("seconds", "less than a nanosecond sends nothing; leave the flow out")
    delay_ns = delay_octets = 0.0
    if choice != "burst":  # OTG has no delay there
        delay_ns, delay_octets = _ns_or_octets(branch.branch("delay"), _DELAY_DEFAULTS)
    branch.done()
    reader.done()
    return Duration(frames, duration_ns, round(delay_ns), burst, delay_octets)


def _bursts(reader: Reader) -> tuple[int | None, Burst]:
    """Return the frames of all bursts (None: no end) and the burst."""
    bursts = reader.integer("bursts", 0, _UINT32_MAX, 0)
    frames = reader.integer("packets", 1, _UINT32_MAX, 1)
    gap_ns, gap_octets = _ns_or_octets(reader.branch("inter_burst_gap"), _BURST_GAP_DEFAULTS)
    return bursts * frames or None, Burst(frames, gap_ns, gap_octets)


def _check_gap(reader: Reader) -> None:
    """Refuse a least gap other than Ethernet's: the flow's rate says how far frames are apart."""
    gap = reader.integer("gap", 0, _UINT32_MAX, _GAP_DEFAULT)
    if gap != _GAP_DEFAULT:
        reader.fail(
            "gap",
            f"{gap}: the rate of the flow says how far frames are apart; leave the gap out "
            f"({_GAP_DEFAULT}) and set the rate",
        )


def _ns_or_octets(reader: Reader, defaults: Mapping[str, float]) -> tuple[float, float]:
    """Read a time: as nanoseconds, or else as octets at line rate."""
    choice = reader.choice(tuple(defaults), "bytes")
    ns_per_unit = {"bytes": 0, "nanoseconds": 1, "microseconds": 1000}[choice]
    most = _OCTETS_MAX if ns_per_unit == 0 else SECONDS_MAX * _NS_PER_S / ns_per_unit
    value = float(reader.number(choice, 0, most, defaults[choice]))
    reader.done()
    return (value * ns_per_unit, 0.0) if ns_per_unit else (0.0, value)
