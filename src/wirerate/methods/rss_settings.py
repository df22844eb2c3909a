# SPDX-License-Identifier: BSD-3-Clause
"""What an RSS sweep is asked to do, and what of it a second run must share to go on. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from wirerate.plan.location import LocationKind
from wirerate.plan.run_settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wirerate.plan.location import Location
    from wirerate.plan.rss_flows import FlowKind, Spread

PAIRED = frozenset({LocationKind.MEMIF, LocationKind.VHOST, LocationKind.VIRTIO_USER})
"""Kinds whose queues are joined one to one with those of the peer."""
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


@dataclass(frozen=True, kw_only=True)
class SweepSettings(RunSettings):
    """The settings of a run, and what is swept; ``trial_s`` [s].

    ``lcores`` may be used; ``line_rate_bps`` None = as fast as the link takes frames.

    ``locations``: where the generator sends and where it receives, once where they are the same;
    none: generator and forwarder are joined by ``link``. ``dut_locations``: likewise where a
    forwarder of ours receives and sends; none beside ``locations``: the forwarder is elsewhere,
    and ``queues`` and ``works`` are what the user set there. ``key_given``: by the user.
    ``dst_mac``: whom frames are for there; None = nobody's.
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
    locations: tuple[Location, ...] = ()
    dut_locations: tuple[Location, ...] = ()
    key_given: bool = False
    dst_mac: str | None = None

    @property
    def foreign(self) -> bool:
        """The forwarder is elsewhere: nothing is known of it but what comes back."""
        return bool(self.locations) and not self.dut_locations

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
            "link": None if self.locations else self.link.value,
            "locations": [location.text for location in self.locations],
            "dut_locations": [location.text for location in self.dut_locations],
            "dst_mac": self.dst_mac,
            "key": self.key.hex(),
            "flows": self.flows,
            "packets": str(self.kind),
            "spread": str(self.spread),
            "seed": self.seed,
            "lcores": list(self.lcores),
        }


@dataclass(frozen=True)
class Places:
    """Who runs where for a number of queues.

    ``generator`` is an lcore, ``forwarder`` lcores, none where it is elsewhere; ``shared``: a CPU
    has more than one of them.
    """

    generator: int
    forwarder: tuple[int, ...]
    shared: bool


def places(queues: int, cpus: Sequence[int], *, foreign: bool = False) -> Places:
    """The forwarder's lcores come first, a CPU each as far as they go; the generator has the rest.

    Of the CPUs that may be used, the lowest are left to the generator and to all that sleeps.
    """
    ordered = sorted(cpus)
    if foreign:
        return Places(ordered[0], (), shared=False)
    forwarder = tuple(ordered[-min(queues, len(ordered)) :])
    shared = queues + 1 > len(ordered)
    return Places(ordered[0], forwarder, shared)
