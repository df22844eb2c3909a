# SPDX-License-Identifier: BSD-3-Clause
"""How much memory the ready frames of a flow take in the engine, the most that it can be.

The engine asks EAL for memory before it knows any frame, so the commands add this up over all flows
first. The figures are those of engine/program (frame_ring.c): a ring of ready frames for each
queue, long enough for a burst, and for whole periods where the frames repeat soon. Frames that are
written before each burst need a ring beyond what the device may still hold. Pure.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from wirerate.plan.location import LocationKind
from wirerate.units import frame_len_no_fcs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.location import Location

_CACHE_LINE = 64
#: Beside the frame: the pool's object header 64, struct rte_mbuf 128, headroom 128.
_MBUF_OCTETS = 320
READY_PERIOD_MAX = 8192
"""Frames that repeat within so many are rendered once, before the start (0002, STREAM)."""
#: Else fields are written before each burst; these many frames leave room for lists of values.
_WALK_FRAMES = 16_384
_RING_FRAMES_MIN = 64
#: What copies frames before it returns (engine/device/frames_held.c).
_COPYING = {
    LocationKind.NULL,
    LocationKind.PCAP,
    LocationKind.TAP,
    LocationKind.AF_PACKET,
    LocationKind.VHOST,
}
_DESCRIPTORS_DEFAULT = 1024
_RING_MIN = 1024
_MEMIF_RSIZE_MAX = 14
_BURST_MAX = 512


def frames_held_max(location: Location, tx_descriptors: int) -> int:
    """Frames that a Tx queue's device may still read after it took them: at most the engine's.

    ``tx_descriptors`` 0 is the default. Drivers make longer rings than asked for
    (engine/device/frames_held.h).
    """
    descriptors = tx_descriptors or _DESCRIPTORS_DEFAULT
    if location.kind in _COPYING:
        return 0
    if location.kind is LocationKind.RING:
        return descriptors + _BURST_MAX
    if location.kind is LocationKind.MEMIF or location.value.startswith("net_memif"):
        if "zero-copy=yes" not in location.devargs:
            return 0
        sizes = [min(size, _MEMIF_RSIZE_MAX) for size in _numbers(location, "rsize")]
        descriptors = 1 << max(sizes, default=0)
    if location.kind is LocationKind.VIRTIO_USER:
        descriptors = max(descriptors, *_numbers(location, "queue_size"), 1)
    return max(1 << (descriptors - 1).bit_length(), _RING_MIN) + _BURST_MAX


def _numbers(location: Location, name: str) -> list[int]:
    """The values of an argument of the location."""
    return [int(text) for text in re.findall(rf"(?:^|,){name}=(\d{{1,5}})", location.devargs)]


def flow_memory_octets(compiled: CompiledFlow, queues: int, burst: int, held: int) -> int:
    """Octets that the frames of a flow take, sent over ``queues`` in bursts of ``burst``.

    ``held``: what each queue's device may hold (`frames_held_max`).
    """
    least = max(burst, _RING_FRAMES_MIN)
    if compiled.scan is not None:
        return queues * _trace_octets(compiled.scan, least)
    written = max(least, held + burst)
    frames = _ring_frames(compiled.stream, written if compiled.measured else least, written)
    return queues * frames * _stride(compiled.frame_size_max)


def _stride(frame_size: int) -> int:
    """What one ready frame takes."""
    return _MBUF_OCTETS + -(-frame_len_no_fcs(frame_size) // _CACHE_LINE) * _CACHE_LINE


def _ring_frames(stream: Mapping[str, Any], least: int, written: int) -> int:
    """Frames of one queue's ring; a part of the stream never has a longer period than the whole.

    ``least`` of them where all are ready, ``written`` where fields are written before each burst.
    """
    period = frames_period(stream)
    if period > READY_PERIOD_MAX or "ramp" in stream:
        return max(_WALK_FRAMES, written) + max(len(stream["lengths"]), 1)
    return -(-least // period) * period


def frames_period(stream: Mapping[str, Any]) -> int:
    """Frames after which those of a STREAM with a template begin anew."""
    lengths = max(len(stream["lengths"]), 1)
    return math.lcm(lengths, *(_count(field) for field in stream["fields"]))


def _count(field: Mapping[str, Any]) -> int:
    """Frames after which a FIELD starts again."""
    every: int = field.get("every", 1)
    if "values" in field:
        return every * len(field["values"])
    count: int = field["random"]["count"] if "random" in field else field["count"]
    return every * count


def _trace_octets(scan: Mapping[str, Any], least: int) -> int:
    """A trace as it is; a short one is repeated until a burst finds enough of it."""
    octets: int = scan["memory_octets"]
    frames: int = scan["frames"]
    whole = -(-(_RING_FRAMES_MIN + least) // frames)
    return octets * max(whole, 1)
