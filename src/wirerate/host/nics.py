# SPDX-License-Identifier: BSD-3-Clause
"""The host's NICs in /sys: address, name, driver, interface, NUMA node, link and PCIe slot.

A NIC is a PCI device of class 0x0200 (Ethernet controller), or a virtio network device elsewhere
(virtio-mmio). Judging them is nic_findings.py.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from wirerate.host.pci_names import pci_names
from wirerate.host.tree import ROOT, entries, link_name, read_int, read_text

ETHERNET_CLASS = "0x0200"
VIRTIO_NETWORK = "0x0001"  # virtio 1.2, section 5: device ID 1
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
USERSPACE_DRIVERS = ("vfio-pci", "igb_uio", "uio_pci_generic")
# The kernel driver stays bound and DPDK works beside it (DPDK NIC guides: mlx4, mlx5, mana).
BIFURCATED_DRIVERS = ("mlx5_core", "mlx4_core", "mana")
# Payload bits per transferred bit (PCIe base specification): 8b/10b up to 5 GT/s, 128b/130b above.
PCIE_OLD_CODE, PCIE_CODE = 8 / 10, 128 / 130
PCIE_OLD_CODE_MAX_GTS = 5.0


@dataclass(frozen=True)
class Interface:
    """A kernel network interface of a NIC."""

    name: str
    admin_up: bool | None  # None: unreadable
    carrier: bool | None  # None: not told, as while the interface is down
    speed_mbps: int | None  # None: not told, as by most virtual devices
    default_route: bool = False


@dataclass(frozen=True)
class PcieSlot:
    """The PCIe link of a NIC; GT/s per lane and lanes, as negotiated and as the device could."""

    speed_gts: float
    speed_max_gts: float
    lanes: int
    lanes_max: int

    def capacity_gbps(self) -> float:
        """Return what one direction carries before packet overheads, [Gbit/s]."""
        code = PCIE_OLD_CODE if self.speed_gts <= PCIE_OLD_CODE_MAX_GTS else PCIE_CODE
        return self.speed_gts * self.lanes * code


@dataclass(frozen=True)
class Nic:
    """One NIC. `address` is a PCI address, or the virtio device's name where there is no PCI."""

    address: str
    ids: str = "?"  # "8086:1572"
    name: str | None = None
    driver: str | None = None
    interfaces: tuple[Interface, ...] = ()
    numa_node: int | None = None  # None: one-node host, or not told
    slot: PcieSlot | None = None  # None: emulated, a virtual function, or not told
    physical_function: str | None = None  # set for an SR-IOV virtual function

    @property
    def on_pci(self) -> bool:
        """Whether the device can be given to vfio-pci at all."""
        return PCI_ADDRESS.fullmatch(self.address) is not None

    @property
    def needs_vfio(self) -> bool:
        """Whether the device must be given to vfio-pci before DPDK can open it."""
        return self.on_pci and self.driver not in BIFURCATED_DRIVERS

    @property
    def for_dpdk(self) -> bool:
        """Whether DPDK can open the device as it is bound now."""
        return self.driver in USERSPACE_DRIVERS or self.driver in BIFURCATED_DRIVERS

    @property
    def carries_default_route(self) -> bool:
        """Whether binding the device to another driver would cut the host off."""
        return any(interface.default_route for interface in self.interfaces)


def read_nics(root: Path = ROOT) -> list[Nic]:
    """Return the host's NICs by address; what cannot be read is left None."""
    devices = [
        device
        for device in entries(root / "sys/bus/pci/devices")
        if (read_text(device / "class") or "").startswith(ETHERNET_CLASS)
    ]
    ids = {device: (_hex(device / "vendor"), _hex(device / "device")) for device in devices}
    names = pci_names(root, set(ids.values()))
    routed = _default_route_interfaces(root)
    nics = [_pci_nic(device, ids[device], names.get(ids[device]), routed) for device in devices]
    return nics + _virtio_nics(root, routed)


def _pci_nic(device: Path, ids: tuple[str, str], name: str | None, routed: set[str]) -> Nic:
    return Nic(
        address=device.name,
        ids=":".join(ids),
        name=name,
        driver=link_name(device / "driver"),
        interfaces=_interfaces(device, routed),
        numa_node=_numa_node(device),
        slot=_slot(device),
        physical_function=link_name(device / "physfn"),
    )


def _virtio_nics(root: Path, routed: set[str]) -> list[Nic]:
    """Return the virtio network devices that are not on PCI."""
    found = []
    for device in entries(root / "sys/bus/virtio/devices"):
        behind = Path(os.path.realpath(device)).parent.name
        if read_text(device / "device") == VIRTIO_NETWORK and not PCI_ADDRESS.fullmatch(behind):
            driver, interfaces = link_name(device / "driver"), _interfaces(device, routed)
            found.append(
                Nic(device.name, "virtio", "virtio-mmio network device", driver, interfaces)
            )
    return found


def _hex(path: Path) -> str:
    """Return four hex digits of a sysfs identifier: "0x8086" gives "8086"; "?" without one."""
    return (read_text(path) or "?").lower().removeprefix("0x")


def _numa_node(device: Path) -> int | None:
    node = read_int(device / "numa_node")
    return node if node is not None and node >= 0 else None


def _interfaces(device: Path, routed: set[str]) -> tuple[Interface, ...]:
    """Return the device's interfaces; a virtio NIC on PCI has them one level deeper."""
    places = [
        device / "net",
        *(child / "net" for child in entries(device) if re.fullmatch(r"virtio\d+", child.name)),
    ]
    return tuple(_interface(path, routed) for place in places for path in entries(place))


def _interface(path: Path, routed: set[str]) -> Interface:
    flags, carrier, speed = (
        read_text(path / "flags"),
        read_int(path / "carrier"),
        read_int(path / "speed"),
    )
    up = None
    if flags and re.fullmatch(r"0x[0-9a-f]{1,8}", flags):
        up = bool(int(flags, 16) & 1)  # IFF_UP
    return Interface(
        name=path.name,
        admin_up=up,
        carrier=None if carrier is None else carrier == 1,
        speed_mbps=speed if speed is not None and 0 < speed < 1 << 31 else None,
        default_route=path.name in routed,
    )


def _slot(device: Path) -> PcieSlot | None:
    """Return the PCIe link; None where it is "Unknown" or has 0 lanes (VFs, emulated buses)."""
    speeds = [_gts(device / f"{which}_link_speed") for which in ("current", "max")]
    lanes = [read_int(device / f"{which}_link_width") for which in ("current", "max")]
    (speed, speed_max), (width, width_max) = speeds, lanes
    if not (speed and speed_max and width and width_max) or 255 in (width, width_max):
        return None
    return PcieSlot(speed, speed_max, width, width_max)


def _gts(path: Path) -> float | None:
    """Return GT/s of "8.0 GT/s PCIe"; None for "Unknown"."""
    found = re.match(r"(\d{1,3}(?:\.\d{1,3})?) GT/s", read_text(path) or "")
    return float(found[1]) if found else None


def _default_route_interfaces(root: Path) -> set[str]:
    """Return the interfaces of the IPv4 and IPv6 default routes."""
    routed = set()
    for line in (read_text(root / "proc/net/route") or "").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[1] == fields[7] == "00000000":  # destination and mask
            routed.add(fields[0])
    for line in (read_text(root / "proc/net/ipv6_route") or "").splitlines():
        fields = line.split()
        if (
            len(fields) == 10
            and fields[0] == "0" * 32
            and fields[1] == "00"
            and fields[4] != "0" * 32
        ):
            routed.add(fields[9])
    return routed
