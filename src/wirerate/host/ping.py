# SPDX-License-Identifier: BSD-3-Clause
"""ping(8) of iputils: every reply's round trip, not its summary."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_REPLY = re.compile(r"icmp_seq=(\d+) .*?time[=<]([0-9.]+) (us|ms|s)\b(?!.*DUP!)")
_SUMMARY = re.compile(r"^(\d+) packets transmitted, (\d+) received", re.MULTILINE)
_REFUSED = re.compile(r"^From \S+ icmp_seq=\d+ (.+?)\s*$", re.MULTILINE)
_US = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class PingResult:
    """``sent`` requests and the round trips of their replies [us], in the order they came."""

    sent: int
    times_us: tuple[float, ...] = ()


def first_reply_command(address: str, interface: str, patience_s: int) -> list[str]:
    """Ask until one reply came, an error did, or the time is over; ``interface`` as below."""
    words = ["ping", "-n", "-i", "0.2", "-c", "1", "-w", str(patience_s)]
    return [*words, *_by(interface), address]


def ping_command(
    address: str, count: int, interval_ms: int, octets: int, interface: str = ""
) -> list[str]:
    """Send ``count`` requests with so many octets, then wait a second for the last reply.

    They go by the ``interface`` and no other; empty = as Linux chooses.
    """
    words = ["ping", "-n", "-i", f"{interval_ms / 1e3:g}", "-s", str(octets)]
    return [*words, "-c", str(count), "-W", "1", *_by(interface), address]


def _by(interface: str) -> list[str]:
    return ["-I", interface] if interface else []


def why_none(text: str, complaint: str) -> str:
    """The reason that ping gave for having no reply; empty where it has none."""
    said = _REFUSED.search(text)
    return complaint.removeprefix("ping: ") or (said[1] if said else "")


def parse_ping(text: str, interval_ms: int, *, interrupted: bool = False) -> PingResult:
    """Read what ping printed; of an ``interrupted`` one, requests still on their way do not count.

    They are the last ones, as many as are sent in the longest round trip.
    """
    replies = {int(seq): float(time) * _US[unit] for seq, time, unit in _REPLY.findall(text)}
    summary = _SUMMARY.search(text)
    sent = int(summary[1]) if summary else max(replies, default=0)
    if interrupted:
        longest_ms = max(replies.values(), default=0.0) / 1e3
        on_their_way = math.ceil(longest_ms / interval_ms) + 1
        sent = max(max(replies, default=0), sent - on_their_way)
    return PingResult(max(sent, len(replies)), tuple(replies.values()))


def together(results: Iterable[PingResult]) -> PingResult:
    """Several pings as one."""
    found = tuple(results)
    times = tuple(time for result in found for time in result.times_us)
    return PingResult(sum(result.sent for result in found), times)


def percentile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least ``share`` (0…1) of all do not exceed; None of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def ping_document(result: PingResult) -> dict[str, Any]:
    """PING of docs/design/0009-kernel-path.md."""
    received = len(result.times_us)
    return {
        "sent": result.sent,
        "received": received,
        "loss": 1 - received / result.sent if result.sent else None,
        "p50_us": percentile(result.times_us, 0.5),
        "p90_us": percentile(result.times_us, 0.9),
        "p99_us": percentile(result.times_us, 0.99),
        "max_us": max(result.times_us, default=None),
    }
