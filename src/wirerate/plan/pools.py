# SPDX-License-Identifier: BSD-3-Clause
"""How much memory the engine needs for all frames of a run, before it is started. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.memory import flow_memory_octets
from wirerate.plan.program import frame_size_max, queues_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirerate.plan.compile import CompiledFlow
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.model import Plan
    from wirerate.plan.run_settings import RunSettings

_PAGE_OCTETS = 4096
_MBUF_OCTETS = 384
"""Beside the frame: object header 64, struct rte_mbuf 128, headroom 128, cache lines filled up."""
_LISTS_SHARE = 8
"""A frame's places in lists, 24 octets, and some room: an eighth of its 384 octets or more."""
_RX_ROOM_MIN = 2048
_DESCRIPTORS_DEFAULT = 1024


def memory_octets(
    plan: Plan, settings: RunSettings, lcore_map: LcoreMap, flows: Sequence[CompiledFlow]
) -> int:
    """What the mbufs of all ports take on ordinary pages, the most that it can be [octets].

    A warm-up has frames of its own: those of a program that was unloaded stay allocated.
    """
    programs = 2 if settings.warm_up_ns else 1
    sizes = [flow.frame_size_max for flow in flows]
    total = 0
    for entry in lcore_map.ports:
        if entry.rx:
            largest = frame_size_max(plan, entry.port, sizes, jumbo=settings.jumbo)
            queues = max(len(entry.rx), len(entry.tx))
            descriptors = queues * max(settings.rx_descriptors, _DESCRIPTORS_DEFAULT)
            each = _share_of_page(max(largest, _RX_ROOM_MIN) + _MBUF_OCTETS)
            total += (settings.mbufs + descriptors) * each
    for flow, queues in zip(flows, queues_of(plan, lcore_map, flows), strict=True):
        octets = flow_memory_octets(flow, queues, settings.burst)
        total += programs * (octets + octets // _LISTS_SHARE)
    return total


def _share_of_page(octets: int) -> int:
    """What a receive mbuf takes of 4 KiB pages: none is across two (rte_mempool_get_page_size)."""
    if octets > _PAGE_OCTETS:
        return -(-octets // _PAGE_OCTETS) * _PAGE_OCTETS
    return _PAGE_OCTETS // (_PAGE_OCTETS // octets)
