# SPDX-License-Identifier: BSD-3-Clause
"""What limits a row of `wirerate kernel-path`, where that is known. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.kernel_path_settings import Transfer
from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirerate.methods.kernel_figures import Repeat

    Repeats = Mapping[Transfer, Sequence[Repeat]]

_FULL = 0.95
"""A CPU, or an lcore, that is busy to this share has no more to give."""
_SIDES = {"near_iperf": "the near iperf3", "far_iperf": "the far iperf3"}
_LOST = {
    "ring_lost": "in the ring to the kernel's worker",
    "kernel_lost": "at the kernel port",
    "wire_lost": "at the port",
}
_LOST_SHARE = 1e-4
"""Fewer frames than this are not what limits."""
_SOCKET_SHARE = _UNCOUNTED_SHARE = 0.01
_MERGED = 2.0
"""Packets of so many frames are merged ones, or such that are cut later."""


def limits_of(
    repeats: Repeats, linux: Repeats | None, *, cpus: int, threads: int, udp_length: int = 0
) -> list[str]:
    """What is known, a line each; ``linux``: that row, to compare with.

    ``threads`` are busy at the same time on ``cpus``: both iperf3 and the application's lcores.
    ``udp_length`` of datagrams [octets]; 0 = what fits a frame.
    """
    measured = [(kind, some) for kind, some in repeats.items() if some]
    found = [line for kind, some in measured for line in _limits(kind, some, udp_length)]
    if linux is not None:
        found += _unmerged(repeats, linux)
    if cpus < threads:
        found.append(f"{cpus} CPUs for {threads} busy threads: all compete for them")
    return found


def _limits(kind: Transfer, repeats: Sequence[Repeat], udp_length: int) -> list[str]:
    found = [*_busy(repeats), *_lost(repeats)]
    if not kind.udp:
        found += _again(repeats)
    elif any(udp_length > (one.frame_octets or udp_length) for one in repeats):
        found += _fragmented(repeats, udp_length)
    else:
        found += _between(kind, repeats) + _socket(kind, repeats)
    return [f"{kind.title}: {text}" for text in found]


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _busy(repeats: Sequence[Repeat]) -> list[str]:
    found = []
    for key, who in _SIDES.items():
        share = _median([(one.cpu_s[key] or 0.0) / one.seconds for one in repeats])
        if share >= _FULL:
            found.append(f"one CPU, {who} was busy to {share:.0%}")
    busy = _median([one.busy or 0.0 for one in repeats])
    if busy >= _FULL:
        found.append(f"one lcore of the application, busy to {busy:.0%}")
    return found


def _lost(repeats: Sequence[Repeat]) -> list[str]:
    frames = sum(one.wire_frames for one in repeats)
    found = []
    for key, where in _LOST.items():
        lost = sum(one.lost.get(key, 0) for one in repeats)
        if lost > _LOST_SHARE * (frames + lost):
            found.append(f"{format_count(lost)} frames were lost {where}")
    return found


def _again(repeats: Sequence[Repeat]) -> list[str]:
    """TCP's losses, wherever they were."""
    frames = sum(one.wire_frames for one in repeats)
    again = sum(one.retransmits or 0 for one in repeats)
    if again <= _LOST_SHARE * frames:
        return []
    share = f", {100 * again / frames:.2g} % of the frames" if frames else ""
    return [f"{format_count(again)} segments were sent again{share}"]


def _fragmented(repeats: Sequence[Repeat], udp_length: int) -> list[str]:
    """Datagrams of several frames cannot be counted against frames and packets."""
    if not any(one.udp_loss for one in repeats):
        return []
    return [
        (
            f"datagrams of {format_count(udp_length)} octets are several frames, and are lost with "
            "any one of them"
        )
    ]


def _between(kind: Transfer, repeats: Sequence[Repeat]) -> list[str]:
    """What the wire or the kernel handed over, the other one did not get, and nobody counted."""
    wire = sum(one.wire_frames for one in repeats)
    kernel = sum(_packets(kind, one) for one in repeats)
    known = sum(sum(one.lost.values()) for one in repeats)
    given, missed = (wire, wire - kernel) if kind.read else (kernel, kernel - wire)
    if missed - known <= _UNCOUNTED_SHARE * given:
        return []
    receiver = "iperf3" if any(one.kernel_packets is None for one in repeats) else "kernel"
    where = f"the wire and the near {receiver}" if kind.read else "the near kernel and the wire"
    return [f"{format_count(missed - known)} frames were lost in a queue between {where}"]


def _packets(kind: Transfer, one: Repeat) -> int:
    """Of the near kernel; where nobody counted them, the datagrams of the iperf3 above it."""
    if one.kernel_packets is not None:
        return one.kernel_packets
    return (one.datagrams if kind.read else one.sent_datagrams) or 0


def _socket(kind: Transfer, repeats: Sequence[Repeat]) -> list[str]:
    """Datagrams that came to the receiving kernel and did not reach iperf3.

    They came in packets of the near kernel, or as frames to the far one.
    """
    came = sum(_packets(kind, one) if kind.read else one.wire_frames for one in repeats)
    read = sum(one.datagrams or 0 for one in repeats)
    missed = came - read
    if read and _SOCKET_SHARE * came < missed < came / 2 + read:
        side = "near" if kind.read else "far"
        return [f"{format_count(missed)} datagrams were lost in the socket of the {side} iperf3"]
    return []


def _unmerged(repeats: Repeats, linux: Repeats) -> list[str]:
    """Linux alone handles many frames as one packet, and here it does not."""
    found = []
    for kind, word in ((Transfer.TCP_READ, "GRO"), (Transfer.TCP_WRITE, "TSO or GSO")):
        here, there = _merge(repeats.get(kind)), _merge(linux.get(kind))
        if here is not None and there is not None and here < _MERGED <= there:
            found.append(
                f"{kind.title}: no {word} at the kernel port: {here:.1f} frames in a packet, "
                f"{there:.1f} in linux"
            )
    return found


def _merge(repeats: Sequence[Repeat] | None) -> float | None:
    """Frames of the wire in a packet of the near kernel."""
    shares = [one.wire_frames / one.kernel_packets for one in repeats or () if one.kernel_packets]
    return _median(shares) if shares else None
