# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate perf` is asked to do, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from wirerate.plan.location import parse_location
from wirerate.plan.run_settings import RunSettings

if TYPE_CHECKING:
    from wirerate.plan.location import Location
    from wirerate.units import Rate

DEFAULT_LOCATION = parse_location("ring:wirerate")
"""A ring in memory: what is used when no device is given."""

FLOWS_MAX = 65536
"""The sources, 198.18.0.1 onward, end before the destination, 198.19.0.1."""


class Protocol(Enum):
    """Layer 4 of the frames; the value is the IPv4 protocol number."""

    UDP = 17
    TCP = 6


@dataclass(frozen=True)
class PerfSettings(RunSettings):
    """The settings of a run, and what `wirerate perf` was asked to send and where.

    ``frame_size`` [octets, with FCS]. ``rate`` is per port, over all its queues. ``frames`` None =
    no limit per port. ``flows`` are distinct 5-tuples per port. ``measure``: every frame is known
    when it comes back.
    """

    locations: tuple[Location, ...]
    frame_size: int
    rate: Rate
    frames: int | None
    flows: int
    protocol: Protocol
    promiscuous: bool
    measure: bool = False

    @property
    def default_location(self) -> bool:
        """No device was given: the one location is wirerate's own choice."""
        return self.locations == (DEFAULT_LOCATION,)
