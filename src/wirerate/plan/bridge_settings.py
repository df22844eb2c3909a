# SPDX-License-Identifier: BSD-3-Clause
"""What `wirerate bridge` is asked to do, whoever asks. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.eal_args import EalRequest
from wirerate.plan.forward_settings import Work
from wirerate.plan.location import LocationKind
from wirerate.plan.run_settings import RunSettings

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from wirerate.plan.lcore_map import LcoreMap
    from wirerate.plan.location import Location

ADDRESSES_MAX = 64
RING_MIN = 64
RING_MAX = 65_536
KERNEL_QUEUES_MAX = 64
RING_DEFAULT = 2048
"""Limits of the engine (docs/design/0009-kernel-path.md); the default is that of DPVS."""
SLEEP_SCARCE_NS = 50_000
"""How long workers sleep where CPUs are scarce."""
CPUS_TO_SPARE = 2

_VHOST_NET = "virtio-user:/dev/vhost-net,iface=NAME"
KERNEL_FORMS = ("tap:NAME", "af_packet:IF", "af_xdp:IF", _VHOST_NET, "kni:NAME")
_KERNEL_KINDS = {form.partition(":")[0] for form in KERNEL_FORMS}


class Mode(Enum):
    """Who receives the kernel's frames."""

    SHARED = "shared"
    """The worker of the data path, which passes them on through a ring."""
    DEDICATED = "dedicated"
    """A worker that the data path cannot delay."""


class FastPath(Enum):
    """What becomes of frames that are not the kernel's."""

    REFLECT = "reflect"
    DROP = "drop"


@dataclass(frozen=True)
class Offloads:
    """What the kernel's interface leaves to the kernel port.

    ``checksums`` of TCP and UDP; ``segments``: it sends and takes frames larger than the MTU
    (virtio-user only).
    """

    checksums: bool = False
    segments: bool = False


@dataclass(frozen=True, kw_only=True)
class BridgeSettings(RunSettings):
    """A port, a kernel port, and what goes where between them.

    ``addresses`` are the kernel's, () = every frame is. ``work`` is what each frame of the fast
    path costs, ``ring_frames`` the room of each ring between the workers, a power of two.
    ``kernel_queues``: of the kernel port each way (1…KERNEL_QUEUES_MAX); flows stay on one.
    ``lcores`` () = all CPUs of this process; ``lcore_map``: port 0 has the lcore of the data path,
    port 1 that of the kernel port. ``cpu_saver_ns`` 0 = workers sleep only where CPUs are scarce.
    """

    port: Location
    kernel_port: Location
    mode: Mode = Mode.SHARED
    addresses: tuple[IPv4Address | IPv6Address, ...] = ()
    offloads: Offloads = Offloads()
    fast_path: FastPath = FastPath.REFLECT
    work: Work = field(default_factory=Work)
    ring_frames: int = RING_DEFAULT
    kernel_queues: int = 1

    # What RunSettings asks for without a default.
    eal: EalRequest = field(default_factory=EalRequest)
    lcores: tuple[int, ...] = ()
    lcore_map: LcoreMap | None = None
    burst: int = 32
    line_rate_bps: int | None = None
    rx_descriptors: int = 0
    tx_descriptors: int = 0
    mbufs: int = 8192
    jumbo: bool = False
    period_ns: int = 1_000_000_000
    duration_ns: int | None = None
    cpu_saver_ns: int = 0
    verbose: bool = False
    json: bool = False

    @property
    def locations(self) -> tuple[Location, Location]:
        """The port, which the engine calls p0, and the kernel port, k0."""
        return self.port, self.kernel_port

    @property
    def two_queues(self) -> bool:
        """The port needs a queue for each worker: both send on it, or each is to receive."""
        reflects = self.fast_path is FastPath.REFLECT
        return bool(self.addresses) and (reflects or self.mode is Mode.DEDICATED)


def check_bridge(settings: BridgeSettings) -> None:
    """Raise PlanError for what cannot be done, whatever the host has."""
    _check_kernel_port(settings.kernel_port)
    if settings.port.text == settings.kernel_port.text:
        raise PlanError(f"{settings.port}: is the port and the kernel port; give two devices")
    if settings.work != Work() and not settings.addresses:
        raise PlanError(
            "--work is what a frame of the fast path costs, but without --address all frames are "
            "the kernel's; add --address"
        )
    if settings.offloads.segments and settings.kernel_port.kind is not LocationKind.VIRTIO_USER:
        raise PlanError(
            f"--segments: {settings.kernel_port} hands over frames up to the MTU only; use "
            f"{_VHOST_NET}, or leave --segments out"
        )
    if settings.offloads.segments and not settings.offloads.checksums:
        raise PlanError("--segments needs --offloads on: who cuts frames computes their checksums")
    if len(settings.addresses) > ADDRESSES_MAX:
        raise PlanError(
            f"--address: {len(settings.addresses)} addresses, but at most {ADDRESSES_MAX}"
        )
    ring = settings.ring_frames
    if not RING_MIN <= ring <= RING_MAX or ring & (ring - 1):
        raise PlanError(f"--ring {ring}: not a power of two between {RING_MIN} and {RING_MAX:,}")


def _check_kernel_port(location: Location) -> None:
    if location.kind.value not in _KERNEL_KINDS:
        raise PlanError(
            f"kernel port {location}: has no interface of Linux at its other end; kernel ports "
            f"are {', '.join(KERNEL_FORMS)}"
        )
    if not location.interface:
        raise PlanError(
            f"kernel port {location}: the kernel's end of a virtio-user is vhost-net; write "
            f"{_VHOST_NET}"
        )


def kernel_interface_name(location: Location) -> str:
    """Linux's name of a kernel port's other end where the location says it, else empty."""
    return "" if opens_interface(location) else location.interface


def opens_interface(location: Location) -> bool:
    """The engine opens an interface that Linux has, and whose settings are Linux's."""
    return location.kind in {LocationKind.AF_PACKET, LocationKind.AF_XDP}
