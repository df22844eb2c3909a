# SPDX-License-Identifier: BSD-3-Clause
"""The relay's book: what came, what was given, and what follows from it.

A frame is genuine when its stamp is one that came, octet for octet; flows are told by their UDP
ports. Counted as `docs/run.md` defines: received are different
genuine frames, duplicates are more of one, reordered came after one with a higher sequence
(RFC 4737), duplicates not counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import fmean
from typing import Any

from chaos.stamp import STAMP_OCTETS, damaged, read_stamp

_NS = 1e9


class Book:
    """All frames of one trial."""

    def __init__(self) -> None:
        self.arrived = 0
        self._done: Counter[str] = Counter()
        self._in: list[tuple[int, int, bytes]] = []
        self._out: list[tuple[int, int, int, bytes, int]] = []

    def came(self, at: int, frame: bytes, port: int) -> None:
        """A frame of a UDP port came at a time."""
        self._in.append((at, port, frame))
        self.arrived += 1

    def gave(self, came: int, before: int, after: int, frame: bytes, sink: int) -> None:
        """A frame that came at a time was given to a sink between two others."""
        self._out.append((came, before, after, frame, sink))

    def did(self, what: str) -> None:
        """Something else was done to a frame."""
        self._done[what] += 1

    def sums(self) -> dict[str, Any]:
        """What is true, for each UDP port and in all."""
        flows = {port: self._flow(port) for port in {one[1] for one in self._in}}
        return {
            "flows": flows,
            "came": len(self._in),
            "gave": len(self._out),
            "gave_to": dict(Counter(one[4] for one in self._out)),
            "damaged": sum(damaged(one[3]) for one in self._out),
            "first_ns": self._in[0][0] if self._in else 0,
            "last_in_ns": self._in[-1][0] if self._in else 0,
            "last_out_ns": self._out[-1][2] if self._out else 0,
            **self._done,
        }

    def _flow(self, port: int) -> dict[str, Any]:
        genuine = {frame[-STAMP_OCTETS:] for _, own, frame in self._in if own == port}
        seen: set[bytes] = set()
        highest: dict[int, int] = defaultdict(lambda: -1)
        found: Counter[str] = Counter()
        low: list[int] = []
        high: list[int] = []
        for came, before, after, frame, _ in self._out:
            stamp = read_stamp(frame)
            tail = frame[-STAMP_OCTETS:]
            if stamp is None or tail not in genuine:
                continue
            if tail in seen:
                found["duplicates"] += 1
                continue
            seen.add(tail)
            found["reordered"] += stamp.sequence < highest[stamp.number]
            highest[stamp.number] = max(stamp.sequence, highest[stamp.number])
            low.append(before - came)
            high.append(after - came)
        times = self._times(port)
        return {
            "sent": len(times),
            "received": len(seen),
            "duplicates": found["duplicates"],
            "reordered": found["reordered"],
            "low_ns": spread(low),
            "high_ns": spread(high),
            "times": times,
        }

    def _times(self, port: int) -> list[tuple[int, int]]:
        """Sequence (-1 without a stamp) and time of each frame that came."""
        stamps = ((at, read_stamp(frame)) for at, own, frame in self._in if own == port)
        return [(-1 if stamp is None else stamp.sequence, at) for at, stamp in stamps]


def spread(values: list[int]) -> dict[str, float] | None:
    """Min, median, mean and max of times [ns]; None of none."""
    if not values:
        return None
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    return {"min": ordered[0], "p50": middle, "mean": fmean(ordered), "max": ordered[-1]}


def envelope(times: list[tuple[int, int]], fps: float) -> dict[str, float] | None:
    """How far a claimed rate is from the times of a paced flow; None of too few frames.

    Frame k is never sent early, and some are sent in time: the least lateness in the first third
    and in the last third are alike, unless the clocks run at different speeds. ``drift`` [ratio],
    what it may be wrong by (``doubt``), and the greatest lateness [s].
    """
    if len(times) < 60 or fps <= 0:
        return None
    late = [(at - times[0][1]) / _NS - (seq - times[0][0]) / fps for seq, at in times]
    third = len(late) // 3
    first, last = min(late[:third]), min(late[-third:])
    span = (times[-1][1] - times[0][1]) / _NS * 2 / 3
    if span <= 0:
        return None
    doubt = (100e-6 + 1 / fps) / span
    return {"drift": (last - first) / span, "doubt": doubt, "late_s": max(late) - min(late)}
