# SPDX-License-Identifier: BSD-3-Clause
"""The only place where quantities change their unit, are read from text or are written for people.

A frame of ``frame_size`` octets (with the 4-octet FCS) occupies ``frame_size + 20`` octets of line:
preamble and start delimiter 8, minimum inter-frame gap 12 (IEEE 802.3 clauses 3.2 and 4.4.2). Bits
per second are therefore of two kinds: *L1* counts everything on the line, *L2* the frame with its
FCS alone. This tool never guesses which. Called by the command line, the plan and the report; pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from wirerate.errors import PlanError

FCS_OCTETS = 4
"""The frame check sequence: in ``frame_size``, not in ``frame_len_no_fcs``."""
HEADER_AND_FCS_OCTETS = 18
"""Of Ethernet, around what the MTU counts."""

LINE_OVERHEAD_OCTETS = 20
"""Preamble and start delimiter 8, minimum inter-frame gap 12."""

FRAME_SIZE_MIN = 64
FRAME_SIZE_MAX = 16384
"""Smallest and largest ``frame_size`` [octets, with FCS] that a plan may ask for."""

FRAME_SIZE_ORDINARY = 1518
"""Largest untagged frame of IEEE 802.3 [octets, with FCS]; above it is jumbo."""

FRAME_SIZE_JUMBO = 9618
"""What ``--jumbo`` opens ports for [octets, with FCS]: pktperf's 9,600, Ethernet header and FCS."""

_Octets = TypeVar("_Octets", int, float, Fraction)

_NS_PER_S = 1_000_000_000
_DURATION_MAX_NS = 366 * 86400 * _NS_PER_S
_LINE_RATE_MIN_BPS = 10**6
_LINE_RATE_MAX_BPS = 10**14
_WHOLE_PERCENT = 100
RATE_ROUNDING = 1e-6
"""How far above a line a rate may be [ratio]: it is a rounded figure then."""

_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NUMBER = (
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|[+-]?(?:nan|inf(?:inity)?))"
)


def frame_len_no_fcs(frame_size: int) -> int:
    """Octets that an mbuf holds for a frame of ``frame_size`` [octets, with FCS]."""
    return frame_size - FCS_OCTETS


def line_octets(frame_size: _Octets) -> _Octets:
    """Octets of line that a frame of ``frame_size`` occupies, gap and preamble included."""
    return frame_size + LINE_OVERHEAD_OCTETS


def wire_bits(frame_size: _Octets) -> _Octets:
    """Bits of line that a frame occupies: 672 for 64 octets (pktperf's WireSize).

    Here and below ``frame_size`` may be the mean of a mix.
    """
    return line_octets(frame_size) * 8


def line_rate_fps(line_rate_bps: float, frame_size: float | Fraction) -> float:
    """Frames per second that fill a line: 14,880,952.38 for 10 Gbit/s and 64 octets."""
    return line_rate_bps / wire_bits(_number(frame_size))


def l1_bps(fps: float, frame_size: float | Fraction) -> float:
    """Bits per second of line that ``fps`` frames of ``frame_size`` take (layer 1)."""
    return fps * wire_bits(_number(frame_size))


def l2_bps(fps: float, frame_size: float | Fraction) -> float:
    """Bits per second of frames with FCS that ``fps`` frames of ``frame_size`` carry (layer 2)."""
    return fps * _number(frame_size) * 8


def _number(frame_size: float | Fraction) -> float:
    """Return a fraction as a float, so that no result is one; integers as they are."""
    return float(frame_size) if isinstance(frame_size, Fraction) else frame_size


class RateKind(Enum):
    """How a rate was asked for."""

    PERCENT = "percent of line"
    FPS = "frames/s"
    L1_BPS = "bit/s at layer 1"
    L2_BPS = "bit/s at layer 2"


@dataclass(frozen=True)
class Rate:
    """An intended load (RFC 2285 §3.5.1) per port, as the user asked for it.

    ``value`` is in the unit of ``kind``: percent (0…100], frames/s or bit/s; always finite and
    above 0.
    """

    kind: RateKind
    value: float

    def to_fps(self, frame_size: float | Fraction, line_rate_bps: float | None) -> float | None:
        """Frames per second [fps] for ``frame_size`` [octets, with FCS]; None = unpaced.

        Of frames of several sizes, ``frame_size`` is the mean.

        Unpaced is 100 % of a line nobody knows: as fast as the device takes them. Raises PlanError
        for a lower percentage of an unknown line and for more than the line carries; one part per
        million above the line is a rounded figure (14.880953Mpps at 10G) and becomes the line rate.
        """
        asked_fps = self._asked_fps(frame_size, line_rate_bps)
        if asked_fps is None or line_rate_bps is None:
            return asked_fps
        line_fps = line_rate_fps(line_rate_bps, frame_size)
        if asked_fps > line_fps * (1 + RATE_ROUNDING):
            raise PlanError(
                f"rate {self}: {format_engineering(asked_fps, 'fps')} of "
                f"{_octets_text(frame_size)}-octet frames, but a line of "
                f"{format_engineering(line_rate_bps, 'bit/s')} carries "
                f"{format_engineering(line_fps, 'fps')}; "
                "lower the rate, or correct --line-rate if one was given",
            )
        return min(asked_fps, line_fps)

    def _asked_fps(self, frame_size: float | Fraction, line_rate_bps: float | None) -> float | None:
        if self.kind is RateKind.FPS:
            return self.value
        if self.kind is RateKind.L1_BPS:
            return self.value / wire_bits(_number(frame_size))
        if self.kind is RateKind.L2_BPS:
            return self.value / (_number(frame_size) * 8)
        if line_rate_bps is not None:
            return line_rate_fps(line_rate_bps, frame_size) * self.value / _WHOLE_PERCENT
        if self.value < _WHOLE_PERCENT:
            raise PlanError(
                f"rate {self}: the line rate is not known, so there is nothing to take a "
                "percentage of; "
                "add --line-rate (10G, say) or give frames/s (1Mpps)",
            )
        return None

    def __str__(self) -> str:
        """Text that `parse_rate` reads back to the same rate."""
        if self.kind is RateKind.PERCENT:
            return f"{_shortest(self.value)}%"
        suffix = {
            RateKind.FPS: "pps",
            RateKind.L1_BPS: "bps:L1",
            RateKind.L2_BPS: "bps:L2",
        }[self.kind]
        return _with_prefix(self.value) + suffix


_RATE = re.compile(
    _NUMBER + r"(?P<prefix>[kmgt]?)(?P<unit>pps|fps|bps|bits?/s|b/s|%|)(?P<layer>:L[12])?",
    re.IGNORECASE,
)
_RATE_FORMS = "write 50%, 14.88Mpps, 5Gbps:L1 or 5Gbps:L2"


def parse_rate(text: str) -> Rate:
    """Read a rate: ``50`` and ``50%`` of line, ``14.88Mpps``, ``5Gbps:L1``, ``5Gbit/s:L2``.

    Raises PlanError.
    """
    text = text.strip()
    match = _RATE.fullmatch(text)
    if match is None:
        raise PlanError(f"rate {text!r} is not understood; {_RATE_FORMS}")
    _refuse_octets(f"rate {text!r}", match["unit"])
    prefix = match["prefix"].lower()
    kind = _rate_kind(text, prefix, match["unit"].lower(), (match["layer"] or "").upper())
    value = _positive(f"rate {text!r}", match["number"]) * _PREFIXES[prefix]
    if kind is RateKind.PERCENT and value > _WHOLE_PERCENT:
        raise PlanError(f"rate {text!r}: a line carries no more than 100 %; {_RATE_FORMS}")
    _refuse_beyond_any_line(text, kind, value)
    return Rate(kind, _finite(f"rate {text!r}", value))


def _refuse_beyond_any_line(text: str, kind: RateKind, value: float) -> None:
    """Here, where the rate is still in the user's words: a plan has bits of layer 2 only."""
    is_bits = kind in {RateKind.L1_BPS, RateKind.L2_BPS}
    if is_bits and math.isfinite(value) and value > _LINE_RATE_MAX_BPS:
        line = format_engineering(_LINE_RATE_MAX_BPS, "bit/s")
        raise PlanError(f"rate {text!r}: more than a line of {line} carries; lower the rate")


def _rate_kind(text: str, prefix: str, unit: str, layer: str) -> RateKind:
    is_bits = unit not in {"pps", "fps", "%", ""}
    if is_bits and not layer:
        raise PlanError(
            f"rate {text!r} does not say which bits: {text}:L1 counts all that a frame occupies on "
            "the line "
            f"(frame size + {LINE_OVERHEAD_OCTETS} octets of preamble and gap), "
            f"{text}:L2 counts the frame with its FCS (frame size)",
        )
    if layer and not is_bits:
        raise PlanError(f"rate {text!r}: only bits per second take a layer; {_RATE_FORMS}")
    if is_bits:
        return RateKind.L1_BPS if layer == ":L1" else RateKind.L2_BPS
    if unit in {"pps", "fps"}:
        return RateKind.FPS
    if prefix:
        raise PlanError(f"rate {text!r}: {prefix} of what? {_RATE_FORMS}")
    return RateKind.PERCENT


_LINE_RATE = re.compile(_NUMBER + r"(?P<prefix>[kmgt]?)(?P<unit>bps|bits?/s|b/s|)", re.IGNORECASE)


def parse_line_rate(text: str, name: str = "line rate") -> int:
    """Read a line's speed [bit/s at layer 1]: ``10G``, ``2.5Gbps``, ``100M``.

    Raises PlanError, which calls the speed by ``name``.
    """
    what = f"{name} {text!r}"
    match = _LINE_RATE.fullmatch(text.strip())
    if match is None:
        raise PlanError(f"{what} is not understood; write 10G, 2.5Gbps or 100M")
    _refuse_octets(what, match["unit"])
    value = _positive(what, match["number"]) * _PREFIXES[match["prefix"].lower()]
    if not _LINE_RATE_MIN_BPS <= value <= _LINE_RATE_MAX_BPS:
        raise PlanError(f"{what}: not between 1 Mbit/s and 100 Tbit/s; write 10G, 2.5Gbps or 100M")
    return round(value)


_DURATION = re.compile(_NUMBER + r"(?P<unit>ns|us|ms|s|sec|m|min|h|)", re.IGNORECASE)
_DURATION_NS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": _NS_PER_S,
    "sec": _NS_PER_S,
    "": _NS_PER_S,
    "m": 60 * _NS_PER_S,
    "min": 60 * _NS_PER_S,
    "h": 3600 * _NS_PER_S,
}


def parse_duration_ns(text: str, name: str = "duration") -> int:
    """Read a duration [ns]: ``5`` and ``5s`` are seconds, ``500ms``, ``2m`` is minutes, ``1h``.

    Raises PlanError, which calls the duration by ``name``.
    """
    what = f"{name} {text!r}"
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise PlanError(f"{what} is not understood; write 5, 5s, 500ms, 2m or 1h")
    value_ns = _positive(what, match["number"]) * _DURATION_NS[match["unit"].lower()]
    if not 1 <= value_ns <= _DURATION_MAX_NS:
        raise PlanError(f"{what}: not between 1 ns and 366 days; write 5, 5s, 500ms, 2m or 1h")
    return round(value_ns)


_RATIO = re.compile(_NUMBER + r"(?P<unit>%|)")


def parse_ratio(text: str, name: str) -> float:
    """Read a share of frames, 0 to 1: ``0.1%``, ``0.001``. Raises PlanError, which names it."""
    what = f"{name} {text!r}"
    match = _RATIO.fullmatch(text.strip())
    if match is None:
        raise PlanError(f"{what} is not understood; write 0.1% or 0.001")
    value = float(match["number"]) / (_WHOLE_PERCENT if match["unit"] else 1)
    if not 0 <= value <= 1:  # NaN is neither
        raise PlanError(f"{what}: not between 0 and 1 (0 % and 100 %); write 0.1% or 0.001")
    return value


_SMALL_TIME = re.compile(_NUMBER + r"(?P<unit>ns|us|ms|s)", re.IGNORECASE)
_SMALL_TIME_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": _NS_PER_S}


def parse_small_time_ns(text: str, name: str, most_ns: int) -> float:
    """Read a time with its unit [ns], 0 to ``most_ns``: ``150ns``, ``1.5us``, ``1ms``, ``0ns``.

    Raises PlanError, which names it.
    """
    what = f"{name} {text!r}"
    if text.strip() == "0":
        return 0.0
    match = _SMALL_TIME.fullmatch(text.strip())
    if match is None:
        raise PlanError(f"{what} is not understood; write 150ns, 1.5us or 1ms")
    value_ns = float(match["number"]) * _SMALL_TIME_NS[match["unit"].lower()]
    if not 0 <= value_ns <= most_ns:  # NaN is neither
        raise PlanError(f"{what}: not between 0 and {format_duration_ns(most_ns)}")
    return value_ns


def _refuse_octets(what: str, unit: str) -> None:
    if unit.startswith("B") and not unit.lower().startswith("bit"):
        raise PlanError(f"{what}: B is octets; write b, as in Gbps, for bits")


def _positive(what: str, number: str) -> float:
    value = float(number)
    if value == 0:
        raise PlanError(f"{what}: zero is nothing to measure; give more than 0")
    if value < 0:
        raise PlanError(f"{what}: negative; give more than 0")
    return _finite(what, value)


def _finite(what: str, value: float) -> float:
    if not math.isfinite(value):
        raise PlanError(f"{what}: not a finite number")
    return value


def _octets_text(frame_size: float | Fraction) -> str:
    """Write a size in whole octets, a mean with six figures."""
    return str(frame_size) if isinstance(frame_size, int) else f"{float(frame_size):.6g}"


def _shortest(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _with_prefix(value: float) -> str:
    """Write the number with the largest prefix that loses nothing."""
    for prefix, factor in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if value >= factor and float(_shortest(value / factor)) * factor == value:
            return _shortest(value / factor) + prefix
    return _shortest(value)


def format_count(count: float) -> str:
    """Whole number with thousands separators: ``59,523,809``; halves round to even."""
    return f"{round(count):,}"


def format_engineering(value: float, unit: str, digits: int = 4) -> str:
    """Write ``digits`` significant figures: ``14.88 Mpps``, ``10 Gbit/s``, ``512 pps``.

    Values below 1 keep their figures without a prefix; trailing zeros are dropped.
    """
    # The rounding comes first, so that 999,999 is 1 M and not 1000 k.
    rounded = float(f"{value:.{digits - 1}e}")
    for prefix, factor in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if abs(rounded) >= factor:
            return f"{_significant(rounded / factor, digits)} {prefix}{unit}"
    return f"{_significant(rounded, digits)} {unit}"


def _significant(value: float, digits: int) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_duration_ns(duration_ns: int) -> str:
    """Write a duration for people: ``500 ms``, ``5 s``, ``2 min 30 s``, ``1 h 0 min 5 s``."""
    if duration_ns < 60 * _NS_PER_S:
        for unit, size_ns in (("s", _NS_PER_S), ("ms", 10**6), ("us", 10**3)):
            if duration_ns >= size_ns:
                return f"{_significant(duration_ns / size_ns, 4)} {unit}"
        return f"{duration_ns} ns"
    minutes, seconds = divmod(round(duration_ns / _NS_PER_S), 60)
    hours, minutes = divmod(minutes, 60)
    tail = f" {seconds} s" if seconds else ""
    return f"{hours} h {minutes} min{tail}" if hours else f"{minutes} min{tail}"
