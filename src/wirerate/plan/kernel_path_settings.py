# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate kernel-path` is asked to measure, whoever asks. Pure data.

The contract: docs/design/0009-kernel-path.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipaddress import IPv4Interface, IPv6Interface

    from wirerate.plan.location import Location

MODES = ("shared", "dedicated")
"""How the application serves the kernel port; the words of `wirerate bridge`."""

UDP_RATE_DEFAULT_BPS = 10_000_000_000
"""iperf3's -b, as in the reference: more than a sender can do."""
PING_INTERVAL_MS = 10
PING_OCTETS = 56
FAST_PATH_FPS = 10_000
FAST_PATH_SATURATED_FPS = 400_000
"""Twice what a worker does that spends the default time on a frame."""
FRAME_OCTETS = 64
"""Of a frame of the fast path, with FCS."""

REPEATS_MAX = 100
TIME_MIN_S, TIME_MAX_S = 1, 3600
"""iperf3 takes whole seconds."""
PARALLEL_MAX = 128
"""iperf3's MAX_STREAMS."""
UDP_FRAME_MAX = {False: 1472, True: 1452}
"""Octets of a datagram that one frame carries at an MTU of 1,500; True: over IPv6."""
UDP_LENGTH_MIN, UDP_LENGTH_MAX = 16, 65_507
"""iperf3's header, and what an IPv4 datagram carries."""
WORK_MAX_NS = 1_000_000


class Group(Enum):
    """Who hands the kernel its frames, in the order of the table."""

    LINUX = "linux"
    TAP = "tap"
    AF_PACKET = "af_packet"
    AF_XDP = "af_xdp"
    VIRTIO_USER = "virtio-user"
    KNI = "kni"


class Transfer(Enum):
    """The four transfers; read: the near side, where the kernel port is, receives."""

    TCP_READ = "tcp_read"
    TCP_WRITE = "tcp_write"
    UDP_READ = "udp_read"
    UDP_WRITE = "udp_write"

    @property
    def udp(self) -> bool:
        """UDP, not TCP."""
        return self in {Transfer.UDP_READ, Transfer.UDP_WRITE}

    @property
    def read(self) -> bool:
        """The near side receives."""
        return self in {Transfer.TCP_READ, Transfer.UDP_READ}

    @property
    def title(self) -> str:
        """For people: `TCP read`."""
        protocol, _, direction = self.value.partition("_")
        return f"{protocol.upper()} {direction}"


@dataclass(frozen=True)
class Real:
    """A port and an iperf3 server elsewhere, instead of namespaces on this machine.

    ``address`` goes to the kernel port's interface. ``server`` is a host's name or address.
    ``linux_interface`` is measured without an engine, with the address that it has; None: no row.
    """

    location: Location
    address: IPv4Interface | IPv6Interface
    server: str
    server_port: int
    linux_interface: str | None = None


@dataclass(frozen=True, kw_only=True)
class KernelPathSettings:
    """What is measured, how often and how long.

    ``time_s`` [s] is that of a transfer. ``udp_rate_bps`` [bit/s] is iperf3's -b for each stream,
    0 = as fast as it can; ``udp_length`` [octets] None = iperf3's own choice. ``ipv6``: transfers
    and ping go over IPv6. ``offloads``: the kernel port's interface leaves checksums and
    segmentation to the bridge. ``fast_path``: the application's own frames are measured too, and
    ``fast_path_work_ns`` [ns] is what it spends on each under saturation. ``lcores`` may be used
    by engines, ``cpu_saver``: their workers sleep when idle, else only where CPUs are few.
    ``real`` None = self-contained.
    """

    lcores: tuple[int, ...]
    groups: tuple[Group, ...] = tuple(Group)
    modes: tuple[str, ...] = MODES
    repeats: int = 3
    time_s: int = 3
    parallel: int = 1
    offloads: bool = False
    udp_rate_bps: int = UDP_RATE_DEFAULT_BPS
    udp_length: int | None = None
    ipv6: bool = False
    fast_path: bool = True
    fast_path_work_ns: int = 5_000
    cpu_saver: bool = False
    real: Real | None = None


def settings_document(settings: KernelPathSettings) -> dict[str, Any]:
    """The `settings` of the document."""
    return {
        "groups": [group.value for group in settings.groups],
        "modes": list(settings.modes),
        "repeats": settings.repeats,
        "time_s": settings.time_s,
        "parallel": settings.parallel,
        "offloads": settings.offloads,
        "udp_rate_bps": settings.udp_rate_bps,
        "udp_length": settings.udp_length,
        "ipv6": settings.ipv6,
        "fast_path": settings.fast_path,
        "fast_path_work_ns": settings.fast_path_work_ns,
        "cpu_saver": settings.cpu_saver,
        "setting": "self-contained" if settings.real is None else "real",
        "real": None if settings.real is None else _real_document(settings.real),
        "cpus": len(settings.lcores),
    }


def _real_document(real: Real) -> dict[str, Any]:
    host = f"[{real.server}]" if ":" in real.server else real.server
    return {
        "port": real.location.text,
        "address": str(real.address),
        "server": f"{host}:{real.server_port}",
        "linux_interface": real.linux_interface,
    }
