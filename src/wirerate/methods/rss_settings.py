# SPDX-License-Identifier: BSD-3-Clause
"""What an RSS sweep is asked to do, and what of it a second run must share to go on. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from wirerate.plan.rss_flows import flow_set
from wirerate.plan.rss_hash import FIELDS, Rss, imbalance
from wirerate.plan.run_settings import RunSettings

if TYPE_CHECKING:
    from pathlib import Path

    from wirerate.plan.rss_flows import FlowKind, Spread
    from wirerate.plan.rss_hash import RssFlow

RETA_ENTRIES = 128
"""Of the table that the generator goes by, as many devices have it."""
_LOOP_CYCLES = 7.07
"""What an iteration of the reference's loop cost its author, from his own tables: 64 octets, one
queue, 887 to 3,007 cycles for 100 to 400 iterations."""
_FRAME_OCTETS = 2048
_NS_PER_S = 1_000_000_000


class Link(Enum):
    """What joins generator and forwarder on this machine."""

    MEMIF = "memif"
    VHOST = "vhost"

    def locations(self, folder: Path) -> tuple[str, str]:
        """The forwarder's end, which is opened first, and the generator's."""
        if self is Link.MEMIF:
            return f"memif:{folder}/memif.sock,role=server", f"memif:{folder}/memif.sock"
        return f"vhost:{folder}/vhost.sock", f"virtio-user:{folder}/vhost.sock"


class WorkUnit(Enum):
    """What a number of work counts."""

    CYCLES = "cycles"
    NS = "ns"
    LOOPS = "loops"

    def in_cycles(self, work: float, tsc_hz: int) -> int:
        """In cycles of a TSC of that frequency."""
        each = {WorkUnit.CYCLES: 1.0, WorkUnit.NS: tsc_hz / _NS_PER_S, WorkUnit.LOOPS: _LOOP_CYCLES}
        return round(work * each[self])


@dataclass(frozen=True)
class FlowSet:
    """The flows of a sweep; ``rss`` tells the queue of each, None = the forwarder's device does."""

    flows: tuple[RssFlow, ...]
    rss: Rss | None


@dataclass(frozen=True, kw_only=True)
class SweepSettings(RunSettings):
    """The settings of a run, and what is swept; ``trial_s`` [s].

    ``lcores`` may be used; ``line_rate_bps`` None = as fast as the link takes frames.
    """

    queues: tuple[int, ...]
    works: tuple[float, ...]
    work_unit: WorkUnit
    sizes: tuple[int, ...]
    baseline: bool
    repeats: int
    trial_s: float
    link: Link
    key: bytes
    flows: int
    kind: FlowKind
    spread: Spread
    seed: int

    @property
    def frames_octets(self) -> int:
        """What ready frames take at most: those of all flows, on each queue [octets]."""
        return self.flows * 2 * _FRAME_OCTETS * max(self.queues)

    def document(self) -> dict[str, Any]:
        """``settings`` of the JSON document; runs that share them may be one sweep."""
        return {
            "queues": list(self.queues),
            "work": list(self.works),
            "work_unit": self.work_unit.value,
            "sizes": list(self.sizes),
            "baseline": self.baseline,
            "repeats": self.repeats,
            "trial_s": self.trial_s,
            "line_rate_bps": self.line_rate_bps,
            "link": self.link.value,
            "key": self.key.hex(),
            "flows": self.flows,
            "packets": str(self.kind),
            "spread": str(self.spread),
            "seed": self.seed,
            "lcores": list(self.lcores),
        }


def placed_flows(settings: SweepSettings, queues: int) -> FlowSet:
    """The flows for so many queues, where the generator stands in for the device's RSS."""
    reta = tuple(entry % queues for entry in range(RETA_ENTRIES))
    rss = Rss(settings.key, frozenset(FIELDS), reta)
    flows = flow_set(settings.flows, rss, settings.kind, settings.spread, settings.seed)
    return FlowSet(tuple(flows), rss)


def placement_document(settings: SweepSettings) -> dict[str, Any]:
    """``rss`` of the JSON document."""
    return {
        "key": settings.key.hex(),
        "fields": list(FIELDS),
        "reta": "entry modulo queues",
        "spread": str(settings.spread),
        "placed_by": "generator",
        "per_queue_flows": [_load_of(settings, queues) for queues in settings.queues],
    }


def _load_of(settings: SweepSettings, queues: int) -> dict[str, Any]:
    found = placed_flows(settings, queues)
    counts = [0] * queues
    for flow in found.flows:
        assert found.rss is not None
        counts[found.rss.queue_of(found.rss.hash_of(flow))] += 1
    uneven = imbalance(counts)
    assert uneven is not None
    return {
        "queues": queues,
        "flows": counts,
        "max_over_mean": uneven.max_over_mean,
        "jain": uneven.jain,
    }
