# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate forward` and `wirerate reflect` are asked to do, whoever asks. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from wirerate.plan.run_settings import RunSettings

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from wirerate.plan.location import Location
    from wirerate.plan.peer_address import PeerAddress

WORK_MAX_CYCLES = 1_000_000_000
WORK_MAX_NS = 100_000_000
DELAY_MAX_NS = 1_000_000_000
SEED_MAX = (1 << 63) - 1
DISTINCT_DEFAULT = 1 << 20
"""Limits of the engine (engine/config/config_limits.h); the time of work is WORK_MAX_CYCLES at
10 GHz."""

_NS_PER_S = 1_000_000_000


class Rewrite(Enum):
    """What becomes of a frame's addresses; the value is the engine's word."""

    NONE = "none"
    MAC_SWAP = "mac_swap"
    REVERSE = "reverse"


REWRITES = {"none": Rewrite.NONE, "mac-swap": Rewrite.MAC_SWAP, "reverse": Rewrite.REVERSE}
"""By the user's words."""


@dataclass(frozen=True)
class Work:
    """What each frame costs: cycles of the TSC, or a time [ns]; the other one is 0."""

    cycles: int = 0
    time_ns: float = 0.0

    def in_cycles(self, tsc_hz: int) -> int:
        """In cycles of a TSC of that frequency."""
        return self.cycles + round(self.time_ns * tsc_hz / _NS_PER_S)


@dataclass(frozen=True)
class Impairments:
    """What happens to frames on their way; as docs/design/0005-measurement.md, Forwarding.

    ``drop``, ``duplicate`` and ``reorder`` are probabilities.
    """

    work: Work = Work()
    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay_ns: int = 0
    seed: int = 1


@dataclass(frozen=True)
class HostAddress:
    """An address that a port answers for: ``port`` is its place among the locations."""

    port: int
    address: IPv4Address | IPv6Address


@dataclass(frozen=True)
class Capture:
    """What a port receives is copied into a file; ``port`` is its place among the locations.

    ``path`` is absolute; ``filter`` in libpcap's words, empty = all. ``frames`` are kept at most.
    """

    port: int
    path: str
    filter: str
    frames: int


@dataclass(frozen=True)
class Way:
    """What is received on port ``source`` leaves by ``target``; None = it is counted and freed.

    Both are places among the locations.
    """

    source: int
    target: int | None


@dataclass(frozen=True)
class ForwardSettings(RunSettings):
    """The settings of a run, and what a forwarder is to do with what it receives.

    ``command`` is `forward` or `reflect`. ``queues`` None = as many as a port has lcores.
    ``mbufs_given`` False: their number is wirerate's choice, for ``impairments.delay_ns``.
    ``listen``: where the counters can be asked for.
    """

    command: str
    locations: tuple[Location, ...]
    ways: tuple[Way, ...]
    queues: int | None
    rewrite: Rewrite
    impairments: Impairments
    addresses: tuple[HostAddress, ...] = ()
    captures: tuple[Capture, ...] = ()
    mbufs_given: bool = False
    listen: PeerAddress | None = None
