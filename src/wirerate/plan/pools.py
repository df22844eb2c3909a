# SPDX-License-Identifier: BSD-3-Clause
"""How much memory the engine needs for all frames of a run, before it is started. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.location import LocationKind
from wirerate.plan.memory import flow_memory_octets, frames_held_max
from wirerate.plan.port_params import frame_size_max
from wirerate.plan.program import queues_of
from wirerate.plan.stamps import stamps_needed

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
_FLOW_STATE_OCTETS = 8320
"""What an Rx queue keeps of each stamp: struct flow_state (engine/measure/rx_measure.h)."""
_COPIES_FRAMES_ALL = 1 << 22
_COPIES_FRAMES_MIN = 65_536
_FLOW_SLOT_OCTETS = 16
_FLOW_ADDRESS_OCTETS = 32
_RX_ROOM_MIN = 2048
_RX_ROOM_STEP = 1024
_TAGS_OCTETS = 8
"""Room of a receive mbuf (engine/device/port_open.c, rx_room)."""
_DESCRIPTORS_DEFAULT = 1024
_DESCRIPTORS_NIC = 4096


def memory_octets(
    plan: Plan, settings: RunSettings, lcore_map: LcoreMap, flows: Sequence[CompiledFlow]
) -> int:
    """What frames and measuring take on ordinary pages, the most that it can be [octets].

    A warm-up and each trial of a search have frames of their own, and those of the program before
    stay allocated where a device may hold them (NICs; engine/program/kept_frames.h).
    """
    several = settings.several or settings.warm_up_ns or settings.converge is not None
    sizes = [flow.frame_size_max for flow in flows]
    total = 0
    for entry in lcore_map.ports:
        if entry.rx or plan.ports[entry.port].location.kind is LocationKind.MEMIF:
            largest = frame_size_max(plan, entry.port, sizes, jumbo=settings.jumbo)
            queues = max(len(entry.rx), len(entry.tx))
            nic = plan.ports[entry.port].location.needs_pci
            total += rx_pool_octets(settings, queues, largest, nic=nic)
    held = {
        port.name: frames_held_max(port.location, settings.tx_descriptors) for port in plan.ports
    }
    counts = queues_of(plan, lcore_map, flows)
    for flow, queues in zip(flows, counts, strict=True):
        octets = flow_memory_octets(flow, queues, settings.burst, held[flow.flow.tx_port])
        programs = 2 if several and held[flow.flow.tx_port] else 1
        total += programs * (octets + octets // _LISTS_SHARE)
    rx_queues = sum(len(entry.rx) for entry in lcore_map.ports)
    stamps = sum(stamps_needed(flows, counts))
    states = rx_queues * stamps * _FLOW_STATE_OCTETS
    if rx_queues > 1:
        states += copies_octets(stamps)
    tables = rx_queues * flow_table_octets(settings.distinct_max)
    return total + states + tables


def rx_pool_octets(settings: RunSettings, queues: int, largest: int, *, nic: bool) -> int:
    """What a port's receive mbufs take for frames of ``largest`` [octets, with FCS]."""
    default = _DESCRIPTORS_NIC if nic else _DESCRIPTORS_DEFAULT
    descriptors = queues * max(settings.rx_descriptors, default)
    room = -(-(largest + _TAGS_OCTETS) // _RX_ROOM_STEP) * _RX_ROOM_STEP
    each = _share_of_page(max(room, _RX_ROOM_MIN) + _MBUF_OCTETS)
    return (settings.mbufs + descriptors) * each


def _share_of_page(octets: int) -> int:
    """What a receive mbuf takes of 4 KiB pages: none is across two (rte_mempool_get_page_size)."""
    if octets > _PAGE_OCTETS:
        return -(-octets // _PAGE_OCTETS) * _PAGE_OCTETS
    return _PAGE_OCTETS // (_PAGE_OCTETS // octets)


def copies_octets(stamps: int) -> int:
    """What several Rx queues have together of so many stamps (engine/program/measure_build.c)."""
    if stamps == 0:
        return 0
    frames = max(_COPIES_FRAMES_ALL >> (stamps - 1).bit_length(), _COPIES_FRAMES_MIN)
    return stamps * frames // 32 * 8


def flow_table_octets(flows: int) -> int:
    """What a queue's table of so many flows takes (engine/program/flow_table_build.c)."""
    slots = 1 << (2 * flows - 1).bit_length() if flows else 0
    return slots * _FLOW_SLOT_OCTETS + flows * _FLOW_ADDRESS_OCTETS
