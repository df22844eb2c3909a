# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate perf` is asked to do, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirerate.plan.frames import FrameSpec, Protocol
from wirerate.plan.location import parse_location
from wirerate.units import FRAME_SIZE_JUMBO

if TYPE_CHECKING:
    from wirerate.plan.eal_args import EalRequest
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.location import Location
    from wirerate.units import Rate

DEFAULT_LOCATION = parse_location("ring:wirerate")
"""A ring in memory: what is used when no device is given."""


@dataclass(frozen=True)
class PerfSettings:
    """What `wirerate perf` was asked to do; checked as far as that goes without a device.

    ``lcores`` are the ones that maps may use, ``lcore_map`` is None when wirerate is to choose.
    ``rate`` is per port, over all its queues; ``line_rate_bps`` None = what the device reports.
    ``rx_descriptors`` and ``tx_descriptors`` 0 = 1024, fitted to the device; ``mbufs`` are the
    receive mbufs of a port. ``duration_ns`` None = until interrupted, ``frames`` None = no limit
    per port. ``flows`` are distinct 5-tuples per port.
    """

    locations: tuple[Location, ...]
    eal: EalRequest
    lcores: tuple[int, ...]
    lcore_map: LcoreMap | None
    burst: int
    frame_size: int
    rate: Rate
    line_rate_bps: int | None
    rx_descriptors: int
    tx_descriptors: int
    mbufs: int
    period_ns: int
    duration_ns: int | None
    frames: int | None
    flows: int
    protocol: Protocol
    promiscuous: bool
    jumbo: bool
    verbose: bool
    json: bool

    @property
    def default_location(self) -> bool:
        """No device was given: the one location is wirerate's own choice."""
        return self.locations == (DEFAULT_LOCATION,)

    @property
    def frame_size_max(self) -> int:
        """Largest frame that ports are opened for [octets, with FCS]."""
        return max(self.frame_size, FRAME_SIZE_JUMBO) if self.jumbo else self.frame_size

    def frame_spec(
        self, port: int, *, src_mac: str | None = None, dst_mac: str | None = None
    ) -> FrameSpec:
        """Return what port number ``port`` sends, with other Ethernet addresses if given."""
        return FrameSpec(self.frame_size, self.protocol, self.flows, port, src_mac, dst_mac)
