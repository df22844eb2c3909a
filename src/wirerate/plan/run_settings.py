# SPDX-License-Identifier: BSD-3-Clause
"""What the machine is told beside the plan: lcores, queues' sizes, how long, what to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from wirerate.plan.converge_settings import Converge
    from wirerate.plan.eal_args import EalRequest
    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.peer_address import PeerAddress

BURST_DEFAULT = 32
BURST_SLEEPING = 256
"""Who sleeps has much to send at a time: long bursts cost less for each frame."""
MBUFS_DEFAULT = 8192
MBUFS_MAX = 1 << 20
"""pktperf stops at 131,072, too few for 100G ports with many queues; this is some 2.3 GB a port."""
DESCRIPTORS_MAX = 65535
PERIOD_DEFAULT_NS = 1_000_000_000
PERIOD_MIN_NS = 10_000_000
PERIOD_MAX_NS = 3_600_000_000_000
CPU_SAVER_DEFAULT_NS = 1_000_000
CPU_SAVER_MAX_NS = 5_000_000
"""Half of the time after which a frame that was due counts as unsent."""
SETTLE_DEFAULT_NS = 2_000_000_000
"""RFC 2544 section 23 waits two seconds for residual frames."""


ENGINE_NORMAL = "normal"
"""Each burst is handed to the driver."""
ENGINE_LOOP = "descriptor-loop"
"""The device's ring is filled once, then only its tail is moved."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Options of every command that runs a plan; checked as far as that goes without a device.

    ``lcores`` are the ones that maps may use, ``lcore_map`` is None when wirerate is to choose.
    ``line_rate_bps`` None = what the device reports. ``rx_descriptors`` and ``tx_descriptors`` 0 =
    1024, fitted to the device; ``mbufs`` are the receive mbufs of a port. ``jumbo``: ports are
    opened for 9,618 octets at least. ``period_ns`` lies between two tables, ``duration_ns`` None =
    until all flows have ended or somebody interrupts. ``cpu_saver_ns`` is how long a worker sleeps
    when nothing is due, 0 = never. ``settle_ns`` is how long frames may arrive after the last one
    was sent, ``warm_up_ns`` how long the same is run before, uncounted. ``histogram`` is the file
    for latency histograms, ``floor_ns`` is taken off all latencies, 0 = nothing. ``engine`` is how
    frames are handed over: ENGINE_NORMAL or ENGINE_LOOP. ``peer`` is the forwarder at the other end
    that is asked for its counters. ``distinct_max``: each Rx queue counts distinct 5-tuples and has
    room for so many, 0 = it does not. ``live_latencies``: the looks while frames are sent have the
    histograms of latencies, too. ``converge``: search for a rate by trials or intervals of
    ``duration_ns``; None = run one trial. ``several``: programs are loaded one after the other, so
    that the frames of two may be in memory.
    """

    eal: EalRequest
    lcores: tuple[int, ...]
    lcore_map: LcoreMap | None
    burst: int
    line_rate_bps: int | None
    rx_descriptors: int
    tx_descriptors: int
    mbufs: int
    jumbo: bool
    period_ns: int
    duration_ns: int | None
    cpu_saver_ns: int
    verbose: bool
    json: bool
    settle_ns: int = SETTLE_DEFAULT_NS
    warm_up_ns: int = 0
    histogram: Path | None = None
    floor_ns: float = 0.0
    engine: str = ENGINE_NORMAL
    peer: PeerAddress | None = None
    distinct_max: int = 0
    live_latencies: bool = False
    converge: Converge | None = None
    several: bool = False
