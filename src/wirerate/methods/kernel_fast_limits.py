# SPDX-License-Identifier: BSD-3-Clause
"""What became of the application's own frames in `wirerate kernel-path`, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.kernel_path_settings import FAST_PATH_FPS
from wirerate.units import format_count

if TYPE_CHECKING:
    from wirerate.methods.kernel_fast_path import Generated
    from wirerate.trial.bridge_look import BridgeLook

_LOST_SHARE = 1e-3
"""Fewer frames than this are not worth a line."""
_OFFERED_SHARE = 0.99
_SATURATED = 1.2
"""So many times what the application can do must be offered for it to be saturated."""


def fast_losses(what: str, found: Generated, before: BridgeLook, after: BridgeLook) -> list[str]:
    """Where frames were lost, a line each; looks from before the first and after the last frame.

    The fast path of the looks has no other frames than the generator's.
    """
    passed = after.fast.frames - before.fast.frames
    dropped = after.fast_lost - before.fast_lost
    places = {
        "before the application: on the wire, or in its port's Rx queue": (
            found.sent - passed - dropped
        ),
        "in the application: its ring, or its port's Tx queue, was full": dropped,
        "behind the application, on the way back": passed - found.received,
    }
    return [
        f"{what}: {format_count(lost)} frames were lost {where}"
        for where, lost in places.items()
        if lost > _LOST_SHARE * found.sent
    ]


def offered_notes(what: str, found: Generated) -> list[str]:
    """The generator lost CPU time, or has sent less than it was to: figures are of that."""
    notes = [f"{what}: the generator: {reason}" for reason in found.lost_cpu]
    if found.offered_fps >= _OFFERED_SHARE * FAST_PATH_FPS:
        return notes
    return [
        *notes,
        (
            f"{what}: {format_count(found.offered_fps)} frames/s were offered instead of "
            f"{format_count(FAST_PATH_FPS)}: the generator did not get enough CPU time"
        ),
    ]


def saturation_notes(offered_fps: float, forwarded_fps: float) -> list[str]:
    """Too few frames to say what happens under saturation."""
    if offered_fps >= _SATURATED * forwarded_fps:
        return []
    return [
        (
            f"saturation: {format_count(offered_fps)} frames/s were offered and "
            f"{format_count(forwarded_fps)} forwarded, so the application was not saturated: "
            "give it more --fast-path-work"
        )
    ]
